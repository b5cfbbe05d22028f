import { createHash } from 'node:crypto'
import type { Access } from '../../src/drivers/k3s/access.ts'
import type { Asked, KubernetesClient } from '../../src/kubernetes/client.ts'
import { isRecord } from '../../src/kubernetes/objects.ts'
import type { Effects } from './effects.ts'
import { deleteNode, endPod, type KubeNodeState, type Pod, votes, type World } from './world.ts'

type Obj = Readonly<Record<string, unknown>>

const SILENT = { is: 'silence', sent: 'no', code: 'ECONNREFUSED', message: 'the API does not answer' } as const
const LOST = { is: 'silence', sent: 'maybe', code: 'ECONNRESET', message: 'no answer came' } as const

/** The API of the cluster as croft reaches it: it answers while etcd has its majority. */
export function modelAccess(world: World, effects: Effects): Access {
  const client = modelClient(world, effects)
  return {
    async nodes() {
      const nodes = Object.values(world.kubes).map((kube) => objectOf(world, kube))
      return votes(world).held ? { api: 'yes', nodes } : { api: 'no', message: SILENT.message }
    },
    client: () => client,
    learn() {},
    async close() {},
  }
}

function modelClient(world: World, effects: Effects): KubernetesClient {
  const up = () => votes(world).held
  const nodeAt = (path: string) => world.kubes[/^\/api\/v1\/nodes\/([^/]+)$/.exec(path)?.[1] ?? '']
  const write = (text: string, change: () => void, forbids?: () => string | undefined): Asked<Obj> => {
    if (!up()) return SILENT
    return effects.carry(text, change, forbids) ? { is: 'answer', value: {} } : LOST
  }
  const list = (path: string): readonly Obj[] => {
    if (path.endsWith('/secrets'))
      return Object.keys(world.passwords).map((name) => ({ metadata: { name: `${name}.node-password.k3s` } }))
    if (path.endsWith('/etcdsnapshotfiles')) return world.snapshots.map((snapshot) => snapshotObject(world, snapshot))
    if (path === '/api/v1/pods') return world.pods.map(podObject)
    return []
  }
  const unused = async (): Promise<Asked<never>> => {
    throw new Error('the model answers no such call')
  }
  return {
    async get(path) {
      if (!up()) return SILENT
      const kube = nodeAt(path)
      return kube === undefined ? missing(path) : { is: 'answer', value: objectOf(world, kube) }
    },
    async list(path, { fieldSelector } = {}) {
      const only = fieldSelector?.replace('spec.nodeName=', '')
      const found = list(path).filter(({ spec }) => only === undefined || (isRecord(spec) && spec.nodeName === only))
      return up() ? { is: 'answer', value: found } : SILENT
    },
    async create(_path, body, doing) {
      const { stringData } = body
      const token = isRecord(stringData) ? String(stringData['token-secret']) : ''
      return write(doing, () => {
        if (!world.joinTokens.includes(token)) world.joinTokens.push(token)
      })
    },
    async merge(path, patch, doing) {
      const kube = nodeAt(path)
      if (!up()) return SILENT
      if (kube === undefined) return missing(path)
      return write(
        doing,
        () => merge(kube, patch),
        () => doneAgain(world, kube.name, patch),
      )
    },
    async delete(path, doing) {
      const kube = nodeAt(path)
      const password = /secrets\/(.+)\.node-password\.k3s$/.exec(path)?.[1]
      const pod = /\/pods\/(.+)$/.exec(path)?.[1]
      return write(doing, () => {
        if (pod !== undefined) endPod(world, pod)
        if (kube !== undefined) deleteNode(world, kube.name)
        if (password !== undefined) delete world.passwords[password]
      })
    },
    listFrom: unused,
    apply: unused,
    applyAs: unused,
    async evict(_namespace, name) {
      return write(`evict ${name}`, () => endPod(world, name))
    },
    text: unused,
    async close() {},
  }
}

function missing(path: string): Asked<never> {
  const refusal = { reason: 'NotFound', meaning: 'stalled', message: `${path} is not there` } as const
  return { is: 'error', status: 404, body: {}, refusal }
}

/** The order to replace a node was for the machine that it had then. */
function doneAgain({ git, nodes, orders }: World, name: string, patch: Obj): string | undefined {
  const marks = JSON.stringify(patch)
  const isDone = orders.some((order) => order.node === name && (nodes[name]?.createdMs ?? 0) > order.atMs)
  if (!isDone || git.method !== 'inPlace' || !/croft\.dev\/work.*purpose\\":\\"replace/.test(marks)) return undefined
  return `the order to replace ${name} is done, and is done again`
}

