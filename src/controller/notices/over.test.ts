import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusIn } from '../../model/estate-status.ts'
import type { ClusterView, EstateView, ResourceView } from '../../model/estate-view.ts'
import { TROUBLE_SORTS } from '../../model/notification.ts'
import { troublesOf } from '../../model/trouble.ts'
import { isOver } from './over.ts'

type Part = Partial<EstateView>

const NOW = 1_000_000_000
const PASS = { endedMs: 0, tookMs: 0, effects: 0, nextMs: 0 }
const MAIN = { name: 'main', remote: 'r', ref: 'm', commit: 'c' }
const PVE = { name: 'pve', driver: 'proxmox', endpoint: 'https://pve', state: 'ok' } as const
const HOST = { connection: 'pve', name: 'a', online: true, temperatureC: 50 }
const WELL: EstateView = {
  version: 1,
  atMs: NOW,
  sources: [MAIN],
  problems: [],
  connections: [PVE],
  hosts: [HOST],
  resources: [],
  clusters: [],
  drifts: [],
  checks: [],
  pass: PASS,
}

const problem = (file: string, code: string) =>
  ({ code, origin: { file, line: 3, column: 1 }, message: 'm', severity: 'error' }) as const
const INVALID = problem('a.yaml', 'schema')
const OWN_FAILURE = problem('croft, the pass', 'failed')

const check = (passed: 'yes' | 'no' | 'unknown'): Part => ({ checks: [{ name: 'web', passed, output: '', atMs: 0 }] })

function cluster(
  phase: string,
  more: {
    readonly api?: string
    readonly nodes?: object[]
    readonly holds?: object[]
    readonly stopped?: boolean
  } = {},
): Part {
  const { api = 'yes', nodes = [], holds = [], stopped } = more
  const one = {
    name: 'home',
    quorumMargin: phase === 'QuorumLost' ? -1 : 1,
    decision: { phase, nodes, holds, refusals: [], faultTolerance: '' },
    observed: { api, nodes: nodes.map((node) => ({ ...node, role: 'server', kube: 'unknown' })) },
    ...(phase === 'Unknown' ? { unseenSinceMs: 0 } : {}),
    ...(stopped === undefined ? {} : { operation: { name: 'restore', step: 's', sinceMs: 0, stopped } }),
  }
  return { clusters: [one as unknown as ClusterView] }
}
const NODE = (phase: string) => ({ name: 'n', phase, message: '' })
const HELD = { guard: 'certificates', reason: 'r', allow: 'a' }
const REQUEST = { guard: 'request', reason: 'r', allow: 'a' }

function power(more: object): Part {
  const one = { name: 'site', phase: 'On', wanted: { state: 'on' }, hosts: [], holds: [], refusals: [], ...more }
  return { power: [one as unknown as NonNullable<EstateView['power']>[number]] }
}
const ups = (state: string, charge = 80): Part => power({ ups: { name: 'rack', state, charge, levels: [] } })

function resource(
  action: string,
  { ready = 'True', stalled = 'False', conditions = true, paused = false }: { [name: string]: string | boolean } = {},
): Part {
  const condition = (type: string, status: unknown) => ({ type, status, reason: 'R', message: 'm', sinceMs: 0 })
  const one = {
    key: 'VM/a',
    connection: 'pve',
    paused,
    action: { do: action, held: { do: 'delete' } },
    conditions: conditions === true ? [condition('Ready', ready), condition('Stalled', stalled)] : [],
  }
  return { resources: [one as unknown as ResourceView] }
}
const AWAY = { connections: [{ ...PVE, state: 'unreachable' }] } as const
const drift = (action: string): Part => ({
  ...resource(action),
  drifts: [{ key: 'VM/a', field: 'f', declared: '1', observed: '2', sinceMs: 0, policy: 'report' }],
})

