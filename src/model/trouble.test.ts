import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EstateStatus, StatusCluster, StatusPower, StatusRow } from './estate-status.ts'
import { TROUBLE_SORTS, type TroubleSort } from './notification.ts'
import { troublesOf } from './trouble.ts'

const NOW = 1_000_000_000
const WELL: EstateStatus = {
  sources: [{ name: 'main' }],
  problems: [],
  connections: [{ name: 'default', endpoint: 'https://pve', state: 'ok' }],
  hosts: [{ name: 'a', online: true, temperatureC: 50 }],
  rows: [],
  clusters: [],
  drifts: [],
  checks: [{ name: 'web', passed: 'yes', output: '' }],
}
const row = (more: Partial<StatusRow>): StatusRow => ({
  key: 'Machine/web',
  ready: 'True',
  stalled: false,
  paused: false,
  do: 'nothing',
  reason: '',
  message: '',
  ...more,
})
const cluster = (more: Partial<StatusCluster>): StatusCluster => ({
  name: 'home',
  phase: 'Ready',
  quorumMargin: 1,
  faultTolerance: 'one may be lost',
  nodes: [],
  holds: [],
  refusals: [],
  ...more,
})
const power = (more: Partial<StatusPower>): StatusPower => ({
  name: 'site',
  phase: 'On',
  wanted: { state: 'on' },
  hosts: [],
  holds: [],
  refusals: [],
  ...more,
})
const node = (role: string, phase: string) => ({ name: 'n1', role, phase })
const objection = { guard: 'quorum', reason: 'why', allow: 'how' }
const drift = { key: 'Machine/web', field: 'memory', declared: '2', observed: '1', sinceMs: 5 }

const RESTORE = { name: 'restore of home from old', step: 'stop K3s on s1', sinceMs: NOW - 5000, stopped: false }

