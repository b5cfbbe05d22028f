import { jsonSchema } from '../../src/kinds/json-schema.ts'
import { KINDS } from '../../src/kinds/registry.ts'

/* Manifests of a tenant, generated from the schemas of the kinds that may be granted: each text field with each value that
   leads out of the grant. */

type Schema = Readonly<Record<string, unknown>>
type Tree = Readonly<Record<string, unknown>>

/** The path of every string field of a kind: `spec.disks[].storage`. */
export function stringFields(kind: string): readonly string[] {
  const root = jsonSchema(KINDS.find((one) => one.kind === kind)) as Schema
  const definitions = (root.$defs ?? {}) as Readonly<Record<string, Schema>>
  const paths = new Set<string>()
  const visit = (node: unknown, path: string, above: readonly unknown[]): void => {
    if (typeof node !== 'object' || node === null || above.includes(node)) return
    const below = [...above, node]
    const schema = node as Schema
    if (typeof schema.$ref === 'string') visit(definitions[schema.$ref.split('/').at(-1) ?? ''], path, below)
    for (const all of [schema.anyOf, schema.oneOf, schema.allOf])
      if (Array.isArray(all)) for (const one of all) visit(one, path, below)
    for (const [name, inner] of Object.entries(schema.properties ?? {}))
      visit(inner, path === '' ? name : `${path}.${name}`, below)
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties, `${path}.*`, below)
    if (schema.items !== undefined) visit(schema.items, `${path}[]`, below)
    const isText = [schema.type].flat().includes('string') && schema.enum === undefined && schema.const === undefined
    if (isText && /^(?:spec|metadata)\./.test(path)) paths.add(path)
  }
  visit(root, '', [])
  return [...paths]
}

/** A field that names something, and a value of it that is outside of the grant of these tests. */
export interface NamingField {
  readonly kind: string
  readonly path: string
  readonly value: string
  /** What the field needs beside it, at the same place. */
  readonly beside?: Tree
  /** Further fields of `spec`, in place of those of the base. */
  readonly spec?: Tree
  /** What of the base is in its way: fields of `spec`. */
  readonly without?: readonly string[]
}

const SECRETS: readonly (readonly [path: string, value: string, beside?: Tree])[] = [
  ['env', 'BOSS_SECRET'],
  ['file', '/etc/boss/secret'],
  ['vault.mount', 'boss', { path: 'boss/db', key: 'password' }],
  ['vault.path', 'boss/db', { mount: 'boss', key: 'password' }],
  ['onePassword.vault', 'boss', { item: 'db', field: 'password' }],
  ['onePassword.item', 'boss', { vault: 'boss', field: 'password' }],
]
const secretAt = (
  kind: string,
  path: string,
  more: Pick<NamingField, 'spec' | 'without'> = {},
): readonly NamingField[] =>
  SECRETS.map(([below, value, beside = {}]) => ({ kind, path: `${path}.${below}`, value, beside, ...more }))

const row = (kind: string, path: string, value: string, beside: Tree = {}, without: readonly string[] = []) => ({
  kind,
  path: `spec.${path}`,
  value,
  beside,
  without,
})

const guest = (kind: string, path: string, value: string, beside: Tree = {}) =>
  ['forProvider', 'initProvider'].map((provider) => row(kind, `${provider}.${path}`, value, beside))
const disk = { interface: 'scsi1', datastoreId: 'local', size: 9 }
const VM = 'EnvironmentVM'
const LXC = 'EnvironmentContainer'
const nodes = ['servers[]', 'agents[]']

