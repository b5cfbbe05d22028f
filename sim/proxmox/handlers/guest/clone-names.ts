import { uuid } from '../../../world/chance.ts'
import type { World } from '../../../world/types.ts'
import { networkCard } from './option-values.ts'

const NOT_CLONED =
  /^(lock|template|parent|snaptime|snapstate|vmstate|runningmachine|runningcpu|running-nets-host-mtu|digest|unused\d+)$/

/** The configuration of a copy: everything that must be its own is made anew. Drives are left to the caller. */
export function clonedConfig(world: World, source: ReadonlyMap<string, string>): Map<string, string> {
  const config = new Map<string, string>()
  for (const [key, value] of source) {
    if (NOT_CLONED.test(key)) continue
    if (/^net\d+$/.test(key)) config.set(key, networkCard(world.random, value.replace(/^([^=,]+)=[^,]*/, '$1')))
    else if (key === 'smbios1') config.set(key, withUuid(value, uuid(world.random)))
    else if (key === 'vmgenid') config.set(key, uuid(world.random))
    else config.set(key, value)
  }
  return config
}

/** A copy has one of its own, also when its source was never given any. */
function withUuid(smbios: string, own: string): string {
  return /(?:^|,)uuid=/.test(smbios) ? smbios.replace(/uuid=[^,]*/, `uuid=${own}`) : `${smbios},uuid=${own}`
}
