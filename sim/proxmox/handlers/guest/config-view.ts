import { configDigest } from '../../../world/guest-config.ts'
import type { Guest } from '../../../world/types.ts'

/** Options that come back as numbers; all others are text, `memory` among them. */
const NUMBERS =
  /^(acpi|allow-ksm|autostart|balloon|ciupgrade|cores|cpuunits|freeze|keephugepages|kvm|localtime|migrate_speed|numa|onboot|protection|reboot|shares|sockets|tablet|tdf|template|vcpus|running)$/

const CONTAINER_NUMBERS =
  /^(cmode|console|cores|cpuunits|debug|memory|onboot|protection|swap|template|tty|unprivileged)$/

export function shownValue(guest: Guest, key: string, value: string): string | number {
  if (key === 'cipassword') return '**********'
  // Containers' notes come back with the line break that ends them in the file.
  // Kept as lines of comment: empty ones at the end are lost, and each of the others comes back with its end.
  if (key === 'description' && guest.type === 'lxc') return `${value.replace(/\n+$/, '')}\n`
  const numbers = guest.type === 'qemu' ? NUMBERS : CONTAINER_NUMBERS
  return numbers.test(key) && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value
}

/** The configuration as `GET …/config` shows it: with what waits for a restart, unless the current one is asked for. */
export function shownConfig(guest: Guest, current: boolean): Record<string, unknown> {
  const shown: Record<string, unknown> = {}
  for (const [key, value] of guest.config) shown[key] = shownValue(guest, key, value)
  if (!current) {
    for (const key of guest.pendingDelete) delete shown[key]
    for (const [key, value] of guest.pending) shown[key] = shownValue(guest, key, value)
  }
  shown.digest = configDigest(guest)
  return shown
}

/** One entry for each option: its value now, and what it will be or that it will go. */
export function shownPending(guest: Guest): Record<string, unknown>[] {
  const entries: Record<string, unknown>[] = []
  for (const [key, value] of guest.config) {
    const entry: Record<string, unknown> = { key, value: shownValue(guest, key, value) }
    const pending = guest.pending.get(key)
    if (pending !== undefined) entry.pending = shownValue(guest, key, pending)
    if (guest.pendingDelete.has(key)) entry.delete = 1
    entries.push(entry)
  }
  for (const [key, value] of guest.pending) {
    if (!guest.config.has(key)) entries.push({ key, pending: shownValue(guest, key, value) })
  }
  entries.push({ key: 'digest', value: configDigest(guest) })
  return entries
}
