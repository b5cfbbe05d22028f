import { uuid } from '../../../world/chance.ts'
import type { World } from '../../../world/types.ts'
import { networkCard } from './option-values.ts'

const NOT_CLONED =
  /^(lock|template|parent|snaptime|snapstate|vmstate|runningmachine|runningcpu|running-nets-host-mtu|digest|unused\d+)$/

/** Returns the configuration of a copy, with new values for all that must differ. The caller copies the drives. */
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

/** Sets the UUID of the copy, even if its source had none. */
function withUuid(smbios: string, own: string): string {
  return /(?:^|,)uuid=/.test(smbios) ? smbios.replace(/uuid=[^,]*/, `uuid=${own}`) : `${smbios},uuid=${own}`
}
