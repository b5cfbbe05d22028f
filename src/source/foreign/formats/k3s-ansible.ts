import { isIP } from 'node:net'
import { cluster as clusterKind } from '../../../kinds/cluster.ts'
import { dnsName, logicalName } from '../../../kinds/fields/text.ts'
import { host as hostKind } from '../../../kinds/host.ts'
import type { Kind } from '../../../kinds/kind.ts'
import { isFields, objectsOf } from '../../manifest.ts'
import { UNKNOWN } from '../ansible/expression.ts'
import { type FoundInventory, findInventory } from '../ansible/find-inventory.ts'
import { hostsIn, type Variables, variablesOf } from '../ansible/inventory.ts'
import {
  argsIn,
  argsOfConfig,
  clusterParts,
  type ForeignNode,
  NOT_TAKEN_OVER,
  type NodeFlags,
} from '../ansible/k3s-args.ts'
import { readKnownHosts } from '../ansible/known-hosts.ts'
import { leftVariables } from '../ansible/left-variables.ts'
import { kubeNodes } from '../ansible/listed-nodes.ts'
import { type NodeRoles, rolesByGroup, rolesByNodes, rolesByVariable } from '../ansible/node-roles.ts'
import { HOLE, type HostVariables, hostVariables } from '../ansible/template.ts'
import { documentsIn } from '../documents.ts'
import type { Draft, DraftManifest } from '../draft.ts'
import { fitToKind } from '../fit.ts'
import { createNames, type ForeignFile, type ForeignFormat, type ForeignReading, type NotCarried } from '../reading.ts'

/** Inventories of K3s playbooks, published or of one's own: boxes that are there, and the cluster on them. */
export const k3sAnsible: ForeignFormat = {
  name: 'k3s-ansible',
  about:
    'the directory of an inventory for k3s-ansible: hosts.ini or inventory.yml, group_vars, known_hosts, nodes.json',
  names: /^(?:hosts|inventory|known_hosts|all|k3s_cluster|server|agent|master|node)$|\.ini$/i,
  read(files, options) {
    const found = findInventory(files, options.under)
    return 'problem' in found ? found : readInventory(found, files, options.cluster)
  },
}

/** A host of the inventory, as far as it was understood. */
interface InventoryHost {
  readonly written: string
  readonly name: string
  readonly role: 'server' | 'agent'
  readonly address: string
  readonly port: number
  readonly variables: HostVariables
}

/** Hosts and a Cluster of an inventory, however it came to be. */
export function readInventory(
  found: FoundInventory,
  files: readonly ForeignFile[],
  named: string | undefined,
): ForeignReading | { readonly problem: string } {
  const { inventory } = found
  const layers = variablesOf(inventory, found.files)
  const members = new Map([...inventory.groups.keys()].map((group) => [group, hostsIn(inventory, group)]))
  const lost: NotCarried[] = [...found.notCarried]
  const variablesOfHost = new Map(
    [...inventory.hosts.keys()].map((host) => [host, hostVariables(host, layers, (group) => members.get(group))]),
  )
  const listed = kubeNodes(files)
  const roles = rolesOf(found, variablesOfHost, listed)
  if (roles === undefined)
    return {
      problem: `${found.path} does not say which hosts are servers. Its groups are ${[...inventory.groups.keys()].join(', ')}; croft knows groups like server, masters, k3s_master or control_plane, and the variables k3s_control_node and role of a host. Put the output of kubectl get nodes -o json beside the inventory as nodes.json: then the nodes themselves say it`,
    }
  const { servers, agents } = roles
  const nodeNames = namesOfNodes(files)
  const freeName = createNames()
  const boxes = [...servers, ...[...agents].filter((host) => !servers.has(host))].map((written): InventoryHost => {
    const variables = variablesOfHost.get(written) ?? hostVariables(written, layers, (group) => members.get(group))
    const said = textOf(variables, ['ansible_host', 'ansible_ssh_host'])
    const address = said ?? written
    if (said === undefined && variables.value('ansible_host') !== undefined)
      lost.push({ what: `ansible_host of ${written}`, why: 'only Ansible can evaluate it; correct ssh.address' })
    const known = nodeNames.get(written.toLowerCase()) ?? nodeNames.get(address.toLowerCase())
    const name = freeName('Host', [
      known ?? (isIP(written) === 0 ? written.split('.')[0] : written.replace(/[.:]/g, '-')),
    ])
    if (known === undefined && name !== written)
      lost.push({
        what: `the name of the node ${written}`,
        why: `the inventory does not have it, and ${name} stands for it; put the output of kubectl get nodes -o json beside the inventory as nodes.json, or correct the name`,
      })
    const port = Number(textOf(variables, ['ansible_port', 'ansible_ssh_port']) ?? 22)
    return { written, name, role: servers.has(written) ? 'server' : 'agent', address, port, variables }
  })
  for (const host of inventory.hosts.keys())
    if (!servers.has(host) && !agents.has(host))
      lost.push({ what: `the host ${host}`, why: 'it is in no group of servers or agents' })
  for (const host of servers)
    if (agents.has(host))
      lost.push({ what: `the host ${host}`, why: 'it is in both groups, and is taken for a server' })
  const keysOf = readKnownHosts(files.find(({ path }) => /(?:^|\/)known_hosts$/.test(path))?.text ?? '')
  const drafts = boxes.flatMap((box) => hostDraft(box, keysOf, found.path, lost))
  const running =
    listed.find(({ role, version }) => role === 'server' && version !== undefined)?.version ??
    releaseInMaps(layers.get(boxes[0]?.written ?? '') ?? [])
  const draft = clusterDraft(boxes, named, running, found.path, lost)
  // Each group is counted once, however many hosts it has.
  const said = new Set(boxes.flatMap(({ written }) => layers.get(written) ?? []))
  if (found.files.defaults !== undefined) said.delete(found.files.defaults)
  const all = new Map([...said].flatMap((layer) => [...layer]))
  const asked = boxes.flatMap(({ variables }) => [...variables.asked])
  lost.push(...leftVariables(all, new Set([...CARRIED, ...asked])))
  return { drafts: [...drafts, ...(draft === undefined ? [] : [draft])], notCarried: distinct(lost) }
}

