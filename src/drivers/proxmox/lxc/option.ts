import type { ContainerSpec } from '../../../model/container.ts'
import { type Option, optionKit } from '../option.ts'

export type ContainerOption = Option<ContainerSpec>

export const { scalar, flag, quantity, word } = optionKit<ContainerSpec>()
