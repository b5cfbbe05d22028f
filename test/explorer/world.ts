// A small model of K3s, etcd and the machines beneath. It imports no rule of the product: what it says of a start, a vote
// or a removal is what the real programs do.

/** What lies in the data directory. */
export interface Disk {
  /** `none`: empty. */
  readonly ca: string
  readonly etcd?: { readonly cluster: 'ours' | 'alone'; readonly member: string }
  /** The token that K3s noted, where it ran as a server. */
  readonly token?: string
}

export interface NodeConfig {
  readonly role: Role
  readonly place: 'init' | 'join'
  readonly hash: string | undefined
  readonly token: string
  readonly labels: Readonly<Record<string, string>>
  readonly taints: readonly string[]
  /** A flag that no release of K3s knows. */
  readonly refused: boolean
}

export type Role = 'server' | 'agent'

export interface Job {
  readonly name: 'install' | 'wipe' | 'snapshot'
  readonly what: string
  readonly beside?: boolean
  readonly sinceMs: number
  readonly state: 'running' | 'done' | 'failed'
}

export interface NodeState {
  readonly name: string
  exists: boolean
  on: boolean
  /** Its network is down: it runs, and reaches no other node. */
  cut: boolean
  /** The disk of its data directory is mounted; else K3s sees what lies below the mount point. */
  mounted: boolean
  disk: Disk
  under: Disk
  /** Volumes of pods lie on it. */
  storage: boolean
  createdMs: number
  bootedMs: number
  /** Of its machine, and of its password in the cluster. */
  birth: number
  joins: number
  wipes: number
  config?: NodeConfig | undefined
  /** As what systemd starts K3s there. */
  unit?: Role | undefined
  /** Files beside the configuration that are on it only where they are declared: path and content. */
  files: Record<string, string>
  /** The release on the disk, and the one fetched beside it. */
  program?: string | undefined
  fetched?: string | undefined
  service: 'absent' | 'stopped' | 'starting' | 'running' | 'failed'
  sinceMs: number
  running?: Running | undefined
  /** Its kubelet has registered since K3s started, and does so only once. */
  registered?: boolean
  failure?: string | undefined
  job?: Job | undefined
}

/** What K3s was started with. */
export interface Running extends Pick<NodeConfig, 'hash' | 'labels' | 'taints'> {
  readonly version: string
}

export interface Pod {
  readonly name: string
  readonly node: string
  /** A finalizer that stays keeps it. */
  readonly hangs: boolean
  goes: boolean
}

export interface Member {
  readonly id: string
  readonly name: string
  readonly node: string
  learner: boolean
}

export interface KubeNodeState {
  readonly name: string
  version: string
  createdMs: number
  ready: boolean
  readySinceMs: number
  /** When its kubelet last reported. */
  seenMs: number
  unschedulable: boolean
  server: boolean
  etcdName?: string | undefined
  annotations: Record<string, string>
  labels: Record<string, string>
  taints: readonly string[]
  /** Of the K3s that last registered it. */
  args: Pick<NodeConfig, 'labels' | 'taints'>
  edits: number
}

/** What croft keeps in its vault; the CA and token are words here. */
export interface Recorded {
  readonly firstServer: string
  readonly formed: boolean
  readonly recordedMs: number
  readonly password: string
  /** Made for a rotation that has not come to its end. */
  readonly pending?: string
  readonly former: readonly string[]
}

export interface Git {
  readonly names: string
  readonly version: string
  readonly flag: string
  readonly dataMayGo: boolean
  readonly method: 'inPlace' | 'replace'
  readonly staleState?: 'refuse' | 'wipe'
  /** Nodes that are declared as what their name does not say: agents called s, servers called a. */
  readonly turned?: string
  /** A mirror of images, which is a file on each node. */
  readonly mirror?: boolean
  /** A label and a taint on each agent. */
  readonly labelled?: string
  readonly interruption?: boolean
  readonly onTimeout?: 'wait' | 'abort' | 'force'
}

export interface World {
  nowMs: number
  git: Git
  /** Where its servers keep their data. Only a cluster that others began has none of etcd. */
  datastore: 'etcd' | 'sqlite' | 'external'
  /** What a person who reverts the last commit goes back to. */
  before?: Git
  /** So far the clocks of all nodes are ahead of croft's. */
  skewMs: number
  pods: Pod[]
  nodes: Record<string, NodeState>
  /** Of the cluster that croft formed. Others have one member each. */
  members: Member[]
  /** The cluster was formed once. */
  begun: boolean
  kubes: Record<string, KubeNodeState>
  passwords: Record<string, number>
  joinTokens: string[]
  token: string
  snapshots: readonly { readonly name: string; readonly node: string; readonly atMs: number }[]
  record?: Recorded | undefined
  /** A person is about to rotate the token. */
  command?: 'rotate token'
  rotations: number
  /** Of a command that runs, or that was interrupted. */
  hold?: { readonly reason: string; readonly allow: string }
  orders: { readonly node: string; readonly atMs: number; readonly goes: unknown }[]
  removeMembers: string[]
  resumedMs?: number | undefined
  remediations: Record<string, { readonly atMs: number; readonly over?: true }>
}

