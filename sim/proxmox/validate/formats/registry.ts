import { ACCESS_FORMATS } from './access.ts'
import { ADDRESS_FORMATS } from './addresses.ts'
import { FIREWALL_FORMATS } from './firewall.ts'
import type { Formats } from './format.ts'
import { GUEST_FORMATS } from './guests.ts'
import { MACHINE_FORMATS } from './machine.ts'
import { NAME_FORMATS } from './names.ts'
import { NETWORK_FORMATS } from './networks.ts'
import { SCHEDULE_FORMATS } from './schedules.ts'
import { STORAGE_FORMATS } from './storages.ts'
import { TEXT_FORMATS } from './texts.ts'
import { VOLUME_FORMATS } from './volumes.ts'

/** Every named format. `x-list`, `x-alist` and `x-opt` are made of `x`, unless they stand here themselves. */
export const FORMATS: Formats = {
  ...ACCESS_FORMATS,
  ...ADDRESS_FORMATS,
  ...FIREWALL_FORMATS,
  ...GUEST_FORMATS,
  ...MACHINE_FORMATS,
  ...NAME_FORMATS,
  ...NETWORK_FORMATS,
  ...SCHEDULE_FORMATS,
  ...STORAGE_FORMATS,
  ...TEXT_FORMATS,
  ...VOLUME_FORMATS,
}
