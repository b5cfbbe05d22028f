import type { ContainerSpec } from '../../../model/container.ts'
import { type Option, optionKit, type Wanted } from '../option.ts'

export type ContainerWanted = Wanted<ContainerSpec>
export type ContainerOption = Option<ContainerSpec>

export const { scalar, flag, quantity, word } = optionKit<ContainerSpec>()
