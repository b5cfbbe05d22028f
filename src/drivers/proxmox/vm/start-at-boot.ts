import type { GuestBasics } from '../../../model/vm.ts'
import { device } from '../parts.ts'
import { printProperties } from '../property-string.ts'

/** Order and delays at the host's start. Needs Sys.Modify on /. */
export const startup = device<Pick<GuestBasics, 'startup'>, NonNullable<GuestBasics['startup']>>({
  path: 'startup',
  key: 'startup',
  bare: 'order',
  effect: 'live',
  whenMissing: 'its parts',
  declared: (guest) => guest.startup,
  print: (properties) => printProperties(properties, ''),
  parts: [
    { field: 'order', key: 'order', type: 'count', zeroCounts: true },
    { field: 'upSeconds', key: 'up', type: 'count', zeroCounts: true },
    { field: 'downSeconds', key: 'down', type: 'count', zeroCounts: true },
  ],
})