/** A status and its troubles as `tone id: title`. */
const CASES: readonly [what: string, status: Partial<EstateStatus>, told: readonly string[]][] = [
  ['nothing', {}, []],
  ['a check of which nothing is known', { checks: [{ name: 'web', passed: 'unknown', output: '' }] }, []],
  [
    'a cluster whose API has just stopped answering',
    { clusters: [cluster({ phase: 'Unknown', quorumMargin: 'unknown', unseenSinceMs: NOW - 59_000 })] },
    [],
  ],
  [
    'a cluster whose API has not answered for a minute',
    { clusters: [cluster({ phase: 'Unknown', quorumMargin: 'unknown', unseenSinceMs: NOW - 60_000 })] },
    ['bad unseen/home: home does not answer'],
  ],
  [
    'a check that fails',
    { checks: [{ name: 'web', passed: 'no', output: 'x' }] },
    ['bad check/web: The check web fails'],
  ],
  [
    'a source that is not followed',
    { sources: [{ name: 'main', trouble: 'away' }] },
    ['bad source/main: The newest commit of main is not in force'],
  ],
  [
    'a source that does not answer',
    { sources: [{ name: 'main', trouble: 'away', unreachable: true }] },
    ['bad unreachable/main: The source main cannot be reached'],
  ],
  [
    'a manifest with two errors in a line and one with a warning',
    {
      problems: [
        { severity: 'error', file: 'a.yaml', line: 3, message: 'm' },
        { severity: 'error', file: 'a.yaml', line: 3, message: 'n', hint: 'h' },
        { severity: 'warning', file: 'b.yaml', line: 1, message: 'm' },
      ],
    },
    ['bad manifest/a.yaml:3: a.yaml:3 is not valid'],
  ],
  [
    'a connection',
    { connections: [{ name: 'default', endpoint: 'e', state: 'suspect' }] },
    ['bad connection/default: The connection default is suspect'],
  ],
  ['a host that is offline', { hosts: [{ name: 'a', online: false }] }, ['bad host/a: Host a is offline']],
  ['a host that is hot', { hosts: [{ name: 'a', online: true, temperatureC: 75 }] }, ['warn hot/a: Host a is hot']],
  [
    'a host that is off on request, under its other name',
    {
      hosts: [{ name: 'a', online: false, alsoCalled: 'duck' }],
      power: [power({ wanted: { state: 'off' }, phase: 'Off', hosts: [{ name: 'duck', power: 'off' }] })],
    },
    [],
  ],
  [
    'a host that is off while its site is on',
    { hosts: [{ name: 'a', online: false }], power: [power({ hosts: [{ name: 'a', power: 'off' }] })] },
    ['bad host/a: Host a is offline'],
  ],
  [
    'a refused Power',
    { power: [power({ refusals: [objection] })] },
    ['bad power/refused/quorum/site: Power site is refused'],
  ],
  ['a held Power', { power: [power({ holds: [objection] })] }, ['warn power/held/quorum/site: Power site is held']],
  [
    'a UPS on battery',
    { power: [power({ ups: { state: 'battery', charge: 80 } })] },
    ['warn ups/site: The UPS of site is on battery'],
  ],
  [
    'a UPS at 9 %',
    { power: [power({ ups: { state: 'battery', charge: 9 } })] },
    ['bad ups-low/site: The UPS of site is on battery'],
  ],
  [
    'a UPS that says low',
    { power: [power({ ups: { state: 'battery', low: true } })] },
    ['bad ups-low/site: The UPS of site is on battery'],
  ],
  ['a UPS on mains at 9 %', { power: [power({ ups: { state: 'mains', charge: 9 } })] }, []],
  [
    'a quorum that is lost',
    { clusters: [cluster({ phase: 'QuorumLost', quorumMargin: -1 })] },
    ['bad quorum/home: home has lost its quorum'],
  ],
  [
    'a quorum that is lost, with what the machines show of it',
    {
      clusters: [
        cluster({ phase: 'QuorumLost', quorumMargin: 'unknown', holds: [{ ...objection, guard: 'quorum-lost' }] }),
      ],
    },
    ['bad quorum/home: home has lost its quorum'],
  ],
  [
    'a quorum that is most likely lost, at once',
    {
      clusters: [
        cluster({ phase: 'Unknown', quorumMargin: 'unknown', holds: [{ ...objection, guard: 'quorum-unseen' }] }),
      ],
    },
    ['bad quorum/home: home has most likely lost its quorum'],
  ],
  [
    'a restore that goes on',
    { clusters: [cluster({ phase: 'Changing', holds: [{ ...objection, guard: 'request' }], operation: RESTORE })] },
    ['warn operation/home: Restore of home from old is under way'],
  ],
  [
    'a restore that stopped in the middle',
    {
      clusters: [
        cluster({
          phase: 'Blocked',
          holds: [{ ...objection, guard: 'request' }],
          operation: { ...RESTORE, stopped: true },
        }),
      ],
    },
    ['bad operation-stopped/home: Restore of home from old has stopped'],
  ],
  [
    'a server that is not ready',
    { clusters: [cluster({ phase: 'Degraded', nodes: [node('server', 'NotReady')] })] },
    ['bad cluster/home: 1 node of home not ready'],
  ],
  [
    'an agent that is not ready',
    { clusters: [cluster({ phase: 'Degraded', nodes: [node('agent', 'Flapping')] })] },
    ['warn cluster/home: 1 node of home not ready'],
  ],
  ['a degraded cluster', { clusters: [cluster({ phase: 'Degraded' })] }, ['bad cluster/home: home is degraded']],
  [
    'a refusal of a cluster',
    { clusters: [cluster({ refusals: [objection] })] },
    ['bad cluster/quorum/home: home is held by quorum'],
  ],
  [
    'a cluster that is off on request',
    {
      clusters: [cluster({ phase: 'QuorumLost', quorumMargin: -1 })],
      power: [power({ cluster: 'home', phase: 'Off', wanted: { state: 'off' } })],
    },
    [],
  ],
  ['what stalled', { rows: [row({ stalled: true })] }, ['bad stalled/Machine/web: Machine/web needs a person']],
  ['what is refused', { rows: [row({ do: 'refuse' })] }, ['bad refused/Machine/web: Machine/web is refused']],
  ['what is held', { rows: [row({ do: 'hold', next: 'delete' })] }, ['warn approval/Machine/web: Machine/web is held']],
  ['what is not ready', { rows: [row({ ready: 'False' })] }, ['bad ready/Machine/web: Machine/web is not ready']],
  ['what is suspended', { rows: [row({ ready: 'False', paused: true })] }, []],
  ['what is being changed', { rows: [row({ ready: 'False', do: 'update' })] }, []],
  ['what was just started', { rows: [row({ ready: 'False', reason: 'AgentDown', sinceMs: NOW - 179_999 })] }, []],
  [
    'what was started long ago',
    { rows: [row({ ready: 'False', reason: 'AgentDown', sinceMs: NOW - 180_000 })] },
    ['bad ready/Machine/web: Machine/web is not ready'],
  ],
  ['drift', { drifts: [{ ...drift, policy: 'report' }] }, ['warn drift/Machine/web: Machine/web has drifted']],
  ['drift that is ignored', { drifts: [{ ...drift, policy: 'ignore' }] }, []],
]

