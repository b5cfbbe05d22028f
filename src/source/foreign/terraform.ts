import { EXTERNAL_NAME } from '../../kinds/fields/annotations.ts'
import { KINDS } from '../../kinds/registry.ts'
import { isFields } from '../manifest.ts'
import type { ForeignReading } from './crossplane.ts'
import type { Draft } from './draft.ts'
import { fitToKind } from './fit.ts'

type Fields = Record<string, unknown>

const KIND_OF: Readonly<Record<string, string>> = {
  proxmox_virtual_environment_vm: 'EnvironmentVM',
  proxmox_virtual_environment_download_file: 'EnvironmentDownloadFile',
}

/** What the provider computes, what only steers Terraform itself, and what is secret. */
const COMPUTED =
  /^(?:id|mac_addresses|ipv[46]_addresses|network_interface_names|size_computed|vm_id|timeouts?(?:_.*)?|password|path_in_datastore|reboot(?:_after_update)?|migrate|stop_on_destroy|purge_on_destroy|delete_unreferenced_disks_on_destroy|wait_for_ip|upload_timeout|overwrite(?:_unmanaged)?|clone)$/
/** In a downloaded file the size is what came; a disk's size is what was asked for. */
const COMPUTED_OF_FILE = /^size$/

/** Where the provider writes 0 for "none of it". */
const ZERO_IS_NONE =
  /^(?:mtu|queues|vlan_id|rate_limit|hotplugged|limit|shared|retries|max_bytes|period|(?:iops_)?(?:read|write)(?:_burstable)?)$/

/** Resources of the bpg provider in a Terraform state (version 4). Undefined: this is no such state. */
export function readTerraformState(text: string): ForeignReading | undefined {
  const state = parsed(text)
  if (!isFields(state) || state.version !== 4 || !Array.isArray(state.resources)) return undefined
  const drafts: Draft[] = []
  const leftOut = new Map<string, number>()
  const names = new Set<string>()
  for (const resource of state.resources.filter(isFields)) {
    const type = typeof resource.type === 'string' ? resource.type : 'without a type'
    const instances = Array.isArray(resource.instances) ? resource.instances.filter(isFields) : []
    const kind = resource.mode === 'managed' ? KINDS.find((one) => one.kind === KIND_OF[type]) : undefined
    if (kind === undefined) {
      const word = resource.mode === 'data' ? `data.${type}` : type
      leftOut.set(word, (leftOut.get(word) ?? 0) + instances.length)
      continue
    }
    for (const { attributes, index_key: index } of instances) {
      if (!isFields(attributes)) continue
      const name = freeName([resource.name, index], kind.kind, names)
      const isVm = kind.kind === 'EnvironmentVM'
      const id = isVm ? (wordOf(attributes.vm_id) ?? wordOf(attributes.id)) : undefined
      const fields = camel(isVm ? attributes : without(attributes, COMPUTED_OF_FILE))
      if (fields.name === name) delete fields.name
      const { draft } = fitToKind(
        {
          manifest: {
            apiVersion: kind.apiVersion,
            kind: kind.kind,
            metadata: { name, ...(id === undefined ? {} : { annotations: { [EXTERNAL_NAME]: id } }) },
            spec: { deletionPolicy: 'Orphan', forProvider: fields },
          },
          comments: [],
        },
        kind,
      )
      drafts.push(draft)
    }
  }
  return { drafts, leftOut, unreadable: [] }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** `network_device` to `networkDevice`, at every depth; lists stay lists; what is empty or computed stays out. */
function camel(fields: Readonly<Fields>): Fields {
  const renamed: Fields = {}
  for (const [name, value] of Object.entries(fields)) {
    if (COMPUTED.test(name) || isEmpty(value) || value === -1) continue
    if (value === 0 && ZERO_IS_NONE.test(name)) continue
    const key = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    const inner = deep(value)
    if (!isEmpty(inner)) renamed[key] = inner
  }
  return renamed
}

function deep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(deep)
  return isFields(value) ? camel(value) : value
}

/** Terraform writes every attribute, also those that nobody set. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isFields(value) && Object.keys(value).length === 0
}

function without(fields: Readonly<Fields>, names: RegExp): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.test(name)))
}

/** `web`, and for one of several `web-0`. */
function freeName(words: readonly unknown[], kind: string, taken: Set<string>): string {
  const base =
    words
      .flatMap(
        (word) =>
          wordOf(word)
            ?.toLowerCase()
            .replace(/[^a-z0-9.]+/g, '-') ?? [],
      )
      .join('-')
      .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '') || 'unnamed'
  let name = base
  for (let at = 2; taken.has(`${kind}/${name}`); at++) name = `${base}-${at}`
  taken.add(`${kind}/${name}`)
  return name
}

function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
