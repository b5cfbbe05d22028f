import { isDeepStrictEqual } from 'node:util'
import { wordSet } from '../lib/word-list.ts'
import type { Tree, TreeMap } from '../model/vm.ts'
import type { SeedProblem } from './shape.ts'

/** Lists whose members are identified by a field: two with the same value conflict. */
const NAMED: Readonly<Record<string, string>> = { users: 'name', write_files: 'path' }
/** Lists that are put together, what croft needs first. */
const JOINED = wordSet('users write_files runcmd bootcmd packages ssh_authorized_keys ssh_import_id')

/** Merges a person's document into croft's. A conflict is not resolved: it is a problem that names the key. */
export function mergeUserData(
  needed: TreeMap,
  own: TreeMap,
): { readonly tree: TreeMap } | { readonly problems: readonly SeedProblem[] } {
  const problems: SeedProblem[] = []
  const tree = mergeMaps(needed, own, [], problems)
  return problems.length === 0 ? { tree } : { problems }
}

function mergeMaps(needed: TreeMap, own: TreeMap, path: readonly string[], problems: SeedProblem[]): TreeMap {
  const merged: Record<string, Tree> = { ...needed }
  for (const [key, value] of Object.entries(own)) {
    const before = Object.hasOwn(needed, key) ? needed[key] : undefined
    const here = [...path, key]
    if (before === undefined || isDeepStrictEqual(plain(before), plain(value))) merged[key] = value
    else if (isMap(before) && isMap(value)) merged[key] = mergeMaps(before, value, here, problems)
    else if (path.length === 0 && JOINED.has(key) && Array.isArray(before) && Array.isArray(value))
      merged[key] = join(key, before, value, problems)
    else problems.push(conflict(here))
  }
  return merged
}

function join(key: string, needed: readonly Tree[], own: readonly Tree[], problems: SeedProblem[]): Tree {
  const field = NAMED[key]
  const joined = [...needed]
  for (const [index, item] of own.entries()) {
    if (needed.some((other) => isDeepStrictEqual(plain(other), plain(item)))) continue
    const name = field !== undefined && isMap(item) ? item[field] : undefined
    const taken = typeof name === 'string' && needed.some((other) => isMap(other) && other[field ?? ''] === name)
    if (taken) problems.push(conflict([key, index], name))
    else joined.push(item)
  }
  return joined
}

function conflict(path: readonly (string | number)[], name?: string): SeedProblem {
  const key = path[0]
  return {
    path,
    message: `${path.join('.')}${name === undefined ? '' : ` (${name})`} is also written by croft, and differently`,
    hint: HINTS[String(key)] ?? 'leave it out of the user data',
  }
}

const HINTS: Readonly<Record<string, string>> = {
  hostname: 'set hostname of the machine instead',
  fqdn: 'set hostname and dns.domain of the machine instead',
  users: 'leave user and sshKeys of the machine out, or give this user another name',
}

/** Maps of a manifest have no prototype, which a strict comparison would mind. */
function plain(tree: Tree): unknown {
  return JSON.parse(JSON.stringify(tree)) as unknown
}

function isMap(tree: Tree | undefined): tree is TreeMap {
  return tree !== null && typeof tree === 'object' && !Array.isArray(tree)
}