for (const [what, status, expected] of CASES)
  test(`[D-11] what is wrong: ${what}`, () => {
    const found = troublesOf({ ...WELL, ...status }, NOW)
    assert.deepEqual(
      found.map(({ tone, id, title }) => `${tone} ${id}: ${title}`),
      expected,
    )
  })

test('[D-11] a host and a UPS say what would help, on the page as in the terminal', () => {
  const hosts = [
    { name: 'a', online: false },
    { name: 'b', online: true, temperatureC: 90 },
  ]
  const troubles = troublesOf({ ...WELL, hosts, power: [power({ ups: { state: 'battery', charge: 50 } })] }, NOW)
  assert.deepEqual(
    troubles.map(({ about, allow }) => `${about}: ${allow}`),
    [
      'a: bring it back, or say with a Power that it is meant to be off',
      'site: see to the mains; croft power shows what goes off at which charge',
      'b: see to its cooling, or give it less to do',
    ],
  )
})

test('[D-11] a lost quorum says what the machines show and what would help', () => {
  const lost = cluster({ phase: 'QuorumLost', quorumMargin: -1 })
  const said = (one: StatusCluster) =>
    troublesOf({ ...WELL, clusters: [one] }, NOW).map(({ text, allow }) => [text, allow])
  assert.deepEqual(said({ ...lost, holds: [{ ...objection, guard: 'quorum-lost' }] }), [['why', 'how']])
  assert.deepEqual(said(lost), [['The API stands still until 1 more of its servers runs.', 'bring servers back']])
})

test('[D-11] every class that a Notification may name is found by some case, and no two troubles share an id', () => {
  const found = new Set<TroubleSort>()
  for (const [what, status] of CASES) {
    const troubles = troublesOf({ ...WELL, ...status }, NOW)
    for (const { sort } of troubles) found.add(sort)
    assert.equal(new Set(troubles.map(({ id }) => id)).size, troubles.length, what)
  }
  assert.deepEqual([...found].sort(), [...TROUBLE_SORTS].sort())
})

test('[D-11] the worst comes first', () => {
  const tones = troublesOf(
    {
      ...WELL,
      rows: [row({ do: 'hold' }), row({ key: 'Machine/b', stalled: true })],
      drifts: [{ ...drift, policy: 'report' }],
    },
    NOW,
  ).map(({ tone }) => tone)
  assert.deepEqual(tones, ['bad', 'warn', 'warn'])
})

test('a lost quorum says how many servers are short, and nothing of what the declared number survives', () => {
  const textOf = (quorumMargin: number | 'unknown') =>
    troublesOf({ ...WELL, clusters: [cluster({ phase: 'QuorumLost', quorumMargin })] }, NOW).map(({ text }) => text)
  assert.deepEqual(textOf(-1), ['The API stands still until 1 more of its servers runs.'])
  assert.deepEqual(textOf(-2), ['The API stands still until 2 more of its servers run.'])
  assert.deepEqual(textOf('unknown'), ['The API stands still until some more of its servers run.'])
})
