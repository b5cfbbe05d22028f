import type { ContainerSpec } from '../../../model/container.ts'
import type { SlotRule } from '../slots.ts'
import * as slots from '../slots.ts'
import type { ContainerOption } from './option.ts'

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^mp\d+$/, 'mounts'],
  [/^net\d+$/, 'nics'],
  [/^dev\d+$/, 'devices'],
]

const containerSlots: SlotRule<ContainerSpec> = {
  declared: ({ mounts, nics, devices }) =>
    [mounts, nics, devices].flatMap((list) => list?.map(({ slot }) => slot) ?? []),
  pathOf: (slot) => WORDS.find(([pattern]) => pattern.test(slot))?.[1] ?? 'places',
  // A card can be taken out of a running container, a mount cannot.
  effect: (_config, slot) => (slot.startsWith('net') ? 'live' : 'restart'),
  holdsData: (slot, text) => slot.startsWith('mp') && !text.startsWith('/'),
}

export const description: ContainerOption = slots.description(containerSlots)

/** Mounts, cards and devices that croft put in and that are declared no more. */
export const detached: ContainerOption = slots.detached(containerSlots)
