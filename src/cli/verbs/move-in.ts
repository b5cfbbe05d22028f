import { moving } from '../move-estate.ts'

export const run = moving('in')