/** The one release of K3s that maps of variables about it name, however deep: playbooks of people keep it there. */
function releaseInMaps(layers: readonly Variables[]): string | undefined {
  const found = new Set<string>()
  const look = (value: unknown) => {
    if (typeof value === 'string' && /^v\d+\.\d+\.\d+\+k3s\d+$/.test(value)) found.add(value)
    else if (isFields(value)) Object.values(value).forEach(look)
  }
  for (const layer of layers) for (const [name, value] of layer) if (name.startsWith('k3s')) look(value)
  const [release, other] = found
  return other === undefined ? release : undefined
}

/** Roles by groups, then by a variable of each host, then by Kubernetes. */
function rolesOf(
  { inventory }: FoundInventory,
  variables: ReadonlyMap<string, HostVariables>,
  listed: ReturnType<typeof kubeNodes>,
): NodeRoles | undefined {
  const hosts = [...inventory.hosts.keys()]
  const value = (host: string, variable: string) => variables.get(host)?.value(variable)
  const address = (host: string) => {
    const said = value(host, 'ansible_host')
    return typeof said === 'string' ? said : host
  }
  return rolesByGroup(inventory) ?? rolesByVariable(hosts, value) ?? rolesByNodes(hosts, address, listed)
}

/** At which address the API is, in the words of one playbook or another. */
const ENDPOINTS = [
  'apiserver_endpoint',
  'api_endpoint',
  'k3s_api_vip',
  'k3s_api_endpoint',
  'control_plane_endpoint',
  'k3s_registration_address',
] as const
const VERSIONS = ['k3s_version', 'k3s_release_version'] as const
/** config.yaml of K3s, as a text or as a map. */
const CONFIGS = {
  server: ['server_config_yaml', 'k3s_server_config', 'k3s_server'],
  agent: ['agent_config_yaml', 'k3s_agent_config', 'k3s_agent'],
} as const

/** Variables that become a field. */
const CARRIED = [
  ...ENDPOINTS,
  ...VERSIONS,
  ...CONFIGS.server,
  ...CONFIGS.agent,
  'k3s_control_node',
  'k3s_role',
  'node_role',
  'role',
  'ansible_host',
  'ansible_ssh_host',
  'ansible_port',
  'ansible_ssh_port',
  'ansible_user',
  'ansible_ssh_user',
  'ansible_ssh_private_key_file',
  'ansible_private_key_file',
  'ansible_connection',
  'api_port',
  'cluster_context',
  'extra_agent_args',
  'extra_server_args',
  'k3s_node_ip',
  'k3s_server_location',
  'use_external_database',
]

