import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterSpec } from '../model/cluster.ts'
import { overwriting } from '../model/destruction.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { Action, Doing, Plan, PlanEntry } from '../model/plan.ts'
import { type ClusterVerb, harmOf, type Step } from '../model/step.ts'
import { coordinate } from './clusters/coordinate.ts'
import { clusterSpec, NOW, observedCluster } from './clusters/testing/fixture.ts'
import { disruptionOf } from './disruption.ts'

const step = (verb: Step['verb'], disruption: Step['disruption']): Step => ({
  ...harmOf({ verb, disruption, ...overwriting('vm 1', []) }),
  summary: `${verb} it`,
  lane: 'rest',
  host: 'a',
  queues: [],
  call: { method: 'POST', path: '/x', params: {} },
})
const doing = (what: Doing['do'], ...steps: readonly Step[]): Doing & { readonly reason: string } =>
  ({ do: what, externalId: '1', host: 'a', changes: [], steps, reason: '' }) as Doing & { readonly reason: string }
const entry = (action: Action, type: PlanEntry['type'] = 'vm', key = 'Machine/web'): PlanEntry => ({
  key,
  uid: 'u',
  connection: 'c',
  type,
  action,
})
const RESTART = [step('shutdown', 'restart'), step('start', 'restart')]

function look(
  names: string,
  more: Partial<ReturnType<typeof clusterSpec>> = {},
  verbs: readonly [ClusterVerb, string][] = [],
) {
  const spec = { ...clusterSpec(names), ...more }
  const observed = observedCluster(names)
  const decision = coordinate(spec, observed, NOW)
  const lost = (verb: ClusterVerb, node: string) =>
    verb === 'wipe-k3s' || verb === 'destroy-machine' ? overwriting(node, []) : {}
  const steps = verbs.map(
    ([verb, node]) => ({ verb, node, summary: '', ...lost(verb, node) }) as unknown as Step<'cluster'>,
  )
  return {
    declaration: { spec, key: 'Cluster/home' } as ClusterPlan['declaration'],
    observed,
    decision: verbs.length === 0 ? decision : { ...decision, steps },
  }
}

/** Agents, or servers if there are none, that lack the labels and taints declared for them. */
function labelled(names: string, more: Partial<ClusterSpec['agents'][number]>): ClusterPlan {
  const plain = clusterSpec(names)
  const change = (node: ClusterSpec['agents'][number]) => ({ ...node, ...more })
  const role = plain.agents.length === 0 ? 'servers' : 'agents'
  const spec = { ...plain, [role]: plain[role].map(change) }
  const labels = { labels: {}, taints: [], started: { labels: {}, taints: [] } }
  const observed = observedCluster(
    names,
    Object.fromEntries(names.split(' ').map((name) => [name, { kube: { labels } }])),
  )
  const declaration = { spec, key: 'Cluster/home' } as ClusterPlan['declaration']
  return { declaration, observed, decision: coordinate(spec, observed, NOW) }
}

