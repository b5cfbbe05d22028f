import type { Driver } from '../port.ts'
import { proxmoxRules } from './rules.ts'
import { openSession } from './session.ts'

/** Speaks to Proxmox VE over its HTTPS API with a token, and nothing else. */
export const proxmoxDriver: Driver = {
  name: 'proxmox',
  rules: proxmoxRules,
  connect: openSession,
  // Only `croft doctor` and `croft import` need these: no other command pays for them.
  doctor: { examine: async (...args) => (await import('./doctor/examine.ts')).examine(...args) },
  roles: { least: async (...args) => (await import('./doctor/least-role.ts')).leastRole(...args) },
  importSettings: {
    lists: async (...args) => (await import('./import/setting.ts')).settingLists(...args),
    manifest: async (sighting) => (await import('./import/setting.ts')).importSetting(sighting),
  },
  importGuests: {
    manifest: async (sighting) =>
      sighting.type === 'container'
        ? (await import('./import/container.ts')).importContainer(sighting)
        : (await import('./import/vm.ts')).importGuest(sighting),
  },
}
