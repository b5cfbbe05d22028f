import { isFields } from '../../manifest.ts'
import { documentsIn } from '../documents.ts'
import type { ForeignFile, NotCarried } from '../reading.ts'
import { readIniInventory } from './ini-inventory.ts'
import {
  emptyInventory,
  hostsIn,
  type InventoryDraft,
  readYamlInventory,
  type VariableFiles,
  type Variables,
} from './inventory.ts'

export interface FoundInventory {
  readonly path: string
  readonly inventory: InventoryDraft
  readonly files: VariableFiles
  readonly notCarried: readonly NotCarried[]
}

/** Groups whose hosts are servers, and agents, in either of the playbooks and in their older versions. */
export const SERVER_GROUPS = ['server', 'master'] as const
export const AGENT_GROUPS = ['agent', 'node'] as const

const VARIABLES = /(?:^|\/)(group_vars|host_vars)\/([^/]+?)(?:\.(?:ya?ml|json))?(?:\/[^/]+)?$/

/** The one inventory among the files, with the variables in the directories beside it. */
export function findInventory(files: readonly ForeignFile[]): FoundInventory | { readonly problem: string } {
  const broken: string[] = []
  const found = files.flatMap(({ path, text }): { path: string; inventory: InventoryDraft }[] => {
    if (VARIABLES.test(path) || /(?:^|\/)known_hosts$/.test(path)) return []
    const inventory = emptyInventory()
    const stopped = readInto(path, text, inventory)
    if (stopped !== undefined) broken.push(`${path}: ${stopped}`)
    return stopped === undefined && SERVER_GROUPS.some((name) => hostsIn(inventory, name).length > 0)
      ? [{ path, inventory }]
      : []
  })
  const [one, second] = found
  if (second !== undefined)
    return {
      problem: `there are several inventories, ${one?.path ?? ''} and ${second.path}; name one of them, or its directory`,
    }
  if (one === undefined)
    return {
      problem: `no inventory with hosts in a group server or master is among the files${broken.length === 0 ? '' : ` (${broken.slice(0, 3).join('; ')})`}`,
    }
  return { ...one, ...variableFiles(files, one.path) }
}

/** Undefined: it was read, or it is no inventory at all. */
function readInto(path: string, text: string, into: InventoryDraft): string | undefined {
  if (!/\.(?:ya?ml|json)$/i.test(path)) return readIniInventory(text, into)
  // Roles and playbooks lie in the same repository: they are lists, or not even YAML before Jinja has been at them.
  if (!/\b(?:hosts|children)["']?\s*:/.test(text)) return undefined
  const value = documentsIn(text)?.[0]
  return isFields(value) && Object.values(value).some((group) => isFields(group) && (group.hosts ?? group.children))
    ? readYamlInventory(value, into)
    : undefined
}

function variableFiles(
  files: readonly ForeignFile[],
  inventory: string,
): { readonly files: VariableFiles; readonly notCarried: readonly NotCarried[] } {
  const base = inventory.slice(0, inventory.lastIndexOf('/') + 1)
  const notCarried: NotCarried[] = []
  const groups = new Map<string, Variables>()
  const hosts = new Map<string, Variables>()
  for (const { path, text } of files) {
    if (!path.startsWith(base)) continue
    const [whole, sort, name = ''] = VARIABLES.exec(path) ?? []
    if (whole === undefined || path.slice(base.length).split('/')[0] !== sort) continue
    const documents = text.startsWith('$ANSIBLE_VAULT;') ? undefined : documentsIn(text)
    const value = documents?.[0] ?? {}
    if (documents === undefined || !isFields(value)) {
      const why = text.startsWith('$ANSIBLE_VAULT;')
        ? 'it is encrypted with ansible-vault, and croft does not read it'
        : 'it cannot be read as a YAML map'
      notCarried.push({ what: path, why })
      continue
    }
    const into = sort === 'group_vars' ? groups : hosts
    into.set(name, new Map([...(into.get(name) ?? []), ...Object.entries(value)]))
  }
  return { files: { groups, hosts }, notCarried }
}
