import { hostNames as namesIn } from '../src/model/trouble.ts'
import type { Page } from '../src/server/api/schemas.ts'

/** One name for each host: what Git calls a box and what its hypervisor calls it lead to the same. */
export function hostNames({ hosts }: Pick<Page, 'hosts'>): (name: string) => string {
  return namesIn(hosts)
}