function hostDraft(
  { written, name, address, port, variables }: InventoryHost,
  keysOf: (address: string, port: number) => readonly string[],
  path: string,
  lost: NotCarried[],
): readonly Draft[] {
  const what = `the host ${written}`
  const connection = variables.value('ansible_connection') ?? 'ssh'
  if (connection === 'local')
    return [fitted(manifestOf(hostKind as Kind, name, { local: true }), hostKind as Kind, path, lost)]
  if (connection !== 'ssh') lost.push({ what, why: 'Ansible does not reach it over SSH, and croft does' })
  const user = textOf(variables, ['ansible_user', 'ansible_ssh_user'])
  if (user === undefined)
    lost.push({ what, why: 'the inventory names no user for it, and croft takes root; write ssh.user' })
  const file = textOf(variables, ['ansible_ssh_private_key_file', 'ansible_private_key_file'])
  const whole = file !== undefined && /^~?\//.test(file)
  if (file !== undefined && !whole)
    lost.push({
      what,
      why: 'the path of its private key begins in the directory of the playbook; write ssh.key with the whole path',
    })
  const hostKeys = [...new Set([...keysOf(address, port), ...keysOf(written, port)])].slice(0, 10)
  if (hostKeys.length === 0)
    lost.push({
      what,
      why: 'its host key is not known; copy the known_hosts that you trust beside the inventory, or write ssh.hostKeys (croft host enroll shows them)',
    })
  const ssh = {
    address,
    ...(user === undefined ? {} : { user }),
    ...(port === 22 ? {} : { port }),
    ...(hostKeys.length === 0 ? {} : { hostKeys }),
    ...(whole ? { key: { file } } : {}),
  }
  const manifest = manifestOf(hostKind as Kind, name, { ssh })
  // A Host without a key would be left out, so write it with its problem.
  return [
    hostKeys.length === 0 ? { manifest, comments: [`from ${path}`] } : fitted(manifest, hostKind as Kind, path, lost),
  ]
}

function clusterDraft(
  boxes: readonly InventoryHost[],
  named: string | undefined,
  running: string | undefined,
  path: string,
  lost: NotCarried[],
): Draft | undefined {
  const [first] = boxes
  if (first === undefined) return undefined
  const nodes = boxes.map(
    (box): ForeignNode => ({ name: box.name, args: argsOf(box, lost), addresses: addressesOf(box) }),
  )
  const refuse = (why: string) => {
    lost.push({ what: 'the cluster', why })
    return undefined
  }
  const flag = NOT_TAKEN_OVER.find((one) => nodes.some(({ args }) => args.has(one)))
  if (flag !== undefined) return refuse(`it runs with ${flag}, and croft does not keep such clusters`)
  if (/^true$/i.test(String(first.variables.value('use_external_database'))))
    return refuse('its database is outside, and croft keeps clusters with etcd or SQLite alone')
  if ((textOf(first.variables, ['api_port']) ?? '6443') !== '6443') return refuse('its API is not at port 6443')
  if ((first.variables.value('k3s_server_location') ?? '/var/lib/rancher/k3s') !== '/var/lib/rancher/k3s')
    return refuse('croft keeps K3s in /var/lib/rancher/k3s alone')
  const version = textOf(first.variables, VERSIONS) ?? running
  if (version === undefined)
    return refuse(
      'the inventory does not say k3s_version; write it into group_vars/all.yml, or put the output of kubectl get nodes -o json beside the inventory as nodes.json',
    )
  const endpoint = endpointOf(boxes)
  if (endpoint === undefined && boxes.filter(({ role }) => role === 'server').length > 1)
    return refuse('nothing says at which address its API is; write apiserver_endpoint into group_vars/all.yml')
  const isServer = (index: number) => boxes[index]?.role === 'server'
  const parts = clusterParts(
    nodes.filter((_, index) => isServer(index)),
    nodes.filter((_, index) => !isServer(index)),
    endpoint?.vip ?? endpoint?.dns,
  )
  lost.push(...parts.lost)
  const written = parts.nodes.map((fields, index) => ({ machine: `Host/${boxes[index]?.name ?? ''}`, ...fields }))
  const agents = written.filter((_, index) => !isServer(index))
  const name = named ?? textOf(first.variables, ['cluster_context']) ?? 'k3s'
  const manifest = manifestOf(clusterKind as Kind, createNames()('Cluster', [name]), {
    version,
    ...(endpoint === undefined ? {} : { endpoint }),
    servers: written.filter((_, index) => isServer(index)),
    ...(agents.length === 0 ? {} : { agents }),
    ...parts.fields,
  })
  const { draft, problems } = fitToKind(
    { manifest, comments: [`from ${path}; croft takes over the cluster that runs`] },
    clusterKind as Kind,
  )
  const [problem] = problems
  if (problem !== undefined) return refuse(problem.message)
  for (const why of draft.comments.slice(1)) lost.push({ what: 'the cluster', why })
  return draft
}