/** A trouble, what shows it, what does not show that it is over, and what does. */
const CASES: readonly [id: string, there: Part, unknown: readonly Part[], over: readonly Part[]][] = [
  [
    'source/main',
    { sources: [{ ...MAIN, trouble: 't' }] },
    [{ sources: [{ ...MAIN, trouble: 't', unreachable: true }] }],
    [{}],
  ],
  ['unreachable/main', { sources: [{ ...MAIN, trouble: 't', unreachable: true }] }, [], [{}, { sources: [] }]],
  [
    'approval/main',
    { sources: [{ ...MAIN, waiting: { commit: 'd', summary: '', text: '', sinceMs: 0 } }] },
    [
      { sources: [{ name: 'main', remote: 'r', ref: 'm' }] },
      { sources: [{ ...MAIN, trouble: 't', unreachable: true }] },
    ],
    [{}],
  ],
  [
    'manifest/a.yaml:3',
    { problems: [INVALID] },
    [
      { sources: [{ name: 'main', remote: 'r', ref: 'm' }] },
      { sources: [{ ...MAIN, trouble: 't', unreachable: true }] },
    ],
    [{}, { problems: [problem('b.yaml', 'schema')] }],
  ],
  ['manifest/croft, the pass:3', { problems: [OWN_FAILURE] }, [], [{}]],
  ['connection/pve', AWAY, [{ connections: [], problems: [INVALID] }], [{}, { connections: [] }]],
  [
    'host/a',
    { hosts: [{ ...HOST, online: false }] },
    [
      { hosts: [], ...AWAY },
      { hosts: [], problems: [INVALID] },
    ],
    [{}, { hosts: [] }],
  ],
  [
    'hot/a',
    { hosts: [{ ...HOST, temperatureC: 90 }] },
    [{ hosts: [{ ...HOST, online: false }] }, { hosts: [{ connection: 'pve', name: 'a', online: true }] }],
    [{}],
  ],
  ['check/web', check('no'), [check('unknown'), {}], [check('yes')]],
  [
    'cluster/home',
    cluster('Degraded', { nodes: [NODE('NotReady')] }),
    [
      cluster('Unknown', { api: 'no' }),
      cluster('Ready', { api: 'no' }),
      cluster('Degraded', { holds: [HELD] }),
      cluster('Changing', { nodes: [NODE('Unknown')] }),
      { problems: [INVALID] },
    ],
    [cluster('Ready', { nodes: [NODE('Ready')] }), { clusters: [] }],
  ],
  ['unseen/home', cluster('Unknown', { api: 'unknown' }), [cluster('Ready', { api: 'no' })], [cluster('Degraded')]],
  ['quorum/home', cluster('QuorumLost', { api: 'no' }), [cluster('Unknown', { api: 'no' })], [cluster('Degraded')]],
  [
    'cluster/certificates/home',
    cluster('Ready', { holds: [HELD] }),
    [cluster('Unknown', { api: 'no' })],
    [cluster('Ready'), cluster('Degraded')],
  ],
  [
    'operation/home',
    cluster('Changing', { holds: [REQUEST], stopped: false }),
    [cluster('Blocked', { holds: [REQUEST], stopped: true })],
    [cluster('Unknown', { api: 'no' })],
  ],
  [
    'operation-stopped/home',
    cluster('Blocked', { holds: [REQUEST], stopped: true }),
    [],
    [cluster('Changing', { holds: [REQUEST], stopped: false })],
  ],
  [
    'power/held/quorum/site',
    power({ holds: [{ guard: 'quorum', reason: 'r', allow: 'a' }] }),
    [{ problems: [INVALID] }],
    [power({}), {}],
  ],
  ['ups/site', ups('battery'), [ups('unknown'), ups('battery', 9)], [ups('mains')]],
  ['ups-low/site', ups('battery', 9), [ups('unknown'), ups('battery', 80)], [ups('mains')]],
  [
    'stalled/VM/a',
    resource('nothing', { stalled: 'True' }),
    [{ ...resource('nothing'), ...AWAY }, resource('nothing', { conditions: false }), { problems: [INVALID] }],
    [resource('nothing'), {}],
  ],
  [
    'refused/VM/a',
    resource('refuse'),
    [resource('wait'), { ...resource('nothing'), ...AWAY }],
    [resource('nothing'), resource('update')],
  ],
  ['approval/VM/a', resource('hold'), [resource('wait'), { ...resource('nothing'), ...AWAY }], [resource('nothing')]],
  [
    'ready/VM/a',
    resource('nothing', { ready: 'False' }),
    [
      resource('nothing', { ready: 'Unknown' }),
      resource('nothing', { ready: 'False', paused: true }),
      resource('nothing', { ready: 'False', stalled: 'True' }),
      resource('hold', { ready: 'False' }),
      resource('update', { ready: 'False' }),
    ],
    [resource('nothing')],
  ],
  ['drift/VM/a', drift('update'), [resource('wait'), { ...resource('nothing'), ...AWAY }], [resource('nothing')]],
]

const troublesIn = (part: Part) => troublesOf(statusIn({ ...WELL, ...part }), NOW)

for (const [id, there, unknown, over] of CASES)
  test(`${id} is over only when a look shows it`, () => {
    const trouble = troublesIn(there).find((one) => one.id === id)
    assert.ok(
      trouble,
      troublesIn(there)
        .map((one) => one.id)
        .join(', '),
    )
    const judged = (part: Part, pass: Part = {}) => {
      assert.ok(!troublesIn(part).some((one) => one.id === id), `still listed: ${JSON.stringify(part)}`)
      return isOver(trouble, { view: { ...WELL, ...part, ...pass }, checks: new Set(['web']) })
    }
    for (const part of unknown) assert.equal(judged(part), false, JSON.stringify(part))
    for (const part of over) {
      assert.equal(judged(part), true, JSON.stringify(part))
      const { pass: _, ...before } = { ...WELL, ...part }
      assert.equal(isOver(trouble, { view: before, checks: new Set() }), false, 'before the first pass')
      if (!id.includes('croft'))
        assert.equal(judged({ ...part, problems: [OWN_FAILURE] }), false, 'croft itself failed')
    }
  })

test('a check that is no longer declared is over, if everything declared was read', () => {
  const about = { id: 'check/web', sort: 'check', about: 'web' } as const
  assert.equal(isOver(about, { view: WELL, checks: new Set() }), true)
  assert.equal(isOver(about, { view: { ...WELL, problems: [INVALID] }, checks: new Set() }), false)
})

test('every sort of trouble has a case', () => {
  const sorts = new Set(
    CASES.flatMap(([id, there]) => troublesIn(there).flatMap((one) => (one.id === id ? one.sort : []))),
  )
  assert.deepEqual([...sorts].toSorted(), [...TROUBLE_SORTS].toSorted())
})
