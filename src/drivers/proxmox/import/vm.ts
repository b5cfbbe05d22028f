import { defined } from '../../../lib/defined.ts'
import type { Sighting } from '../../../model/sighting.ts'
import type { ImportedGuest } from '../../port.ts'
import { powerOf } from '../vm/power.ts'
import { importBasics, importSerial } from './basics.ts'
import { importCloudInit } from './cloud-init.ts'
import { importDevices } from './devices.ts'
import { importDrives } from './drives.ts'
import { importNics } from './nics.ts'
import { readingOf } from './reading.ts'

/**
 * A guest that was looked at closely, in the provider's words: what differs from what Proxmox would take anyway, and
 * nothing else. Undefined for what no manifest can declare. The kind has the last word about each field.
 */
export function importGuest(sighting: Sighting): ImportedGuest | undefined {
  const { close } = sighting
  if (sighting.type !== 'vm' || close === undefined) return undefined
  const from = readingOf(close.config)
  const name = from.text('name')
  const isTemplate = from.flag('template') === true
  const power = powerOf(sighting)
  const { fields: drives, cloudInit } = importDrives(from)
  const pending = (close.pending ?? []).filter((key) => key !== 'digest')
  const fields = defined({
    nodeName: sighting.host,
    name,
    poolId: sighting.pool,
    template: isTemplate ? true : undefined,
    started: !isTemplate && power === 'stopped' ? false : undefined,
    // Somebody's changes wait for a restart: that it is declared now is no reason to restart it.
    rebootAfterUpdate: pending.length > 0 ? false : undefined,
    ...importBasics(from),
    ...drives,
    networkDevice: importNics(from),
    initialization: importCloudInit(from, cloudInit),
    serialDevice: importSerial(from),
    ...importDevices(from),
  })
  if (name === undefined) from.note('it has no name in Proxmox; croft will give it the one that is declared')
  if (pending.length > 0) from.note(`changes wait for a restart, which croft will not make: ${pending.join(', ')}`)
  if (power === 'paused') from.note('it is paused; croft would resume it')
  return { kind: 'EnvironmentVM', fields, unmanaged: from.left(), notes: from.notes() }
}
