import { hostNames as namesIn } from '../src/model/trouble.ts'
import type { Page } from '../src/server/api/schemas.ts'

/** Maps names to hosts: Git's name of a box and its hypervisor's lead to the same one. */
export function hostNames({ hosts }: Pick<Page, 'hosts'>): (name: string) => string {
  return namesIn(hosts)
}
