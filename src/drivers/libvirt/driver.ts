import type { Driver } from '../port.ts'
import { libvirtRules } from './rules.ts'
import { openSession } from './session.ts'

/** The driver for libvirt on one host, by virsh over a shell. */
export const libvirtDriver: Driver = {
  name: 'libvirt',
  rules: libvirtRules,
  connect: openSession,
  importGuests: { manifest: async (observed) => (await import('./import.ts')).importGuest(observed) },
}
