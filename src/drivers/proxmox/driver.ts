import type { Driver } from '../port.ts'
import { proxmoxRules } from './rules.ts'
import { openSession } from './session.ts'

/** The driver for Proxmox VE over its HTTPS API with a token. */
export const proxmoxDriver: Driver = {
  name: 'proxmox',
  rules: proxmoxRules,
  connect: openSession,
  // Loaded only for `croft doctor` and `croft import`, so that no other command pays for it.
  doctor: { examine: async (...args) => (await import('./doctor/examine.ts')).examine(...args) },
  roles: { least: async (...args) => (await import('./doctor/least-role.ts')).leastRole(...args) },
  importSettings: {
    lists: async (...args) => (await import('./import/setting.ts')).settingLists(...args),
    manifest: async (observed) => (await import('./import/setting.ts')).importSetting(observed),
  },
  importGuests: {
    manifest: async (observed) =>
      observed.type === 'container'
        ? (await import('./import/container.ts')).importContainer(observed)
        : (await import('./import/vm.ts')).importGuest(observed),
  },
}
