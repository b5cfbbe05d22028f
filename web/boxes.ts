import type { Page } from '../src/server/api/schemas.ts'

/** One name for each host: what Git calls a box and what its hypervisor calls it lead to the same. */
export function hostNames({ hosts }: Pick<Page, 'hosts'>): (name: string) => string {
  const other = new Map(
    hosts.flatMap(({ name, alsoCalled }) => (alsoCalled === undefined ? [] : [[alsoCalled, name] as const])),
  )
  // A host that is really called so comes before one that is only also called so.
  for (const { name } of hosts) other.delete(name)
  return (name) => other.get(name) ?? name
}