const CASES: readonly [
  what: string,
  plan: Partial<Plan>,
  worst: string,
  destroyed: number,
  texts: readonly string[],
][] = [
  ['nothing', { entries: [entry({ do: 'nothing' })] }, 'none', 0, []],
  ['a new machine', { entries: [entry(doing('create', step('create', 'none')))] }, 'none', 0, []],
  [
    'a change that restarts',
    { entries: [entry(doing('update', step('configure', 'none'), ...RESTART))] },
    'restart',
    0,
    ['Machine/web restarts, about 2 min away'],
  ],
  [
    'what is only shut down does not come back',
    { entries: [entry(doing('update', step('start', 'none'), step('shutdown', 'restart')))] },
    'outage',
    0,
    ['Machine/web is shut down and stays off'],
  ],
  [
    'the same after a wait',
    {
      entries: [entry({ do: 'wait', reason: '', message: '', lookAgainMs: 1, next: doing('update', ...RESTART) })],
    },
    'restart',
    0,
    ['Machine/web restarts, about 2 min away'],
  ],
  [
    'what is held or refused is not done',
    {
      entries: [
        entry({ do: 'hold', guard: 'g', held: doing('delete', step('delete', 'data-loss')), reason: '', allow: '' }),
        entry({ do: 'refuse', guard: 'g', reason: '', allow: '' }),
      ],
    },
    'none',
    0,
    [],
  ],
  [
    'a machine that goes',
    { entries: [entry(doing('delete', step('delete', 'data-loss')))] },
    'data-loss',
    0,
    ['Machine/web is deleted with its disks'],
  ],
  [
    'a machine that is made anew',
    { entries: [entry(doing('replace', step('delete', 'data-loss')))] },
    'data-loss',
    0,
    ['Machine/web is destroyed with its disks and created again, about 10 min away'],
  ],
  [
    'a container that goes, and one that is made anew',
    {
      entries: [
        entry(doing('delete', step('delete', 'data-loss')), 'container', 'Machine/dns'),
        entry(doing('replace', step('delete', 'data-loss')), 'container', 'Machine/nas'),
      ],
    },
    'data-loss',
    0,
    [
      'Machine/dns is deleted with its disks',
      'Machine/nas is destroyed with its disks and created again, about 10 min away',
    ],
  ],
  [
    'a setting whose change loses data',
    { entries: [entry(doing('update', step('delete', 'data-loss')), 'setting', 'Pool/x')] },
    'data-loss',
    0,
    ['Pool/x loses data: delete it'],
  ],
  ['a cluster as declared', { clusters: [look('s1 s2 s3')] }, 'none', 0, []],
  [
    'an upgrade of three servers and an agent',
    { clusters: [look('s1 s2 s3 a1', { version: 'v1.34.4+k3s1' })] },
    'restart',
    0,
    [
      'Cluster/home 4 nodes drained and restarted, one after the other with 10 min of soak between them, 1 of 3 votes away at a time, about 50 min in all',
    ],
  ],
  [
    'an upgrade of a single server',
    { clusters: [look('s1', { version: 'v1.34.4+k3s1' })] },
    'outage',
    0,
    [
      'Cluster/home 1 node drained and restarted, 1 of 1 vote away at a time, its API stops meanwhile, about 5 min in all',
    ],
  ],
  ['a label on every node', { clusters: [labelled('s1 s2 s3', { labels: { room: 'attic' } })] }, 'none', 0, []],
  [
    'a taint that evicts pods, on two agents',
    { clusters: [labelled('s1 s2 s3 a1 a2', { taints: ['gpu=db:NoExecute'] })] },
    'restart',
    0,
    [
      'Cluster/home 2 nodes (a1, a2) emptied of the pods that do not tolerate a new NoExecute taint, one after the other, about 12 min in all',
    ],
  ],
  [
    'two nodes that are wiped',
    {
      clusters: [
        look('s1 s2 s3', {}, [
          ['wipe-k3s', 's1'],
          ['wipe-k3s', 's2'],
        ]),
      ],
    },
    'data-loss',
    2,
    ['Cluster/home 2 nodes wiped (s1, s2), 1 of 3 votes away at a time, about 30 min in all'],
  ],
  [
    'a machine that is destroyed for its cluster counts once',
    {
      entries: [entry(doing('replace', step('delete', 'data-loss')), 'vm', 'Machine/s1')],
      clusters: [look('s1 s2 s3', {}, [['destroy-machine', 's1']])],
    },
    'data-loss',
    0,
    [
      'Cluster/home 1 node wiped (s1), 1 of 3 votes away at a time, about 15 min in all',
      'Machine/s1 is destroyed with its disks and created again, about 10 min away',
    ],
  ],
]

for (const [what, plan, worst, destroyed, texts] of CASES)
  test(`[D-06] disruption: ${what}`, () => {
    const found = disruptionOf({ entries: [], notes: [], problems: [], ...plan })
    assert.deepEqual(
      {
        worst: found.worst,
        destroyed: found.destroyed,
        texts: found.items.map(({ subject, text }) => `${subject} ${text}`),
      },
      { worst, destroyed, texts },
    )
  })

test('[D-06] with an upgrade by replacement every node is destroyed', () => {
  const spec = clusterSpec('s1 s2 s3')
  const found = disruptionOf({
    entries: [],
    notes: [],
    problems: [],
    clusters: [look('s1 s2 s3', { version: 'v1.34.4+k3s1', upgrade: { ...spec.upgrade, method: 'replace' } })],
  })
  assert.deepEqual([found.worst, found.destroyed], ['data-loss', 3])
})