/** Returns the flags that the playbook starts a node with: they override its config.yaml. */
function argsOf({ role, written, variables }: InventoryHost, lost: NotCarried[]): NodeFlags {
  const variable = role === 'server' ? 'extra_server_args' : 'extra_agent_args'
  const { args, lost: words } = argsIn(variables.value(variable), variable)
  lost.push(...words)
  const name = CONFIGS[role].find((one) => variables.value(one) !== undefined)
  const value = name === undefined ? undefined : variables.value(name)
  if (name === undefined || value === '' || value === null) return args
  const config = argsOfConfig(value)
  if (config === undefined)
    lost.push({ what: `${name} of ${written}`, why: 'it is not a YAML map that croft can read' })
  return new Map([...(config ?? []), ...args])
}

function addressesOf({ address, variables }: InventoryHost): readonly string[] {
  const own = variables.value('k3s_node_ip')
  const list = typeof own === 'string' && !own.includes(HOLE) ? own.split(',').map((one) => one.trim()) : []
  return list.join() === address ? [] : list
}

interface Endpoint {
  readonly vip?: string
  readonly dns?: string
  readonly server?: string
}

/** An address of one server is that server; another one moves, or is a name for all of them. */
function endpointOf(boxes: readonly InventoryHost[]): Endpoint | undefined {
  const text = boxes[0] === undefined ? undefined : textOf(boxes[0].variables, ENDPOINTS)
  if (text === undefined) return undefined
  const server = boxes.find(
    (box) => box.role === 'server' && [box.address, box.written, ...addressesOf(box)].includes(text),
  )
  if (server !== undefined) return { server: server.name }
  if (isIP(text) !== 0) return { vip: text }
  return dnsName.safeParse(text).success ? { dns: text } : undefined
}

/** The name that Kubernetes has for an address, of what kubectl printed. */
function namesOfNodes(files: readonly ForeignFile[]): ReadonlyMap<string, string> {
  const text = files.find(({ path }) => /(?:^|\/)nodes\.(?:json|ya?ml)$/.test(path))?.text
  const names = new Map<string, string>()
  for (const document of (text === undefined ? undefined : documentsIn(text)) ?? [])
    for (const { value } of objectsOf(document)) {
      const { kind, metadata, status } = value
      if (kind !== 'Node' || !isFields(metadata) || !isFields(status)) continue
      const name = logicalName.safeParse(metadata.name)
      const addresses = Array.isArray(status.addresses) ? status.addresses.filter(isFields) : []
      if (!name.success) continue
      for (const { address } of addresses) if (typeof address === 'string') names.set(address.toLowerCase(), name.data)
    }
  return names
}

/** The first of these variables that is a text, whole. */
function textOf(variables: HostVariables, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = variables.value(name)
    if (value === UNKNOWN || value === undefined) continue
    const text = typeof value === 'number' ? String(value) : value
    if (typeof text === 'string' && text.trim() !== '' && !text.includes(HOLE)) return text.trim()
  }
  return undefined
}

function manifestOf({ apiVersion, kind }: Kind, name: string, spec: unknown): DraftManifest {
  return { apiVersion, kind, metadata: { name }, spec }
}

function fitted(manifest: DraftManifest, kind: Kind, path: string, lost: NotCarried[]): Draft {
  const { draft } = fitToKind({ manifest, comments: [`from ${path}`] }, kind)
  for (const why of draft.comments.slice(1)) lost.push({ what: `the host ${manifest.metadata.name}`, why })
  return draft
}

function distinct(lost: readonly NotCarried[]): readonly NotCarried[] {
  return [...new Map(lost.map((one) => [`${one.what}\n${one.why}`, one])).values()]
}
