import type { VmSpec } from '../../../model/vm.ts'
import type { ApiFields } from '../foreign.ts'
import { type Option, optionKit, textOf, type WantedGuest } from '../option.ts'

export { type Params, textOf } from '../option.ts'

export type VmWanted = WantedGuest<VmSpec>
export type VmOption = Option<VmSpec>

export const { scalar, flag, quantity, word } = optionKit<VmSpec>()

/** Reports whether a running guest accepts this change without a restart. */
export function hotplugs(config: ApiFields, feature: 'network' | 'disk' | 'usb' | 'memory' | 'cpu'): boolean {
  const features = textOf(config.hotplug)
  if (features === undefined || features === '1')
    return feature === 'network' || feature === 'disk' || feature === 'usb'
  return features.split(/[;,\s]+/).includes(feature)
}

/** Proxmox plugs USB devices only into systems that are known to support it. */
export function plugsUsb(config: ApiFields): boolean {
  return hotplugs(config, 'usb') && /^(?:l26|win(?:8|10|11))$/.test(textOf(config.ostype) ?? '')
}
