import { word } from './option.ts'

/** The guest's name. Proxmox stores none for a guest without one. */
export const name = word({ path: 'name', key: 'name', effect: 'live', fallback: '', declared: (vm) => vm.name })