export const EMPTY: Disk = { ca: 'none' }
export const OUR_CA = 'c'.repeat(64)
const NODE_GRACE_MS = 40_000

export function emptyWorld(git: Git, nowMs: number): World {
  return {
    nowMs,
    git,
    datastore: 'etcd',
    skewMs: 0,
    rotations: 0,
    pods: [],
    nodes: {},
    members: [],
    begun: false,
    kubes: {},
    passwords: {},
    joinTokens: [],
    token: 'password-1',
    snapshots: [],
    orders: [],
    removeMembers: [],
    remediations: {},
  }
}

export function newNode(name: string, nowMs: number, before: NodeState | undefined): NodeState {
  return {
    name,
    exists: true,
    on: true,
    cut: false,
    mounted: true,
    disk: EMPTY,
    under: EMPTY,
    storage: false,
    createdMs: nowMs,
    bootedMs: nowMs + 30_000,
    birth: (before?.birth ?? 0) + 1,
    joins: before?.joins ?? 0,
    wipes: 0,
    files: {},
    service: 'absent',
    sinceMs: nowMs,
  }
}

/** The data directory as K3s sees it. */
export function seenDisk(node: NodeState): Disk {
  return node.mounted ? node.disk : node.under
}

export function writeDisk(node: NodeState, disk: Disk): void {
  if (node.mounted) node.disk = disk
  else node.under = disk
}

/** Answers over its network. */
export function answers(world: World, node: NodeState): boolean {
  return node.exists && node.on && !node.cut && node.bootedMs <= world.nowMs
}

export function isUp(world: World, { id, node: name }: Member): boolean {
  const node = world.nodes[name]
  if (node === undefined || !answers(world, node) || node.service !== 'running') return false
  const { etcd } = seenDisk(node)
  return etcd?.cluster === 'ours' && etcd.member === id
}

export interface Votes {
  readonly voters: number
  readonly up: number
  readonly held: boolean
}

export function votes(world: World): Votes {
  if (world.datastore !== 'etcd') {
    const servers = Object.values(world.nodes).filter(({ unit }) => unit === 'server')
    const up = servers.filter((node) => answers(world, node) && node.service === 'running').length
    return { voters: servers.length, up, held: up > 0 }
  }
  const voters = world.members.filter(({ learner }) => !learner)
  const up = voters.filter((member) => isUp(world, member)).length
  return { voters: voters.length, up, held: voters.length > 0 && up > Math.floor(voters.length / 2) }
}

/** Time passes: jobs end, services start, learners are promoted, kubelets report, controllers of K3s act. */
export function pass(world: World, ms: number): void {
  world.nowMs += ms
  const nodes = Object.values(world.nodes)
  for (const node of nodes) if (node.exists && node.on && node.bootedMs <= world.nowMs) finishJob(world, node)
  for (const node of nodes) if (answers(world, node)) starts(world, node)
  if (votes(world).held) {
    for (const member of world.members) if (member.learner && isUp(world, member)) member.learner = false
    for (const node of nodes) report(world, node)
    for (const kube of Object.values(world.kubes)) {
      if (kube.ready && world.nowMs - kube.seenMs >= NODE_GRACE_MS) turn(world, kube, false)
      if (kube.annotations['etcd.k3s.cattle.io/remove'] === 'true') removeNamed(world, kube)
    }
  }
}

function finishJob(world: World, node: NodeState): void {
  const { job } = node
  if (job?.state !== 'running') return
  node.job = { ...job, state: 'done' }
  if (job.name === 'install') {
    if (job.beside === true) node.fetched = job.what
    else node.program = job.what
    return
  }
  if (job.name === 'wipe') {
    writeDisk(node, EMPTY)
    Object.assign(node, { service: 'absent', sinceMs: world.nowMs, running: undefined, config: undefined })
    Object.assign(node, { unit: undefined, files: {} })
    Object.assign(node, { failure: undefined, wipes: node.wipes + 1, birth: node.birth + 1 })
    return
  }
  // K3s takes snapshots of etcd alone.
  if (node.service === 'running' && votes(world).held && world.datastore === 'etcd') {
    const own = world.snapshots.filter((one) => one.node === node.name)
    const rest = world.snapshots.filter((one) => one.node !== node.name)
    // Of croft's own the newest stay: two here, seven in life.
    world.snapshots = [...rest, ...own.slice(-1), { name: job.what, node: node.name, atMs: job.sinceMs }]
  } else node.job = { ...job, state: 'failed' }
}

