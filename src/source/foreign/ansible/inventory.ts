import { LIMITS } from '../../../lib/limits.ts'
import { isFields } from '../../manifest.ts'

interface GroupDraft {
  readonly hosts: Set<string>
  readonly children: Set<string>
  readonly vars: Map<string, unknown>
}

/** An inventory while it is read: groups, and the variables that stand beside a host. */
export interface InventoryDraft {
  readonly groups: Map<string, GroupDraft>
  readonly hosts: Map<string, Map<string, unknown>>
}

export function emptyInventory(): InventoryDraft {
  return { groups: new Map(), hosts: new Map() }
}

/** The group of a name, made if it is not there. Undefined: there are too many. */
export function groupOf({ groups }: InventoryDraft, name: string): GroupDraft | undefined {
  const found = groups.get(name)
  if (found !== undefined) return found
  if (groups.size >= LIMITS.inventory.groups) return undefined
  const made = { hosts: new Set<string>(), children: new Set<string>(), vars: new Map<string, unknown>() }
  groups.set(name, made)
  return made
}

/** Adds one host, or each host of a range like `node[01:10]`. Returns the problem that stopped it. */
export function addHosts(
  into: InventoryDraft,
  group: string,
  pattern: string,
  vars: readonly (readonly [name: string, value: unknown])[],
): string | undefined {
  const names = hostsOf(pattern)
  if (names === undefined) return `${pattern} is not a range of hosts that croft reads`
  const owner = groupOf(into, group)
  if (owner === undefined) return 'there are too many groups'
  for (const written of names) {
    // `name:port`, and nothing that is an IPv6 address.
    const [, name = written, port] = /^([^:]+):([0-9]{1,5})$/.exec(written) ?? []
    if (!into.hosts.has(name) && into.hosts.size >= LIMITS.inventory.hosts)
      return `there are more than ${LIMITS.inventory.hosts} hosts`
    const own = into.hosts.get(name) ?? new Map<string, unknown>()
    if (port !== undefined) own.set('ansible_port', Number(port))
    for (const [key, value] of vars) own.set(key, value)
    into.hosts.set(name, own)
    owner.hosts.add(name)
  }
  return undefined
}

/** `node[1:3]` → node1, node2, node3. Ranges of letters and several ranges in one name are not read. */
function hostsOf(pattern: string): readonly string[] | undefined {
  const range = /^([^[\]]*)\[([0-9]{1,6}):([0-9]{1,6})\]([^[\]]*)$/.exec(pattern)
  if (range === null)
    return /^\[[0-9a-fA-F:]+\]$|^[^[\]]+$/.test(pattern) ? [pattern.replace(/^\[|\]$/g, '')] : undefined
  const [, before = '', from = '', to = '', after = ''] = range
  const count = Number(to) - Number(from) + 1
  if (count < 1 || count > LIMITS.inventory.hosts) return undefined
  return Array.from(
    { length: count },
    (_, index) => `${before}${String(Number(from) + index).padStart(from.length, '0')}${after}`,
  )
}

/** An inventory in YAML: groups with hosts, children and vars. Answers what stopped it. */
export function readYamlInventory(value: unknown, into: InventoryDraft): string | undefined {
  if (!isFields(value)) return 'it is not a map of groups'
  for (const [name, group] of Object.entries(value)) {
    const stopped = readGroup(name, group, into, 0)
    if (stopped !== undefined) return stopped
  }
  return undefined
}

function readGroup(name: string, value: unknown, into: InventoryDraft, depth: number): string | undefined {
  if (depth > LIMITS.inventory.depth) return `groups are more than ${LIMITS.inventory.depth} levels deep`
  const group = groupOf(into, name)
  if (group === undefined) return 'there are too many groups'
  if (value === null) return undefined
  if (!isFields(value)) return `the group ${name} is not a map`
  const { hosts, children, vars } = value
  for (const [host, own] of Object.entries(isFields(hosts) ? hosts : {})) {
    const stopped = addHosts(into, name, host, isFields(own) ? Object.entries(own) : [])
    if (stopped !== undefined) return stopped
  }
  for (const [key, one] of Object.entries(isFields(vars) ? vars : {})) group.vars.set(key, one)
  for (const [child, one] of Object.entries(isFields(children) ? children : {})) {
    group.children.add(child)
    const stopped = readGroup(child, one, into, depth + 1)
    if (stopped !== undefined) return stopped
  }
  return undefined
}

/** Every host of a group and of the groups in it, in the order of the file. */
export function hostsIn({ groups }: InventoryDraft, name: string): readonly string[] {
  const found = new Set<string>()
  const seen = new Set<string>()
  const follow = (one: string) => {
    if (seen.has(one)) return
    seen.add(one)
    for (const host of groups.get(one)?.hosts ?? []) found.add(host)
    for (const child of groups.get(one)?.children ?? []) follow(child)
  }
  follow(name)
  return [...found]
}

export type Variables = ReadonlyMap<string, unknown>

/** Variables of files beside the inventory: of `all` or a group, and of a host. */
export interface VariableFiles {
  readonly groups: ReadonlyMap<string, Variables>
  readonly hosts: ReadonlyMap<string, Variables>
  /** Role defaults: used where no other variable is set. */
  readonly defaults?: Variables
  /** Variables that playbooks load from a named file: they win. */
  readonly loaded?: Variables
}

/** The variables of each host in layers, the strongest first, as Ansible orders them. */
export function variablesOf(
  inventory: InventoryDraft,
  files: VariableFiles,
): ReadonlyMap<string, readonly Variables[]> {
  const depths = depthsOf(inventory)
  const members = new Map([...depths.keys()].map((group) => [group, new Set(hostsIn(inventory, group))]))
  const order = [...depths].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).map(([group]) => group)
  const inFile = (group: string) => inventory.groups.get(group)?.vars
  const beside = (group: string) => files.groups.get(group)
  return new Map(
    [...inventory.hosts].map(([host, own]) => {
      const groups = order.filter((group) => members.get(group)?.has(host) === true)
      const layers = [
        files.defaults,
        inFile('all'),
        beside('all'),
        ...groups.map(inFile),
        ...groups.map(beside),
        own,
        files.hosts.get(host),
        files.loaded,
      ]
      return [host, layers.filter((layer) => layer !== undefined && layer.size > 0).reverse() as readonly Variables[]]
    }),
  )
}

/** Returns the depth of each group below `all`, which is left out. */
function depthsOf({ groups }: InventoryDraft): ReadonlyMap<string, number> {
  const depths = new Map([...groups.keys()].filter((name) => name !== 'all').map((name) => [name, 1]))
  // At most as many rounds as groups can nest, which also ends a cycle.
  for (let round = 0; round < LIMITS.inventory.depth; round++) {
    let changed = false
    for (const [name, { children }] of groups)
      for (const child of children) {
        const depth = (name === 'all' ? 0 : (depths.get(name) ?? 1)) + 1
        if (!depths.has(child) || (depths.get(child) ?? 0) >= depth) continue
        depths.set(child, depth)
        changed = true
      }
    if (!changed) break
  }
  return depths
}
