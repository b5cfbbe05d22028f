import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterSurroundings } from '../../drivers/cluster-port.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import type { ResourceRecord } from '../../model/record.ts'
import type { Change } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import type { SshTarget } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import {
  cleanK3s,
  clusterSpec,
  member,
  NOTHING,
  NOW,
  type NodeTurn,
  nodeSpec,
  observedCluster,
} from '../../plan/clusters/testing/fixture.ts'
import {
  CONNECTION,
  estateOf,
  FAKE_RULES,
  guest,
  ledgerWith,
  machine,
  ORIGIN,
  step,
  worldWith,
} from '../../plan/testing/fixture.ts'
import { observeClusters } from './observe.ts'
import type { ClusterSessions } from './sessions.ts'

const BOX = {} as SshTarget
const declaration: ClusterDeclaration = {
  key: 'Cluster/homelab',
  name: 'homelab',
  estate: 'default',
  spec: clusterSpec('', { servers: ['s1', 's2'].map((name) => nodeSpec(name, { machine: { host: `${name}-box` } })) }),
  artifacts: [],
  hosts: new Map([
    ['s1-box', BOX],
    ['s2-box', BOX],
  ]),
  otherHosts: new Map([['old-box', BOX]]),
  policy: DEFAULT_POLICY,
  origin: ORIGIN,
  generation: 'g',
}

const RECORD: ResourceRecord = {
  key: declaration.key,
  uid: 'u',
  connection: '',
  type: 'cluster',
  generation: 'g',
  policy: DEFAULT_POLICY,
  conditions: [],
  createdMs: 0,
  status: 'Ready',
}

/** Returns the result of a pass over this observation, and the boxes whose shells it requested. */
async function looked(observed: ObservedCluster, details: Readonly<Record<string, string>> = {}) {
  const asked: (readonly string[])[] = []
  const sessions = {
    of: async () => ({ observe: async () => observed }),
    shellsOf: async (_: ClusterDeclaration, more: readonly string[]) => {
      asked.push(more)
      return new Map()
    },
  } as unknown as ClusterSessions
  const [found] = await observeClusters(
    {
      estate: estateOf([], { clusters: [declaration] }),
      worlds: new Map(),
      ledger: ledgerWith({ known: [{ ...RECORD, details }] }),
      rules: new Map(),
      nowMs: NOW,
    },
    new Map(),
    { store: { getValue: async () => undefined }, sessions },
    new AbortController().signal,
  )
  assert.ok(found !== undefined)
  return { names: found.look.observed.nodes.map(({ name }) => name), cleared: found.look.cleared, asked: asked.flat() }
}

test('a machine that Git names no more is a node while etcd has a member of its name, whoever else is in etcd', async () => {
  const gone = observedCluster('s1 s2 s3', { s3: { ...NOTHING, kube: 'absent' } })
  const with3 = { ...gone, members: [member('s1'), member('s2'), member('s3')] }
  assert.deepEqual((await looked(with3)).names, ['s1', 's2', 's3'])
  const without = { ...gone, members: [member('s1'), member('s2')] }
  assert.deepEqual((await looked(without)).names, ['s1', 's2'])
})

test('a former node is looked for on a box that is still declared and is no node now, and nowhere else', async () => {
  const boxes = { boxes: 's1=s1-box s3=old-box s4=sold-box' }
  const there: Readonly<Record<string, NodeTurn>> = { s3: { kube: 'absent' } }
  const { names, asked, cleared } = await looked(
    { ...observedCluster('s1 s2 s3', there), members: [member('s1'), member('s2')] },
    boxes,
  )
  assert.deepEqual(asked, ['old-box'])
  assert.deepEqual(names, ['s1', 's2', 's3'], 'it holds data of this cluster')
  assert.deepEqual(cleared, [])
  const off = { s3: { kube: 'absent', k3s: cleanK3s } } as const
  const after = await looked({ ...observedCluster('s1 s2 s3', off), members: [member('s1'), member('s2')] }, boxes)
  assert.deepEqual([after.names, after.cleared], [['s1', 's2'], ['s3']])
})

test('a machine that needs a restart says for which fields; where no field names one, for the first that differs', async () => {
  const node = machine('s1', { vmid: 100 })
  const wants = async (changes: readonly Partial<Change>[], disruption: Step['disruption'] = 'restart') => {
    const rules: Rules = {
      ...FAKE_RULES,
      diff: () => changes as readonly Change[],
      updateSteps: () => [step('configure', '100', { disruption })],
    }
    let told: ClusterSurroundings | undefined
    const observe = async (surroundings: ClusterSurroundings) => {
      told = surroundings
      return observedCluster('s1')
    }
    const sessions = { of: async () => ({ observe }), shellsOf: async () => new Map() } as unknown as ClusterSessions
    const cluster = { ...declaration, spec: clusterSpec('s1'), hosts: new Map() }
    await observeClusters(
      {
        estate: estateOf([node], { clusters: [cluster], connections: [CONNECTION] }),
        worlds: new Map([['default', worldWith([guest(100, { of: node.key })])]]),
        ledger: ledgerWith(),
        rules: new Map([['fake', rules]]),
        nowMs: NOW,
      },
      new Map(),
      { store: { getValue: async () => undefined }, sessions },
      new AbortController().signal,
    )
    return told?.nodes.get('s1')?.machine.wantsRestart
  }
  const live = { path: 'tags', effect: 'live' } as const
  assert.equal(await wants([]), undefined)
  assert.equal(await wants([live], 'none'), undefined)
  assert.equal(await wants([live]), 'tags')
  assert.equal(await wants([live, { path: 'memory', effect: 'restart' }]), 'memory')
  const both = [{ path: 'memory', effect: 'restart' }, live, { path: 'cpu', effect: 'restart' }] as const
  assert.equal(await wants(both), 'memory, cpu')
  assert.equal(await wants([{ path: 'disk', effect: 'replace' }]), undefined)
})
