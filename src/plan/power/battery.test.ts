import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../lib/random.ts'
import type { ObservedPower, ObservedPowerHost, PowerNode, UpsReading } from '../../model/observed-power.ts'
import { NO_POWER_REQUESTS, type PowerHook, type PowerHost, type PowerSpec, WORKLOAD_TIERS } from '../../model/power.ts'
import {
  clusterWith,
  decide,
  EMPTY,
  host,
  MARKED,
  NOW,
  node,
  observedWith,
  ordered,
  SERVERS,
  specWith,
  UPS,
  workload,
} from './testing/fixture.ts'

const LEVELS = [
  { below: 40, level: 1 },
  { below: 20, level: 2 },
  { below: 10, level: 9 },
]
const WATCHED = { name: UPS, levels: LEVELS, wakeAbove: 30 }
/** No cluster: only hosts and their guests. */
const { cluster: _, ...BARE } = specWith({ ups: WATCHED })
const MAINS: UpsReading = { onBattery: false, charge: 100, low: false }

function battery(charge: number, more: Partial<UpsReading> = {}): UpsReading {
  return { onBattery: true, charge, low: false, ...more }
}

function seen(name: string, more: Partial<ObservedPowerHost> = {}): ObservedPowerHost {
  return { name, power: 'on', guests: EMPTY, ...more }
}

function shown(spec: PowerSpec, observed: Partial<ObservedPower>, requests = NO_POWER_REQUESTS) {
  const { steps, holds } = decide(spec, observedWith(observed), requests)
  return [...steps.map((step) => `${step.verb} ${step.host ?? step.node ?? ''}`), ...holds.map(({ guard }) => guard)]
}

const HOOK: PowerHook = { name: 'noout', tier: 'hosts', when: 'off', on: 'one', run: ['false'] }
const FAILED = { noout: { ok: false, output: 'ceph: not found' } }

test('an undeclared guest holds its host, but not against an empty battery', () => {
  const spec = { ...BARE, hosts: [host('one'), host('own', { own: true })] }
  const hosts = [seen('one', { guests: { ...EMPTY, undeclared: ['qemu/900'] } }), seen('own')]
  assert.deepEqual(shown(spec, { hosts }, ordered('off')), ['stranger'])
  assert.deepEqual(shown(spec, { hosts, ups: { [UPS]: battery(3) } }), ['stop-host one'])
})

test('declared guests of another Power hold their host always, on battery until the deadline', () => {
  const spec = { ...BARE, hosts: [host('one')] }
  const hosts = [seen('one', { guests: { ...EMPTY, others: ['Machine/prod-1'] } })]
  assert.deepEqual(shown({ ...spec, strangers: 'shutdown' }, { hosts }, ordered('off')), ['others'])
  const ups = { [UPS]: battery(9) }
  assert.deepEqual(shown(spec, { hosts, ups }), [])
  const waitedMs = { 'hosts one Machine/prod-1 to be off': 60_000 }
  assert.deepEqual(shown(spec, { hosts, ups, waitedMs }), ['stop-host one'])
})

test('a host whose guests cannot be listed is not empty', () => {
  const spec = { ...BARE, hosts: [host('one')] }
  assert.deepEqual(shown(spec, { hosts: [seen('one', { guests: 'unknown' })] }, ordered('off')), ['stranger'])
})

test('a hook that fails holds a power-off; on battery it has until its deadline', () => {
  const spec = { ...BARE, hosts: [host('one')], hooks: [HOOK] }
  const hosts = [seen('one')]
  assert.deepEqual(shown(spec, { hosts, hooks: FAILED }, ordered('off')), ['run-hook one', 'hook'])
  const empty = { hosts, hooks: FAILED, ups: { [UPS]: battery(9) } }
  assert.deepEqual(shown(spec, empty), ['run-hook one'])
  const waitedMs = { 'hosts hook noout the hook to end well': 60_000 }
  assert.deepEqual(shown(spec, { ...empty, waitedMs }), ['run-hook one', 'stop-host one'])
})

test('a UPS that says that it is low makes every deadline one of seconds', () => {
  const spec = { ...BARE, hosts: [host('one')], hooks: [HOOK] }
  const look = (ups: UpsReading, ms: number) =>
    shown(spec, {
      hosts: [seen('one')],
      hooks: FAILED,
      ups: { [UPS]: ups },
      waitedMs: { 'hosts hook noout the hook to end well': ms },
    })
  assert.deepEqual(look(battery(3), 30_000), ['run-hook one'])
  assert.deepEqual(look(battery(3, { low: true }), 30_000), ['run-hook one', 'stop-host one'])
})

