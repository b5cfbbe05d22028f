import type { ContainerSpec } from '../../../model/container.ts'
import { type Option, optionKit, type WantedGuest } from '../option.ts'

export type ContainerWanted = WantedGuest<ContainerSpec>
export type ContainerOption = Option<ContainerSpec>

export const { scalar, flag, quantity, word } = optionKit<ContainerSpec>()