function merge(kube: KubeNodeState, patch: Obj): void {
  const { metadata, spec } = patch
  const annotations = isRecord(metadata) && isRecord(metadata.annotations) ? metadata.annotations : {}
  for (const [key, value] of Object.entries(annotations)) {
    if (value === null) delete kube.annotations[key]
    else kube.annotations[key] = typeof value === 'string' ? value : JSON.stringify(value)
  }
  const labels = isRecord(metadata) && isRecord(metadata.labels) ? metadata.labels : {}
  for (const [key, value] of Object.entries(labels)) {
    if (value === null) delete kube.labels[key]
    else if (typeof value === 'string') kube.labels[key] = value
  }
  if (isRecord(spec) && Array.isArray(spec.taints)) kube.taints = spec.taints.map(textOfTaint)
  if (isRecord(spec) && 'unschedulable' in spec) kube.unschedulable = spec.unschedulable === true
}

function textOfTaint(taint: unknown): string {
  const { key, value, effect } = taint as { readonly key: string; readonly value?: string; readonly effect: string }
  return `${key}${value === undefined ? '' : `=${value}`}:${effect}`
}

function taintOf(text: string): Obj {
  const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(text) ?? []
  return { key, ...(value === undefined ? {} : { value }), effect }
}

function podObject({ name, node, hangs, goes }: Pod): Obj {
  const going = goes ? { deletionTimestamp: '2027-01-15T08:00:00Z' } : {}
  const metadata = { namespace: 'default', name, ...going, ...(hangs ? { finalizers: ['example.org/stays'] } : {}) }
  return { metadata, spec: { nodeName: node }, status: { phase: 'Running' } }
}

/** As K3s notes how it was started. */
function argsOf({ args, server }: KubeNodeState): string {
  const labels = Object.entries(args.labels).flatMap(([key, value]) => ['--node-label', `${key}=${value}`])
  const taints = args.taints.flatMap((taint) => ['--node-taint', taint])
  return JSON.stringify([server ? 'server' : 'agent', ...labels, ...taints])
}

function objectOf(world: World, kube: KubeNodeState): Obj {
  const node = world.nodes[kube.name]
  const member = world.members.find(({ name }) => name === kube.etcdName)
  const conditions = [
    {
      type: 'Ready',
      status: kube.ready ? 'True' : 'Unknown',
      reason: kube.ready ? 'KubeletReady' : 'NodeStatusUnknown',
      lastTransitionTime: iso(kube.readySinceMs + world.skewMs),
    },
    ...(kube.server ? [{ type: 'EtcdIsVoter', ...voterCondition(kube.ready, member?.learner) }] : []),
  ]
  return {
    metadata: {
      name: kube.name,
      creationTimestamp: iso(kube.createdMs + world.skewMs),
      resourceVersion: String(kube.edits),
      labels: { ...kube.labels, ...(kube.server ? { 'node-role.kubernetes.io/control-plane': 'true' } : {}) },
      annotations: {
        ...kube.annotations,
        'k3s.io/node-args': argsOf(kube),
        ...(kube.etcdName === undefined ? {} : { 'etcd.k3s.cattle.io/node-name': kube.etcdName }),
      },
    },
    spec: { unschedulable: kube.unschedulable, taints: kube.taints.map(taintOf) },
    status: {
      conditions,
      nodeInfo: {
        kubeletVersion: kube.version,
        architecture: 'amd64',
        machineID: node === undefined ? '' : `id-${kube.name}-${node.birth - node.wipes}`,
      },
      addresses: [{ type: 'InternalIP', address: addressOf(kube.name) }],
    },
  }
}

/** `10.0.0.3` of s3, `10.0.1.1` of a1. */
export function addressOf(name: string): string {
  return `10.0.${name.startsWith('a') ? 1 : 0}.${name.slice(1)}`
}

function voterCondition(ready: boolean, learner: boolean | undefined): Obj {
  if (learner === undefined) return { status: 'False', reason: 'NotAMember' }
  if (!ready) return { status: 'False', reason: 'Unhealthy' }
  return learner ? { status: 'False', reason: 'MemberIsLearner' } : { status: 'True' }
}

function snapshotObject(world: World, { name, node, atMs }: World['snapshots'][number]): Obj {
  return {
    metadata: {
      name: `${node}-${name}`,
      annotations: { 'etcd.k3s.cattle.io/snapshot-token-hash': hashOf(world.token) },
    },
    spec: { snapshotName: `${name}-${node}`, nodeName: node, location: `file:///${name}` },
    status: { creationTime: iso(atMs + world.skewMs), readyToUse: true, size: '1000' },
  }
}

/** As K3s writes it. */
function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 12)
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
