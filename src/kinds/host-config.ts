import type { Declaration } from '../model/declaration.ts'
import { type HostItem, itemId } from '../model/host-item.ts'
import { croftKind } from './fields/croft-kind.ts'
import { itemsOf, standsOn } from './host-config/items.ts'
import { type HostConfigSpec, schema } from './host-config/schema.ts'
import { isSelected, selectedHosts } from './host-config/select.ts'
import type { FieldProblem, Lookup, Part } from './kind.ts'
import { sshTargetOf } from './ssh-target.ts'

/** What hosts are to have: packages, files, users, kernel settings, disks. Each item is a resource of its own. */
export const hostConfig = croftKind<HostConfigSpec>({
  kind: 'HostConfig',
  plural: 'hostconfigs',
  shortNames: ['hc'],
  summary: 'What hosts are to have: packages, files, users, units, kernel settings, disks, addresses.',
  schema,

  check(spec, manifest) {
    const problems: FieldProblem[] = []
    const seen = new Set<string>()
    for (const item of itemsOf(manifest.metadata.name, spec)) {
      const id = itemId(item)
      if (seen.has(id)) problems.push({ code: 'twice', path: ['spec'], message: `${id} stands there twice` })
      seen.add(id)
    }
    return problems
  },

  expand(declaration, lookup) {
    const { hosts, problems: wrong } = selectedHosts(declaration.spec, lookup)
    const items = itemsOf(declaration.name, declaration.spec)
    const problems: FieldProblem[] = [...wrong]
    for (const host of hosts) {
      const target = sshTargetOf(host, lookup)
      if ('problems' in target) problems.push(...target.problems.map((one) => ({ ...one, path: ['spec', 'hosts'] })))
      problems.push(...claimedTwice(declaration, host, items, lookup))
    }
    if (problems.length > 0) return { problems }
    return { role: 'resources', parts: hosts.flatMap((host) => partsFor(declaration, host.name, items)) }
  },
})

/** The connection through which a host is configured. No other object can have such a name. */
export function hostConnection(host: string): string {
  return `host/${host}`
}

function partsFor(
  { key, spec }: Declaration<HostConfigSpec>,
  host: string,
  items: readonly HostItem[],
): readonly Part[] {
  const keyOf = (item: HostItem) => `${key}@${host}/${itemId(item)}`
  return items.map((item) => ({
    key: keyOf(item),
    connection: hostConnection(host),
    desired: { type: 'item', item: { host, item, reboot: spec.reboot } },
    needs: standsOn(item, items).map(keyOf),
  }))
}

/** Two configurations that say different things about one item of one host would undo each other for ever. */
function claimedTwice(
  declaration: Declaration<HostConfigSpec>,
  host: Declaration,
  items: readonly HostItem[],
  lookup: Lookup,
): readonly FieldProblem[] {
  const mine = new Set(items.map(itemId))
  return (lookup.all('HostConfig') as readonly Declaration<HostConfigSpec>[])
    .filter((other) => other.key !== declaration.key && isSelected(other.spec, host))
    .flatMap((other) =>
      itemsOf(other.name, other.spec)
        .map(itemId)
        .filter((id) => mine.has(id))
        .map((id) => ({
          code: 'item-claimed-twice',
          path: ['spec'],
          message: `${id} on ${host.name} is also declared by ${other.key}`,
          hint: 'let one of them have it',
        })),
    )
}
