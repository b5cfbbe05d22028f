import type { Declaration } from '../model/declaration.ts'
import { type HostItem, itemId } from '../model/host-item.ts'
import { croftKind } from './fields/croft-kind.ts'
import { itemsOf, standsOn } from './host-config/items.ts'
import { type HostConfigSpec, schema } from './host-config/schema.ts'
import { isSelected, selectedHosts } from './host-config/select.ts'
import type { FieldProblem, Lookup, Part } from './kind.ts'
import { sshTargetOf } from './ssh-target.ts'

/** The desired state of hosts: packages, files, users, kernel settings, disks. Each item is a separate resource. */
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
    const items = itemsOf(manifest.metadata.name, spec)
    for (const [one, other] of fightsAmong(items, items))
      problems.push({
        code: 'file-claimed-twice',
        path: ['spec'],
        message: `${itemId(one)} writes the whole file, and ${itemId(other)} writes it too: each would undo the other`,
        hint: 'let one of them have it',
      })
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

/** Two configurations with different versions of one item would revert each other for ever. */
function claimedTwice(
  declaration: Declaration<HostConfigSpec>,
  host: Declaration,
  items: readonly HostItem[],
  lookup: Lookup,
): readonly FieldProblem[] {
  const mine = new Set(items.map(itemId))
  const isMine = (item: HostItem) => items.includes(item)
  return (lookup.all('HostConfig') as readonly Declaration<HostConfigSpec>[])
    .filter((other) => other.key !== declaration.key && isSelected(other.spec, host))
    .flatMap((other) => {
      const theirs = itemsOf(other.name, other.spec)
      const ids = theirs.map(itemId).filter((id) => mine.has(id))
      const files = [...fightsAmong(items, theirs), ...fightsAmong(theirs, items)].map((pair) => {
        const [own, their] = isMine(pair[0]) ? pair : [pair[1], pair[0]]
        return `the file of ${itemId(own)} on ${host.name} is also written by ${itemId(their)} of ${other.key}`
      })
      return [...ids.map((id) => `${id} on ${host.name} is also declared by ${other.key}`), ...files].map(
        (message) => ({
          code: 'item-claimed-twice',
          path: ['spec'],
          message,
          hint: 'let one of them have it',
        }),
      )
    })
}

/** Returns pairs of different items: the first writes a whole file, the second the same file or a part of it. */
function fightsAmong(
  some: readonly HostItem[],
  others: readonly HostItem[],
): readonly (readonly [HostItem, HostItem])[] {
  return some.flatMap((one) => {
    const { whole } = writesOf(one)
    if (whole === undefined) return []
    return others
      .filter((other) => itemId(other) !== itemId(one) && [writesOf(other).whole, writesOf(other).part].includes(whole))
      .filter((other) => writesOf(other).part !== undefined || some !== others || itemId(one) < itemId(other))
      .map((other) => [one, other] as const)
  })
}

/** Returns the file that an item writes, as a whole or in part, unless the file is croft's own for this item. */
function writesOf(item: HostItem): { readonly whole?: string; readonly part?: string } {
  switch (item.type) {
    case 'file':
    case 'fetch':
      return { whole: item.name }
    case 'line':
    case 'block':
      return { part: item.spec.path }
    case 'hosts':
      return { part: '/etc/hosts' }
    case 'mount':
      return { part: '/etc/fstab' }
    case 'hostname':
      return { whole: '/etc/hostname' }
    case 'udev':
      // Names that differ only in special characters share a file.
      return { whole: `/etc/udev/rules.d/${item.name.replaceAll(/[^A-Za-z0-9_-]+/g, '-')}` }
    default:
      return {}
  }
}
