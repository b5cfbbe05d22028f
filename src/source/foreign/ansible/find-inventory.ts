import { isFields } from '../../manifest.ts'
import { documentsIn } from '../documents.ts'
import type { ForeignFile, NotCarried } from '../reading.ts'
import { readIniInventory } from './ini-inventory.ts'
import {
  emptyInventory,
  type InventoryDraft,
  readYamlInventory,
  type VariableFiles,
  type Variables,
} from './inventory.ts'
import { rolesByGroup } from './node-roles.ts'

export interface FoundInventory {
  readonly path: string
  readonly inventory: InventoryDraft
  readonly files: VariableFiles
  readonly notCarried: readonly NotCarried[]
}

/** Host keys; parts of a role or a collection, which bring no hosts of their own; a chart's values. */
const NOT_INVENTORIES = /(?:^|\/)(?:known_hosts|values\.ya?ml|(?:roles|collections|molecule|templates|\.github)\/.*)$/
/** Any file may be an inventory. For others than these, the reason why it is none is not shown. */
const MEANT_AS_ONE = /(?:^|\/)(?:inventor(?:y|ies)|hosts)\b|\.(?:ya?ml|json)$/i
const VARIABLES = /(?:^|\/)(group_vars|host_vars)\/([^/]+?)(?:\.(?:ya?ml|json))?(?:\/[^/]+)?$/

/** The one inventory among the files, with the variables in the directories beside it and beside its playbooks. */
export function findInventory(
  files: readonly ForeignFile[],
  under?: string,
): FoundInventory | { readonly problem: string } {
  const broken: string[] = []
  const found = files.flatMap(({ path, text }): { path: string; inventory: InventoryDraft }[] => {
    if (VARIABLES.test(path) || NOT_INVENTORIES.test(path) || !isUnder(path, under)) return []
    const inventory = emptyInventory()
    const stopped = readInto(path, text, inventory)
    if (stopped !== undefined && MEANT_AS_ONE.test(path)) broken.push(`${path}: ${stopped}`)
    return stopped === undefined && inventory.hosts.size > 0 ? [{ path, inventory }] : []
  })
  // An inventory with a group of servers takes precedence over one that uses variables.
  const withServers = found.filter(({ inventory }) => rolesByGroup(inventory) !== undefined)
  const chosen = withServers.length > 0 ? withServers : found
  const [one, second] = chosen
  if (second !== undefined)
    return {
      problem: `there are several inventories, ${chosen.map(({ path }) => path).join(' and ')}; choose one with --under, like --under ${one?.path ?? ''}`,
    }
  if (one === undefined)
    return {
      problem: `no inventory with hosts is among the files${broken.length === 0 ? '; name the directory that holds it, like inventory/home' : ` (${broken.slice(0, 3).join('; ')})`}`,
    }
  return { ...one, ...variableFiles(files, one.path) }
}

function isUnder(path: string, under: string | undefined): boolean {
  const place = under?.replace(/^\.\//, '').replace(/\/+$/, '')
  return place === undefined || path === place || path.startsWith(`${place}/`)
}

/** Undefined: it was read, or it is no inventory at all. */
function readInto(path: string, text: string, into: InventoryDraft): string | undefined {
  if (!/\.(?:ya?ml|json)$/i.test(path)) return readIniInventory(text, into)
  // Roles and playbooks in the same repository are lists, or templates that are no YAML yet.
  if (!/\b(?:hosts|children)["']?\s*:/.test(text)) return undefined
  const value = documentsIn(text)?.[0]
  // Objects of Kubernetes have hosts too.
  if (isFields(value) && typeof value.apiVersion === 'string') return undefined
  return isFields(value) && Object.values(value).some((group) => isFields(group) && (group.hosts ?? group.children))
    ? readYamlInventory(value, into)
    : undefined
}

/** Ansible reads these directories beside the inventory, and again, winning, beside the playbook above it. */
function variableFiles(
  files: readonly ForeignFile[],
  inventory: string,
): { readonly files: VariableFiles; readonly notCarried: readonly NotCarried[] } {
  const notCarried: NotCarried[] = []
  const groups = new Map<string, Variables>()
  const hosts = new Map<string, Variables>()
  const read = ({ path, text }: ForeignFile): Variables | undefined => {
    const documents = text.startsWith('$ANSIBLE_VAULT;') ? undefined : documentsIn(text)
    const value = documents?.[0] ?? {}
    if (documents !== undefined && isFields(value)) return new Map(Object.entries(value))
    const why = text.startsWith('$ANSIBLE_VAULT;')
      ? 'it is encrypted with ansible-vault, and croft does not read it'
      : 'it cannot be read as a YAML map'
    notCarried.push({ what: path, why })
    return undefined
  }
  for (const base of directoriesOf(inventory))
    for (const file of files) {
      const [whole, sort, name = ''] = VARIABLES.exec(file.path) ?? []
      if (whole === undefined || !file.path.startsWith(base)) continue
      if (file.path.slice(base.length).split('/')[0] !== sort) continue
      const into = sort === 'group_vars' ? groups : hosts
      into.set(name, new Map([...(into.get(name) ?? []), ...(read(file) ?? [])]))
    }
  const [playbooks = ''] = directoriesOf(inventory).slice(-1)
  const defaults = files.filter(({ path }) => ROLE_DEFAULTS.test(path)).flatMap((file) => [...(read(file) ?? [])])
  const loaded = loadedFiles(files, playbooks).flatMap((file) => [...(read(file) ?? [])])
  return {
    files: {
      groups,
      hosts,
      // A role's default is weaker than any variable set for these hosts.
      defaults: new Map(defaults.filter(([name]) => name.startsWith('k3s_'))),
      loaded: new Map(loaded),
    },
    notCarried,
  }
}

/** Defaults of a role for K3s that the repository contains. */
const ROLE_DEFAULTS = /(?:^|\/)roles\/(?:[^/]+\/)*[^/]*k3s[^/]*\/(?:[^/]+\/)*defaults\/main\.ya?ml$/
const LOADS = /^\s*(?:-\s+)?(?:ansible\.builtin\.)?(?:include_vars|vars_files)\s*:\s*(.*(?:\n\s*-\s+[^\n:]+)*)/gm

/** Files of variables that a playbook names, which win over the inventory's. */
function loadedFiles(files: readonly ForeignFile[], playbooks: string): readonly ForeignFile[] {
  const named = new Set<string>()
  for (const { path, text } of files) {
    const directory = path.slice(0, path.lastIndexOf('/') + 1)
    if (directory !== playbooks && directory !== `${playbooks}playbooks/`) continue
    for (const [, list = ''] of text.matchAll(LOADS))
      for (const [, file = ''] of list.matchAll(/(?:^|[\s"'])((?:[\w.-]+\/)*[\w.-]+\.ya?ml)(?=$|[\s"'])/g))
        named.add(`${directory}${file}`)
  }
  return files.filter(({ path }) => named.has(path))
}

/** The directory of a file and those above it, as far as the files reach. */
function directoriesOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1)
  return Array.from({ length: parts.length + 1 }, (_, up) =>
    parts
      .slice(0, parts.length - up)
      .map((part) => `${part}/`)
      .join(''),
  )
}