const NO_CONFIG = { hash: undefined, labels: {}, taints: [] }

/** systemd starts K3s, and again and again where it dies. */
function starts(world: World, node: NodeState): void {
  if (node.service === 'starting') settle(world, node, start(world, node))
  else if (node.service === 'failed' && node.unit !== undefined) {
    const again = start(world, node)
    if (again === 'runs') settle(world, node, again)
  }
}

type Start = 'runs' | 'waits' | { readonly fails: string }

function settle(world: World, node: NodeState, start: Start): void {
  if (start === 'runs') {
    Object.assign(node, { service: 'running', sinceMs: world.nowMs, failure: undefined })
    const { hash, labels, taints } = node.config ?? NO_CONFIG
    node.running = { version: node.program ?? '', hash, labels, taints }
    node.registered = false
  } else if (start !== 'waits')
    Object.assign(node, { service: 'failed', sinceMs: world.nowMs, failure: start.fails, running: undefined })
}

/** K3s starts. By what it finds on its disk and in its configuration it comes back, joins, or begins a cluster. */
function start(world: World, node: NodeState): Start {
  const { config } = node
  if (config === undefined || node.program === undefined) return { fails: 'no configuration' }
  if (config.refused) return { fails: 'flag provided but not defined' }
  if (node.unit === 'server' && config.role === 'agent') return { fails: 'this is the configuration of an agent' }
  if (node.unit === 'agent') return startAgent(world, node, config)
  const disk = seenDisk(node)
  if (world.datastore !== 'etcd') return startWithout(world, node, config, disk)
  const { etcd } = disk
  if (etcd?.cluster === 'alone') return 'runs'
  if (etcd !== undefined && world.members.some(({ id }) => id === etcd.member)) {
    // The datastore is encrypted with the current token; K3s exits if it is given another one.
    if (config.token !== world.token)
      return { fails: 'bootstrap data already found and encrypted with different token' }
    writeDisk(node, { ...disk, token: config.token })
    return 'runs'
  }
  // Its data is gone, or its member was removed while it was off: it does what its configuration says.
  if (config.place === 'join') return join(world, node, config)
  return begin(world, node, config, disk.etcd === undefined ? disk.ca : OUR_CA)
}

/** Without etcd: the data is in a file, which an empty disk does not have, or in a database elsewhere. */
function startWithout(world: World, node: NodeState, config: NodeConfig, disk: Disk): Start {
  if (config.token !== world.token) return { fails: 'bootstrap data already found and encrypted with different token' }
  if (world.datastore === 'sqlite' && disk.ca !== OUR_CA) return { fails: 'its data is gone' }
  writeDisk(node, { ca: OUR_CA, token: config.token })
  return 'runs'
}

function begin(world: World, node: NodeState, config: NodeConfig, files: string): Start {
  const member = `m-${node.name}`
  if (world.begun) {
    // The same ids as the first time: etcd makes them of peer address and token.
    const ca = files === 'none' ? `${node.name}-of-its-own`.padEnd(64, 'x') : files
    writeDisk(node, { ca, etcd: { cluster: 'alone', member }, token: config.token })
    return 'runs'
  }
  world.begun = true
  world.token = config.token
  world.members = [{ id: member, name: memberName(node), node: node.name, learner: false }]
  writeDisk(node, { ca: files === 'none' ? OUR_CA : files, etcd: { cluster: 'ours', member }, token: config.token })
  return 'runs'
}

function join(world: World, node: NodeState, config: NodeConfig): Start {
  const { held, voters, up } = votes(world)
  if (!held) return 'waits'
  if (config.token !== world.token) return { fails: 'failed to validate token' }
  if (world.members.some((member) => member.node === node.name)) return { fails: 'duplicate node name found' }
  if (world.members.some(({ learner }) => learner) || up < voters) return 'waits'
  if (isRejected(world, node)) return { fails: 'node password rejected' }
  node.joins += 1
  const member = { id: `m-${node.name}-${node.joins}`, name: memberName(node), node: node.name, learner: true }
  world.members.push(member)
  writeDisk(node, { ca: OUR_CA, etcd: { cluster: 'ours', member: member.id }, token: world.token })
  return 'runs'
}

