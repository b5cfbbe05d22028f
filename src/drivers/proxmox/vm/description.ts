import * as slots from '../slots.ts'
import type { VmOption } from './option.ts'
import { vmSlots } from './slots.ts'

export const description: VmOption = slots.description(vmSlots)

/** Disks, cards and other devices that croft put in and that are declared no more. */
export const detached: VmOption = slots.detached(vmSlots)
