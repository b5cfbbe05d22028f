import { may } from '../../../world/access.ts'
import { driveKeys, driveVolume } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'
import { findVolume } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, param, type Routes } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'
import { resolvConfOf } from '../node/settings.ts'
import { textOf } from '../shelf.ts'
import { cloudInitPart } from './cloudinit-data.ts'

const AT = '/nodes/{node}/qemu/{vmid}/cloudinit'

export const qemuCloudInitRoutes: Routes = {
  [`GET ${AT}`]: settings,
  [`PUT ${AT}`]: regenerate,
  [`GET ${AT}/dump`]: dump,
}

const KEYS = /^(ci(user|password|custom|type|upgrade)|sshkeys|nameserver|searchdomain)$/

/** What is on the drive, and what would be on it if it were made anew. Cards are listed only where they differ. */
function settings(call: Call): unknown[] {
  const guest = guestOf(call)
  // A guest that is off gets a fresh drive when it starts: nothing waits.
  const written = guest.run.status === 'running' ? (guest.seed ?? guest.config) : guest.config
  const rows: Record<string, unknown>[] = []
  for (const key of new Set([...written.keys(), ...guest.config.keys()])) {
    const always = KEYS.test(key)
    if (!always && !/^(net|ipconfig)\d+$/.test(key)) continue
    const [before, now] = [written.get(key), guest.config.get(key)]
      .map((value) => (value !== undefined && key === 'cipassword' ? '**********' : value))
      // A switch that is off counts as one that is not there.
      .map((value) => (value === '0' ? undefined : value))
    if (before === undefined && now === undefined) continue
    if (before === now && !always) continue
    const row: Record<string, unknown> = { key }
    if (before !== undefined) row.value = before
    if (now !== undefined && now !== before) row.pending = now
    if (now === undefined) row.delete = 1
    rows.push(row)
  }
  return rows
}

function regenerate(call: Call): Promise<null> {
  const guest = guestOf(call)
  const host = hostOf(call)
  return withConfigLock(call.world, host, guest.vmid, () => {
    refuseLocked(guest)
    if (!hasDrive(guest)) return null
    for (const volid of parseProperties(guest.config.get('cicustom') ?? '').named.values()) {
      if (findVolume(host, volid) === undefined) throw failed(`volume '${volid}' does not exist`)
    }
    guest.seed = new Map(guest.config)
    return null
  })
}

function hasDrive(guest: Guest): boolean {
  return driveKeys(guest.config).some((key) => /cloudinit/.test(driveVolume(guest.config.get(key) ?? '')))
}

function dump(call: Call): string {
  const guest = guestOf(call)
  const { search, ...servers } = resolvConfOf(call.world, hostOf(call))
  const resolver = {
    search: textOf(search)
      .split(/\s+/)
      .filter((word) => word !== ''),
    servers: ['dns1', 'dns2', 'dns3'].map((name) => textOf(servers[name])).filter((server) => server !== ''),
  }
  const masked = !may(call.world, call.who, `/vms/${guest.vmid}`, 'VM.Config.Cloudinit')
  return cloudInitPart(param(call, 'type'), guest.config, guest.vmid, resolver, masked)
}
