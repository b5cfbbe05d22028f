import { flag } from './option.ts'

/** Proxmox's own protection against removal; ours stands before it. */
export const protection = flag({
  path: 'protection',
  key: 'protection',
  effect: 'live',
  fallback: false,
  declared: (vm) => vm.protection,
})