export const NAMING: readonly NamingField[] = [
  row('Machine', 'host', 'bull'),
  { ...row('Machine', 'placement.connection', 'bank'), spec: { host: 'auto' } },
  row('Machine', 'class', 'boss-class', {}, ['cpu', 'memory', 'disks']),
  row('Machine', 'proxmox.pool', 'boss'),
  row('Machine', 'disks[].image', 'golden'),
  row('Machine', 'disks[].storage', 'vault9'),
  row('Machine', 'networks[].network', 'dmz'),
  row('Machine', 'devices[]', 'boss-device-0'),
  row('Machine', 'cloudInit.storage', 'vault9'),
  row('Machine', 'userData', '#cloud-config\nbootcmd: [{valueFrom: {env: BOSS_SECRET}}]\n'),
  ...secretAt('Machine', 'spec.userData.bootcmd[].valueFrom'),
  ...[VM, LXC].flatMap((kind) => [
    row(kind, 'providerConfigRef.name', 'bank'),
    ...guest(kind, 'nodeName', 'bull'),
    ...guest(kind, 'poolId', 'boss'),
    ...guest(kind, 'hookScriptFileId', 'local:snippets/boss.sh'),
  ]),
  ...guest(VM, 'clone[].nodeName', 'bull', { vmId: 9000 }),
  ...guest(VM, 'clone[].datastoreId', 'vault9', { vmId: 9000 }),
  ...guest(VM, 'hostpci[].id', '0000:01:00.0', { device: 'hostpci0' }),
  ...guest(VM, 'hostpci[].mapping', 'boss-gpu', { device: 'hostpci0' }),
  ...guest(VM, 'usb[].host', '1234:5678'),
  ...guest(VM, 'usb[].mapping', 'boss-usb'),
  ...guest(VM, 'virtiofs[].mapping', 'boss-files'),
  ...guest(VM, 'serialDevice[].device', '/dev/ttyS0'),
  ...guest(VM, 'tpmState[].datastoreId', 'vault9'),
  ...guest(VM, 'efiDisk[].datastoreId', 'vault9'),
  ...guest(VM, 'cdrom[].fileId', 'local:iso/boss.iso'),
  ...guest(VM, 'disk[].datastoreId', 'vault9', disk),
  ...guest(VM, 'disk[].fileId', 'local:iso/boss.img', disk),
  ...guest(VM, 'disk[].importFrom', 'local:import/boss.qcow2', disk),
  ...guest(VM, 'initialization[].datastoreId', 'vault9'),
  ...['user', 'network', 'meta', 'vendor'].flatMap((document) =>
    guest(VM, `initialization[].${document}DataFileId`, 'local:snippets/boss.yaml', { datastoreId: 'local' }),
  ),
  ...guest(VM, 'networkDevice[].bridge', 'vmbr9'),
  ...guest(VM, 'networkDevice[].trunks', '30', { bridge: 'vmbr0' }),
  ...guest(LXC, 'networkInterface[].bridge', 'vmbr9', { name: 'eth0' }),
  ...guest(LXC, 'disk[].datastoreId', 'vault9', { size: 9 }),
  ...guest(LXC, 'operatingSystem[].templateFileId', 'local:import/boss.tar.zst'),
  ...guest(LXC, 'devicePassthrough[].path', '/dev/boss'),
  ...guest(LXC, 'mountPoint[].volume', '/boss', { path: '/mnt' }),
  ...guest(LXC, 'features[].mount[]', 'nfs'),
  ...nodes.flatMap((node) => [
    row('Cluster', `${node}.host`, 'bull'),
    row('Cluster', `${node}.class`, 'boss-class'),
    row('Cluster', `${node}.devices[]`, `boss-device-${node.length}`),
    row('Cluster', `${node}.disks[].image`, 'golden'),
    row('Cluster', `${node}.disks[].storage`, 'vault9'),
    row('Cluster', `${node}.proxmox.pool`, 'boss'),
  ]),
  row('Cluster', 'network', 'dmz'),
  row('Cluster', 'endpoint.vip', '127.0.0.1'),
  { ...row('Cluster', 'endpoint.dns', 'api.localhost'), spec: { endpoint: {} } },
  ...nodes.map((node) => row('Cluster', `${node}.externalAddresses[]`, '127.0.0.2')),
  row('Cluster', 'class', 'boss-class'),
  {
    ...row('Cluster', 'backup.drill.host', 'bull', { schedule: '0 4 * * 0' }),
    spec: { backup: { schedule: '0 4 * * *', to: { directory: '/srv' } } },
  },
  row('Cluster', 'artifacts[].mirror', 'http://127.0.0.1:9/k3s'),
  row('Cluster', 'proxy', 'http://127.0.0.1:9'),
  row('Cluster', 'userData', '#cloud-config\nbootcmd: [{valueFrom: {env: BOSS_SECRET}}]\n'),
  ...secretAt('Cluster', 'spec.userData.bootcmd[].valueFrom'),
  ...secretAt('Cluster', 'spec.registries.configs.*.auth'),
  row('Addon', 'cluster', 'bank'),
  ...secretAt('Addon', 'spec.secrets[].data.*', { spec: { secrets: [{ name: 's-ID', namespace: 'lab' }] } }),
]