function startAgent(world: World, node: NodeState, config: NodeConfig): Start {
  if (!votes(world).held) return 'waits'
  if (isRejected(world, node)) {
    node.failure = 'Node password rejected'
    return 'waits'
  }
  const known = seenDisk(node).ca === OUR_CA
  if (!known && !world.joinTokens.includes(config.token)) {
    node.failure = 'token is not valid'
    return 'waits'
  }
  writeDisk(node, { ca: OUR_CA })
  return 'runs'
}

function isRejected(world: World, node: NodeState): boolean {
  const password = world.passwords[node.name]
  return password !== undefined && password !== node.birth
}

function memberName({ name, joins }: NodeState): string {
  return `${name}-${joins.toString(16).padStart(8, '0')}`
}

/** The kubelet of a node that runs in our cluster reports, and registers where its Node is gone. */
function report(world: World, node: NodeState): void {
  if (!answers(world, node) || node.service !== 'running' || node.running === undefined) return
  const { etcd } = seenDisk(node)
  const server = node.unit === 'server'
  const inEtcd = world.datastore === 'etcd'
  if (server && inEtcd && etcd?.cluster !== 'ours') return
  const member = world.members.find(({ id }) => id === etcd?.member)
  if (server && inEtcd && (member === undefined || member.learner)) return
  const known = world.kubes[node.name]
  if (known === undefined && node.registered === true) return
  const starts = node.registered !== true
  node.registered = true
  const { labels, taints } = node.running
  const kube = known ?? {
    name: node.name,
    version: node.running.version,
    createdMs: world.nowMs,
    ready: true,
    readySinceMs: world.nowMs,
    seenMs: world.nowMs,
    unschedulable: false,
    server,
    annotations: {},
    labels: {},
    taints,
    args: { labels, taints },
    edits: 0,
  }
  // K3s adds the labels of its configuration whenever it starts, takes none away, and sets taints on a new Node only.
  if (starts) Object.assign(kube, { labels: { ...kube.labels, ...labels }, args: { labels, taints }, server })
  world.passwords[node.name] ??= node.birth
  Object.assign(kube, { seenMs: world.nowMs, version: node.running.version, etcdName: member?.name })
  if (!kube.ready) turn(world, kube, true)
  world.kubes[node.name] = kube
  if (!server) node.storage = true
}

function turn(world: World, kube: KubeNodeState, ready: boolean): void {
  Object.assign(kube, { ready, readySinceMs: world.nowMs })
}

/** K3s removes the member that it noted on the Node. */
function removeNamed(world: World, kube: KubeNodeState): void {
  const member = world.members.find(({ name }) => name === kube.etcdName)
  if (member !== undefined && !remove(world, member)) return
  delete kube.annotations['etcd.k3s.cattle.io/remove']
  if (kube.etcdName !== undefined) kube.annotations['etcd.k3s.cattle.io/removed-node-name'] = kube.etcdName
  kube.etcdName = undefined
}

/** etcd refuses a removal after which too few voters would be up. */
export function remove(world: World, member: Member): boolean {
  if (!votes(world).held) return false
  const rest = world.members.filter((other) => other !== member)
  const voters = rest.filter(({ learner }) => !learner)
  const up = voters.filter((other) => isUp(world, other)).length
  if (!member.learner && up <= Math.floor(voters.length / 2)) return false
  world.members = rest
  return true
}

/** The API deletes a Node: its controller removes the member that belongs to it. */
export function deleteNode(world: World, name: string): void {
  const kube = world.kubes[name]
  if (kube === undefined) return
  const member = world.members.find((one) => one.name === kube.etcdName)
  if (member !== undefined && kube.annotations['etcd.k3s.cattle.io/removed-node-name'] === undefined)
    remove(world, member)
  delete world.kubes[name]
  delete world.passwords[name]
  world.pods = world.pods.filter((pod) => pod.node !== name)
}

/** The API is asked to delete a pod, or to evict it. */
export function endPod(world: World, name: string): void {
  const pod = world.pods.find((one) => one.name === name)
  if (pod?.hangs === true) pod.goes = true
  else world.pods = world.pods.filter((one) => one !== pod)
}

export function boot(world: World, node: NodeState): void {
  Object.assign(node, { on: true, bootedMs: world.nowMs + 30_000 })
  if (node.service !== 'absent')
    Object.assign(node, { service: 'starting', sinceMs: world.nowMs + 30_000, running: undefined })
}

export function powerOff(node: NodeState): void {
  node.on = false
  node.running = undefined
  if (node.job?.state === 'running') node.job = undefined
}

const WAITS = [30_000, 30_000, 120_000, 330_000, 660_000, 660_000] as const

/** The time from one pass to the next: a tick while something happens, then past each limit that croft knows. */
export function waitAfter(quiet: number): number {
  return WAITS[Math.min(quiet, WAITS.length - 1)] ?? 660_000
}