test('each host goes with the UPS that feeds it', () => {
  const spec = { ...BARE, hosts: [host('one'), host('far', { fedBy: 'other@nut' }), host('big', { level: 2 })] }
  const hosts = [seen('one'), seen('far'), seen('big')]
  assert.deepEqual(shown(spec, { hosts, ups: { [UPS]: battery(39), 'other@nut': MAINS } }), ['stop-host one'])
  assert.deepEqual(shown(spec, { hosts, ups: { [UPS]: MAINS, 'other@nut': battery(39) } }), ['stop-host far'])
})

test("before croft's own box goes with its UPS, so does everything that feeds on another battery", () => {
  const own = host('own', { own: true, level: 2 })
  const spec = {
    ...BARE,
    hosts: [own, host('far', { fedBy: 'other@nut', level: 2 }), host('safe', { fedBy: 'third@nut' })],
  }
  const ups = { [UPS]: battery(15), 'other@nut': battery(80), 'third@nut': MAINS }
  assert.deepEqual(shown(spec, { hosts: [seen('own'), seen('far'), seen('safe')], ups }), ['stop-host far'])
  const far = seen('far', { power: 'off' })
  assert.deepEqual(shown(spec, { hosts: [seen('own'), far, seen('safe')], ups }), ['stop-host own'])
})

test('the box of the NUT server goes after those that it speaks for', () => {
  const spec = { ...BARE, hosts: [host('one'), host('nut', { tells: [UPS] })] }
  const hosts = [seen('one'), seen('nut')]
  assert.deepEqual(shown(spec, { hosts, ups: { [UPS]: battery(5) } }), ['stop-host one'])
})

const SLEEPING = { ...BARE, hosts: [host('a'), host('b', { level: 2 })] }

for (const [name, reading, wakes] of [
  ['is on mains', MAINS, ['wake-host b']],
  ['is on battery, with a host of which nothing is known', battery(80), []],
  ['has never answered', 'unknown', ['ups']],
  ['was on battery when it was heard last', battery(80, { silentSinceMs: NOW }), []],
  ['was on mains when it was heard last', { ...MAINS, silentSinceMs: NOW }, ['wake-host b']],
  ['is on mains and nearly empty', { ...MAINS, charge: 12 }, ['ups']],
  ['is on mains and says that it is low', { ...MAINS, low: true }, ['ups']],
] as const) {
  test(`while the UPS ${name}, croft does: ${wakes.join(', ') || 'nothing'}`, () => {
    for (const power of ['off', 'unknown'] as const) {
      const hosts = [seen('a'), seen('b', { power })]
      assert.deepEqual(shown(SLEEPING, { hosts, ups: { [UPS]: reading } }), wakes, power)
    }
  })
}

test('a person who says on wakes hosts whose UPS never answered, and with --ignore-holds those of an empty one', () => {
  const hosts = [seen('a'), seen('b', { power: 'off' })]
  const woken = (reading: UpsReading | 'unknown', ignoreHolds: boolean) =>
    shown(SLEEPING, { hosts, ups: { [UPS]: reading } }, ordered('on', { ignoreHolds }))
  assert.deepEqual(woken('unknown', false), ['wake-host b'])
  assert.deepEqual(woken({ ...MAINS, charge: 12 }, false), ['ups'])
  assert.deepEqual(woken({ ...MAINS, charge: 12 }, true), ['wake-host b'])
})

test('servers on hosts that were off before take the rest of their cluster down only with a level', () => {
  const spec = specWith({ hosts: [host('h1'), host('h2'), host('h3', { level: 2 })], ups: WATCHED })
  const off = { power: 'off', k3s: 'unknown', kube: 'not-ready' } as const
  const nodes = SERVERS.map((name, at) => node(name, { host: `h${at + 1}`, ...(at < 2 ? off : {}) }))
  const hosts = [seen('h1', { power: 'off' }), seen('h2', { power: 'off' }), seen('h3')]
  const cluster = clusterWith(nodes, [workload('apps', 'web')], { api: 'no', quorum: 'no' })
  const look = (charge: number) => {
    const observed = { ...observedWith({ cluster }), hosts, ups: { [UPS]: battery(charge) } }
    return decide(spec, observed, NO_POWER_REQUESTS).steps.filter(({ verb }) => verb.startsWith('stop'))
  }
  assert.deepEqual(look(95), [])
  assert.ok(look(15).length > 0)
})

const CASES = 3_000

