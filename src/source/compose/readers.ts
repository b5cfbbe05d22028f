import type { ApiReader } from './api.ts'
import { compositions } from './compositions.ts'
import { graphs } from './graphs.ts'

/** Every way to define kinds that croft reads. */
export const READERS: readonly ApiReader[] = [graphs, compositions]
