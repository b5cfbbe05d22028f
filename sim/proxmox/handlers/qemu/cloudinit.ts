import { driveKeys, driveVolume } from '../../../world/guest-config.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { Guest } from '../../../world/types.ts'
import { findVolume } from '../../../world/volumes.ts'
import { failed } from '../../api-error.ts'
import { type Call, guestOf, hostOf, type Routes } from '../../call.ts'
import { refuseLocked, withConfigLock } from '../guest/config-lock.ts'

const AT = '/nodes/{node}/qemu/{vmid}/cloudinit'

export const qemuCloudInitRoutes: Routes = {
  [`PUT ${AT}`]: regenerate,
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
