import { createHash } from 'node:crypto'
import { NODE_PROGRAM } from '../../src/k3s/node-program.ts'
import { NODE_PROGRAM_TEXT } from '../../src/k3s/programs.ts'
import { type Ran, type Shell, ShellFailure } from '../../src/lib/shell.ts'
import type { Effects } from './effects.ts'
import {
  answers,
  type Disk,
  isUp,
  type NodeConfig,
  type NodeState,
  OUR_CA,
  type Role,
  remove,
  seenDisk,
  votes,
  type World,
  writeDisk,
} from './world.ts'

/** The program on one node, as the driver asks it: facts as raw JSON, and verbs that change the node. */
export function nodeShell(world: World, node: NodeState, effects: Effects): Shell {
  const reach = () => {
    if (!answers(world, node)) throw new ShellFailure('no', 'unreachable', `${node.name} does not answer`)
  }
  const carry = (verb: string, change: () => void, forbids?: () => string | undefined): Ran => {
    const arrives = effects.carry(`${verb} ${node.name}`, change, forbids)
    if (!arrives) throw new ShellFailure('maybe', 'timeout', `no answer from ${node.name}`)
    return said({ ok: true })
  }
  return {
    async run(argv, options = {}) {
      reach()
      const [program, verb = '', ...words] = argv
      if (program === '/bin/sh') return said(factsOf(world, node))
      if (program !== NODE_PROGRAM) return { code: 127, stdout: '', stderr: `no such program: ${program}` }
      if (verb === 'facts') return said(factsOf(world, node))
      const input: unknown = options.input === undefined ? undefined : JSON.parse(String(options.input))
      const refusal = refusalOf(world, node, verb, words)
      if (refusal !== undefined) return said({ ok: false, error: refusal })
      return carry(
        verb,
        () => act(world, node, verb, words, input),
        () => forbidden(world, node, verb),
      )
    },
    async readFile(path) {
      reach()
      if (path === NODE_PROGRAM) return Buffer.from(NODE_PROGRAM_TEXT)
      const text = fileText(node, path)
      return text === undefined ? undefined : Buffer.from(text)
    },
    async writeFile() {
      reach()
    },
    async close() {},
  }
}

function said(value: unknown): Ran {
  return { code: 0, stdout: `${JSON.stringify(value)}\n`, stderr: '' }
}

function fileText(node: NodeState, path: string): string | undefined {
  const disk = seenDisk(node)
  const token = (password: string | undefined) =>
    password === undefined ? undefined : `K10${disk.ca}::server:${password}\n`
  if (path === '/var/lib/rancher/k3s/server/token') return token(disk.token)
  if (path === '/etc/rancher/k3s/token') return token(node.config?.token)
  return undefined
}

function refusalOf(world: World, node: NodeState, verb: string, [word = '']: readonly string[]): string | undefined {
  if (node.job?.state === 'running' && ['install', 'wipe', 'snapshot'].includes(verb))
    return `${node.job.name} is under way`
  if (verb === 'wipe' && (node.service === 'running' || node.service === 'starting')) return undefined
  if (verb === 'rotate-token' && (node.service !== 'running' || !votes(world).held))
    return 'the token was not rotated: the API does not answer'
  if (verb !== 'remove-member') return undefined
  const member = world.members.find(({ id }) => id === word)
  if (seenDisk(node).etcd?.cluster !== 'ours' || !votes(world).held) return 'etcd does not answer'
  return member === undefined ? 'no such member' : undefined
}

/** Returns why croft must never do this, despite its beliefs. */
function forbidden(world: World, node: NodeState, verb: string): string | undefined {
  const { etcd } = seenDisk(node)
  const votesHere = etcd?.cluster === 'ours' && world.members.some(({ id, learner }) => id === etcd.member && !learner)
  if (verb === 'wipe' && votesHere) return `the disk of ${node.name} holds a voter, and is wiped`
  if (verb === 'wipe' || verb === 'stop') {
    const kube = world.kubes[node.name]
    const stays = world.pods.some((pod) => pod.node === node.name && !pod.goes)
    if (kube?.ready === true && !kube.unschedulable && stays) return `the pods of ${node.name} were not asked to leave`
  }
  if (verb === 'wipe' && node.service === 'running') return `K3s runs on ${node.name}, and is wiped`
  if (verb === 'start' && node.config?.place === 'init' && etcd === undefined && world.begun)
    return `a second cluster is begun on ${node.name}`
  return undefined
}

function act(world: World, node: NodeState, verb: string, [word = '']: readonly string[], input: unknown): void {
  const { nowMs } = world
  const job = (name: 'install' | 'wipe' | 'snapshot', what: string, beside = false) => {
    node.job = { name, what, beside, sinceMs: nowMs, state: 'running' }
  }
  switch (verb) {
    case 'put':
      put(node, input as Put)
      return
    case 'install': {
      const { version, beside } = input as { readonly version: string; readonly beside?: true }
      job('install', version, beside === true)
      return
    }
    case 'start':
      node.unit = (input as { readonly role: Role }).role
      begin(node, nowMs)
      return
    case 'restart':
      if (word !== '' && node.fetched === word) Object.assign(node, { program: word, fetched: undefined })
      begin(node, nowMs)
      return
    case 'stop':
      Object.assign(node, { service: 'stopped', sinceMs: nowMs, running: undefined })
      return
    case 'wipe':
      Object.assign(node, { service: 'stopped', sinceMs: nowMs, running: undefined })
      job('wipe', '')
      return
    case 'snapshot':
      job('snapshot', word)
      return
    case 'rotate-token': {
      const { token } = input as { readonly token: string }
      world.token = token
      writeDisk(node, { ...seenDisk(node), token })
      return
    }
    case 'remove-member': {
      const member = world.members.find(({ id }) => id === word)
      if (member !== undefined) remove(world, member)
      return
    }
    default:
      throw new Error(`the model knows no verb ${verb}`)
  }
}