/** The manifest with this value at this path. */
export function withValue(base: Tree, { path, value, beside = {} }: NamingField): Tree {
  const steps = path.match(/\[\]|[^.[]+/g) ?? []
  const put = (node: unknown, at: number): unknown => {
    const step = steps[at]
    if (step === undefined) return value
    if (step === '[]') return [put(Array.isArray(node) ? (node as readonly unknown[])[0] : undefined, at + 1)]
    const name = step === '*' ? 'any' : step
    const here = typeof node === 'object' && node !== null && !Array.isArray(node) ? (node as Tree) : {}
    const isLast = at >= steps.length - 1 || (at === steps.length - 2 && steps.at(-1) === '[]')
    return { ...here, ...(isLast ? beside : {}), [name]: put(here[name], at + 1) }
  }
  return put(base, 0) as Tree
}

/** Fields whose values name nothing that a grant could hold, with the reason. A new field is in one of the two lists. */
export const NAMES_NOTHING: readonly (readonly [field: RegExp, why: string])[] = [
  [/^metadata\./, 'a name is held by names, an annotation by policy'],
  [
    /\.(?:labels|annotations)\.\*$|\.tags$|\.description$|\.(?:name|username|user|hostname|domain|clusterDomain)$/,
    'text',
  ],
  [
    /\.(?:size|memory|swap|version|schedule|soak|nodeTimeout|timeout|deadAfter|pause|evictAfter|duration|maxDuration)$/,
    'a number',
  ],
  [
    /\.cpu\.|\.cpus$|\.hostnodes$|\.hotplug$|\.machine$|\.bootOrder$|\.interface$|\.smbios\.|\.uuid$|\.numa\./,
    'of the guest itself',
  ],
  [
    /\.(?:mac|macAddress|macAddresses|sshKeys|keys|serial|mode|mdev|spread|apart|timeZone|from|to|taints|tlsSans|sha256)$/,
    'of itself',
  ],
  [
    /\.(?:address|addresses|ipv6|gateway|servers|server|vip|dns)$/,
    'an address inside a guest, or one that is judged as such',
  ],
  [
    /\.(?:dependsOn|needs|readyWhen|healthChecks|skipHooks)$|\.ready\.|\.gates\./,
    'an order, or a question about its own objects',
  ],
  [
    /\.(?:podCidrs|serviceCidrs|checksums\.\*|(?:serverF|nodeF|f)lags\.\*|environmentVariables\.\*|entrypoint)$/,
    'inside its own nodes',
  ],
  [
    /\.registries\.(?:mirrors|configs\.\*\.tls)\b|\.kubeVip\.|\.backup\.to\.|\.artifacts\.file$/,
    'asked for by its own nodes',
  ],
  [
    /\.(?:sops|secretRef|passwordSecretRef)\.|\.(?:vault|onePassword)\.(?:key|field)$/,
    'a part of a reference: stamped with the source',
  ],
  [/\.(?:url\.url|oci|chart\.repo|git\.(?:url|commit|path))$/, 'fetched within egress: counted below'],
  [
    /\.(?:kubeconfig\.|context$)|\.charts\.|\.libvirt\.|\.lxc\./,
    'of clusters and hypervisors that a tenant may not declare',
  ],
  [
    /\.(?:providerConfigRef|providerRef|configRef)\.|ToRef\.|publishConnectionDetailsTo\./,
    'read over, but for the name of the connection',
  ],
  [/\.(?:kvmArguments|pathInDatastore)$|^spec\.forProvider\.clone\./, 'refused, or read over with a warning'],
  [/\.hostpci\.(?:device|romFile)$/, 'of a PCI device, which is judged whole'],
  [
    /\.handover\.|\.values\.|\.with\.|\.objects\.|\.valuesFrom\.|\.path$|\.namespace$|\.type$|\.revision$/,
    'inside a granted cluster, or of its own files',
  ],
  [/^spec\.(?:agents|servers)\.(?:machine|hosts)$|^spec\.connection$/, 'machines of its own: see tenants.test.ts'],
]

export function normal(path: string): string {
  return path.replaceAll('[]', '').replace('initProvider', 'forProvider')
}
