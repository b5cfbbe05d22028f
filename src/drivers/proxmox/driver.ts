import type { Driver } from '../port.ts'
import { proxmoxRules } from './rules.ts'
import { openSession } from './session.ts'

/** Speaks to Proxmox VE over its HTTPS API with a token, and nothing else. */
export const proxmoxDriver: Driver = {
  name: 'proxmox',
  rules: proxmoxRules,
  connect: openSession,
  // Only `croft doctor` and `croft import` need these: no other command pays for them.
  examine: async (...args) => (await import('./doctor/examine.ts')).examine(...args),
  leastRole: async (...args) => (await import('./doctor/least-role.ts')).leastRole(...args),
  importGuest: async (sighting) => (await import('./import/vm.ts')).importGuest(sighting),
}
