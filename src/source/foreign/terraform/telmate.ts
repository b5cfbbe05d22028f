import { EXTERNAL_NAME } from '../../../kinds/fields/annotations.ts'
import { KINDS } from '../../../kinds/registry.ts'
import { isFields } from '../../manifest.ts'
import type { Fields } from '../reading.ts'
import { isEmpty, wordOf } from './attributes.ts'
import type { ResourceReader } from './resource.ts'

/** Guests of the Telmate provider, 2 and 3. Disks and cards of it are in too many forms: they stay as they are. */
export const telmate: ResourceReader = {
  provider: /(?:^|\/)telmate\/proxmox["\]]*$/i,
  read({ type, name, attributes }) {
    const isVm = type === 'proxmox_vm_qemu'
    if (!isVm && type !== 'proxmox_lxc') return { why: 'croft has no kind for it' }
    const kind = KINDS.find((one) => one.kind === (isVm ? 'EnvironmentVM' : 'EnvironmentContainer'))
    const [, node, id] = /^([^/]+)\/[^/]+\/(\d+)$/.exec(wordOf(attributes.id) ?? '') ?? []
    if (kind === undefined || node === undefined || id === undefined)
      return { why: 'its id does not say on which host it is and which number it has' }
    return {
      kind,
      manifest: {
        apiVersion: kind.apiVersion,
        kind: kind.kind,
        metadata: { name: name(kind.kind), annotations: { [EXTERNAL_NAME]: id } },
        spec: {
          deletionPolicy: 'Orphan',
          forProvider: { nodeName: node, ...(isVm ? vmFields(attributes) : containerFields(attributes)) },
        },
      },
      comments: [`what is not declared stays as it is; croft import proxmox DIR --guest ${id} declares it in full`],
      without: ['disk', 'disks', 'network', 'rootfs', 'mountpoint', 'ipconfig0'].flatMap((one) =>
        isEmpty(attributes[one]) ? [] : [`${one} is not declared and stays as it is`],
      ),
    }
  },
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
  return defined({
    cpu: typeof attributes.cores === 'number' && attributes.cores > 0 ? [{ cores: attributes.cores }] : undefined,
    memory: typeof attributes.memory === 'number' ? [{ dedicated: attributes.memory }] : undefined,
    initialization: typeof attributes.hostname === 'string' ? [{ hostname: attributes.hostname }] : undefined,
    startOnBoot: flagOf(attributes.onboot),
    unprivileged: flagOf(attributes.unprivileged),
    ...shared(attributes),
  })
}

function shared({ tags, desc, description, pool }: Fields): Fields {
  return {
    tags: typeof tags === 'string' && tags.trim() !== '' ? tags.split(/[;,\s]+/) : undefined,
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