function begin(node: NodeState, nowMs: number): void {
  Object.assign(node, { service: 'starting', sinceMs: nowMs, running: undefined, failure: undefined })
}

interface PutFile {
  readonly path: string
  readonly base64: string
}

interface Put {
  readonly files: readonly PutFile[]
  readonly absent?: readonly string[]
}

const OWN = /^\/etc\/rancher\/k3s\/(config\.yaml|token|agent-token)$|^\/var\/lib\/rancher\/k3s\/server\/tls\//

function put(node: NodeState, { files, absent = [] }: Put): void {
  for (const { path, base64 } of files) if (!OWN.test(path)) node.files[path] = base64
  for (const path of absent) delete node.files[path]
  const textOf = (path: string) => {
    const file = files.find((one) => one.path === path)
    return file === undefined ? undefined : Buffer.from(file.base64, 'base64').toString('utf8')
  }
  const config = textOf('/etc/rancher/k3s/config.yaml')
  const server = textOf('/etc/rancher/k3s/token')
  const agent = textOf('/etc/rancher/k3s/agent-token')
  const token = (server ?? agent)?.trim().split(/[:.]/).at(-1)
  if (config !== undefined) {
    const role = config.includes('"agent-token-file"') ? 'server' : 'agent'
    node.config = {
      role,
      place: config.includes('"cluster-init": true') ? 'init' : 'join',
      hash: /^# croft: ([0-9a-f]+)\n/.exec(config)?.[1],
      token: token ?? node.config?.token ?? '',
      labels: Object.fromEntries(listIn(config, 'node-label').map((label) => label.split('='))),
      taints: listIn(config, 'node-taint'),
      refused: config.includes('no-such-flag'),
    }
  } else if (node.config !== undefined && token !== undefined) node.config = { ...node.config, token }
  const disk = seenDisk(node)
  if (files.some(({ path }) => path.startsWith('/var/lib/rancher/k3s/server/tls')) && disk.ca === 'none')
    writeDisk(node, { ...disk, ca: OUR_CA })
}

/** A list of config.yaml, which croft writes as JSON, a key to a line. */
function listIn(config: string, key: string): readonly string[] {
  const line = config.split('\n').find((one) => one.startsWith(`"${key}": `))
  return line === undefined ? [] : (JSON.parse(line.slice(key.length + 4)) as readonly string[])
}

function hashesOf(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const hash = (base64: string) => createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex')
  return Object.fromEntries(Object.entries(files).map(([path, base64]) => [path, hash(base64)]))
}

function datastoreOf({ datastore }: World, { unit }: NodeState, { ca, etcd }: Disk): { readonly datastore?: string } {
  if (datastore !== 'etcd') return unit === 'server' && ca === OUR_CA ? { datastore } : {}
  return etcd === undefined ? {} : { datastore }
}

function factsOf(world: World, node: NodeState): unknown {
  const disk: Disk = seenDisk(node)
  const config: NodeConfig | undefined = node.config
  const etcd = node.service === 'running' ? etcdOf(world, node, disk) : undefined
  return {
    machineId: `id-${node.name}-${node.birth - node.wipes}`,
    hostname: node.name,
    bootId: String(node.bootedMs),
    clockMs: world.nowMs + world.skewMs,
    architecture: 'x86_64',
    cloudInit: 'done',
    service: node.service,
    serviceSinceMs: node.sinceMs + world.skewMs,
    wipes: node.wipes,
    data: disk.ca,
    mixedCa: false,
    gates: [],
    snapshots: [],
    files: hashesOf(node.files),
    ...(config === undefined ? {} : { configHash: config.hash }),
    ...(node.unit === undefined ? {} : { role: node.unit }),
    ...(node.program === undefined ? {} : { version: node.program }),
    ...(node.fetched === undefined ? {} : { fetched: node.fetched }),
    ...(node.failure === undefined ? {} : { failure: node.failure }),
    ...datastoreOf(world, node, disk),
    ...(etcd === undefined ? {} : { etcd }),
    ...(node.job === undefined
      ? {}
      : { job: { name: node.job.name, state: node.job.state, sinceMs: node.job.sinceMs + world.skewMs } }),
  }
}

/** Its own etcd lists its members where it has a majority. A learner does not answer. */
function etcdOf(world: World, node: NodeState, { etcd }: Disk): unknown {
  if (etcd === undefined) return undefined
  if (etcd.cluster === 'alone')
    return {
      members: [{ id: etcd.member, name: `${node.name}-00000000`, learner: false }],
      self: etcd.member,
      leader: etcd.member,
    }
  const own = world.members.find(({ id }) => id === etcd.member)
  if (own === undefined || own.learner || !votes(world).held) return undefined
  const leader = world.members.find((member) => !member.learner && isUp(world, member))
  return {
    members: world.members.map(({ id, name, learner }) => ({ id, name, learner })),
    self: own.id,
    leader: leader?.id,
  }
}
