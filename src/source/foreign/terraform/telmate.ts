import { EXTERNAL_NAME } from '../../../kinds/fields/annotations.ts'
import { KINDS } from '../../../kinds/registry.ts'
import { isFields } from '../../manifest.ts'
import type { Fields } from '../reading.ts'
import { isEmpty, wordOf } from './attributes.ts'
import type { ResourceReader } from './resource.ts'

const KIND_OF: Readonly<Record<string, string>> = {
  proxmox_vm_qemu: 'EnvironmentVM',
  proxmox_lxc: 'EnvironmentContainer',
  proxmox_lxc_guest: 'EnvironmentContainer',
  proxmox_pool: 'EnvironmentPool',
}

/** Resources without a manifest, with the reason and an alternative. */
const NO_KIND: Readonly<Record<string, string>> = {
  proxmox_lxc_disk: 'it belongs to its container; croft import proxmox --guest declares that with its disks',
  proxmox_cloud_init_disk: 'the disc stays as it is; croft makes one from the cloud-init data of a Machine',
  proxmox_storage_iso: 'the file stays as it is; write an EnvironmentDownloadFile with its checksum',
}

/** Attributes that the manifest carries, that only steer Terraform, or that are computed. */
const SAID =
  /^(?:id|vmid|guest_id|name|hostname|cores|sockets|cpu|memory|start_at_node_boot|onboot|start|power_state|vm_state|oncreate|unprivileged|privileged|tags|desc|description|pool|target_nodes?|current_node|(?:default_ipv[46]_|reboot_|linked_)\w+|ssh_(?:host|port|user|private_key|forward_ip)|additional_wait|agent_timeout|automatic_reboot(?:_severity)?|clone(?:_id|_wait)?|full_clone|force|force_create|define_connection_info|skip_ipv[46]|preprovision|os_network_config|timeouts|template|ostemplate|unused_disk|cpu_architecture|smbios|os|arch)$/
const SECRETS = ['cipassword', 'password', 'ssh_private_key']

/** Guests and pools of the Telmate provider 2 and 3. Their disks and cards have too many forms: they stay as is. */
export const telmate: ResourceReader = {
  provider: /(?:^|\/)telmate\/proxmox["\]]*$/i,
  read({ type, name, attributes }) {
    const kind = KINDS.find((one) => one.kind === KIND_OF[type])
    if (kind === undefined) return { why: NO_KIND[type] ?? 'croft has no kind for it' }
    const own = name(kind.kind)
    if (type === 'proxmox_pool') {
      const poolId = wordOf(attributes.poolid)
      if (poolId === undefined) return { why: 'it has no poolid' }
      const spec = { deletionPolicy: 'Orphan', forProvider: defined({ poolId, comment: attributes.comment }) }
      return { kind, manifest: { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: own }, spec } }
    }
    const [, node, id] = /^([^/]+)\/[^/]+\/(\d+)$/.exec(wordOf(attributes.id) ?? '') ?? []
    if (node === undefined || id === undefined)
      return { why: 'its id does not say on which host it is and which number it has' }
    const started = isStarted(attributes)
    if (started === undefined)
      return { why: `its state does not say whether it runs; run croft import proxmox DIR --guest ${id}` }
    const fields = type === 'proxmox_vm_qemu' ? vmFields(attributes) : containerFields(attributes)
    const left = Object.keys(attributes).filter((one) => isLeft(one, attributes[one]))
    return {
      kind,
      manifest: {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name: own, annotations: { [EXTERNAL_NAME]: id } },
        spec: { deletionPolicy: 'Orphan', forProvider: { nodeName: node, ...fields, ...started } },
      },
      comments: [`what is not declared stays as it is; croft import proxmox DIR --guest ${id} declares it in full`],
      secrets: SECRETS.filter((one) => !isEmpty(attributes[one])),
      without: left.length === 0 ? [] : [`not declared, and left as it is: ${left.sort().join(', ')}`],
    }
  },
}

/**
 * Returns whether the guest runs, because adoption starts and stops nothing. Older resources record only whether the
 * provider started it at creation; otherwise it is unknown: undefined.
 */
function isStarted({ power_state, vm_state, start, oncreate }: Fields): { readonly started: boolean } | undefined {
  const state = isEmpty(power_state) ? vm_state : power_state
  if (state === 'stopped') return { started: false }
  const runs = state === 'running' || state === 'started' || start === true || oncreate === true
  return runs ? { started: true } : undefined
}

/** Reports whether the state sets a field that the manifest does not carry. */
function isLeft(name: string, value: unknown): boolean {
  return !SAID.test(name) && !SECRETS.includes(name) && !isNothing(value)
}

/** Reports whether a value is unset: the provider writes all slots of each bus, with 0, -1 and false as defaults. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isNothing)
  if (isFields(value)) return Object.values(value).every(isNothing)
  return value === null || value === '' || value === 0 || value === -1 || value === false
}

function vmFields(attributes: Fields): Fields {
  const block = Array.isArray(attributes.cpu) ? attributes.cpu[0] : undefined
  const cpu = { cores: block?.cores ?? attributes.cores, sockets: block?.sockets ?? attributes.sockets }
  return defined({
    name: attributes.name,
    cpu: isEmpty(defined(cpu)) ? undefined : [defined(cpu)],
    memory: typeof attributes.memory === 'number' ? [{ dedicated: attributes.memory }] : undefined,
    onBoot: flagOf(attributes.start_at_node_boot ?? attributes.onboot),
    ...shared(attributes),
  })
}

function containerFields(attributes: Fields): Fields {
  const block = Array.isArray(attributes.cpu) ? attributes.cpu[0] : undefined
  const cores = block?.cores ?? attributes.cores
  const hostname = attributes.hostname ?? attributes.name
  return defined({
    cpu: typeof cores === 'number' && cores > 0 ? [{ cores }] : undefined,
    memory: typeof attributes.memory === 'number' ? [{ dedicated: attributes.memory }] : undefined,
    initialization: typeof hostname === 'string' ? [{ hostname }] : undefined,
    startOnBoot: flagOf(attributes.start_at_node_boot ?? attributes.onboot),
    unprivileged: attributes.privileged === true ? false : flagOf(attributes.unprivileged),
    ...shared(attributes),
  })
}

function shared({ tags, desc, description, pool }: Fields): Fields {
  return {
    tags:
      typeof tags === 'string' && tags.trim() !== '' ? tags.split(/[;,\s]+/) : Array.isArray(tags) ? tags : undefined,
    description: desc ?? description,
    poolId: pool,
  }
}

function flagOf(value: unknown): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined
}

function defined(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value) || isFields(value)))
}
