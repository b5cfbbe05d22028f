import { optionKit } from '../option.ts'

/** Proxmox's own protection against removal; ours stands before it. */
export const protection = optionKit<{ readonly protection?: boolean }>().flag({
  path: 'protection',
  key: 'protection',
  effect: 'live',
  fallback: false,
  declared: (guest) => guest.protection,
})
