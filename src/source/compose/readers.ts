import type { ApiReader } from './api.ts'
import { graphs } from './graphs.ts'

/** Every way to define kinds that croft reads. */
export const READERS: readonly ApiReader[] = [graphs]
