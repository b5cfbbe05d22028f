import type { Driver } from '../port.ts'
import { rules } from './rules.ts'
import { openSession } from './session.ts'

/** Objects of the clusters that croft keeps. */
export const kubernetesDriver: Driver = { name: 'kubernetes', rules, connect: openSession }
