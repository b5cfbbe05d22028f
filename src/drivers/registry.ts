/**
 * Every driver by the name that a connection calls it by, which is also its folder's and its page's name. Which code
 * stands behind a name is said in main.ts only.
 */
export const DRIVER_NAMES = ['proxmox', 'ssh', 'libvirt', 'k3s', 'kubernetes', 'power'] as const