/** A site with everything that can hang, when every wait is far over its deadline. */
function overdueWorld(seed: number): { readonly spec: PowerSpec; readonly observed: ObservedPower } {
  const random = seededRandom(seed)
  const chance = (share: number) => random.next() < share
  const one = <const T extends readonly unknown[]>(...all: T): T[number] =>
    all[Math.floor(random.next() * all.length)] as T[number]
  const some = (names: readonly string[]) => names.filter(() => chance(0.3))
  const names = ['h1', 'h2', 'h3'].slice(0, 1 + Math.floor(random.next() * 3))
  const bmc = { address: '192.168.4.3', port: 443, user: 'root', password: { from: 'env', name: 'X' } } as never
  const hosts = names.map(
    (name, at): PowerHost =>
      host(name, { own: at === names.length - 1 && chance(0.5), ...(chance(0.5) ? { bmc } : {}) }),
  )
  const rule = () => ({ afterMs: 60_000, choice: one('wait', 'force', 'abort') })
  const tiers = [
    ...WORKLOAD_TIERS,
    'volumes',
    'workers',
    'servers',
    'machines',
    'hosts',
    'infrastructure',
    'last-hosts',
  ] as const
  const hooks = tiers.flatMap((tier): readonly PowerHook[] =>
    chance(0.3) ? [{ ...HOOK, name: `of-${tier}`, tier }] : [],
  )
  const spec: PowerSpec = {
    ...specWith({ hosts, hooks, ups: WATCHED, strangers: one('hold', 'shutdown'), ha: chance(0.7) }),
    deadlines: { scale: rule(), detach: rule(), drain: rule(), stop: rule(), start: rule() },
  }
  const nodes = [...SERVERS, 'a1', 'a2'].map((name): PowerNode => {
    const machine = chance(0.8)
    return node(name, {
      ...(chance(0.5) ? MARKED : {}),
      ...(machine ? {} : { machine: undefined as never }),
      host: one(...names),
      power: one('on', 'on', 'off', 'unknown'),
      kube: one('ready', 'ready', 'not-ready', 'absent', 'unknown'),
      podsToMove: one(0, 2, 'unknown'),
      clientsToMove: 0,
      k3s: one('running', 'starting', 'stopped', 'absent', 'unknown'),
      onDemand: chance(0.2),
    })
  })
  const works = WORKLOAD_TIERS.flatMap((tier) =>
    chance(0.6) ? [workload(tier, `w-${tier}`, { replicas: one(0, 2), pods: one(0, 2) })] : [],
  )
  const cluster = clusterWith(nodes, chance(0.9) ? works : ('unknown' as never), {
    api: one('yes', 'yes', 'no', 'unknown'),
    quorum: one('yes', 'no'),
    attachments: one([], [{ name: 'va', node: 'a1' }], 'unknown' as const),
  })
  const base = observedWith(chance(0.9) ? { cluster } : {})
  const guest = (key: string, role: 'machine' | 'infrastructure') =>
    ({
      key: `Machine/${key}`,
      name: key,
      role,
      host: one(...names),
      power: one('on', 'off', 'unknown'),
      exists: one('yes', 'no', 'unknown'),
    }) as const
  const observed: ObservedPower = {
    ...base,
    machines: [...base.machines, guest('nas', 'machine'), guest('gate', 'infrastructure')],
    hosts: names.map((name) =>
      seen(name, {
        power: one('on', 'off', 'unknown'),
        guests: chance(0.2) ? 'unknown' : { mine: [], others: some(['Machine/x']), undeclared: some(['900', '901']) },
      }),
    ),
    ha: [{ connection: 'pve', armed: one('armed', 'disarming', 'disarmed', 'none', 'unknown') }],
    hooks: Object.fromEntries(
      hooks.filter(() => chance(0.5)).map(({ name }) => [name, { ok: chance(0.3), output: 'no' }]),
    ),
    ups: { [UPS]: battery(1, { low: chance(0.5) }) },
    // Every wait is far over its deadline.
    waitedMs: new Proxy({}, { get: () => 10_000_000 }),
  }
  return { spec, observed }
}

test(`on an empty battery with every wait overdue, ${CASES} sites: every host that may still be on is told to go off`, () => {
  for (let seed = 1; seed <= CASES; seed++) {
    const { spec, observed } = overdueWorld(seed)
    const { steps, ended, holds } = decide(spec, observed, NO_POWER_REQUESTS)
    const told = steps.flatMap((step) => (step.verb === 'stop-host' ? [step.host] : []))
    const left = observed.hosts.filter(({ power }) => power !== 'off').map(({ name }) => name)
    assert.deepEqual(
      told.toSorted((a = '', b = '') => (a < b ? -1 : 1)),
      left,
      `seed ${seed}`,
    )
    assert.deepEqual([holds, ended?.result === 'aborted'], [[], false], `seed ${seed}`)
  }
})
