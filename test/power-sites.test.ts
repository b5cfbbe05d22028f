import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { powerSchema, type WrittenPower } from '../src/kinds/power/schema.ts'
import { specOf } from '../src/kinds/power/spec.ts'
import type { HostGuests, ObservedPower, OnOffUnknown, PowerDecision, UpsReading } from '../src/model/observed-power.ts'
import type { PowerHost, PowerRequests, PowerSpec } from '../src/model/power.ts'
import { coordinatePower } from '../src/plan/power/coordinate.ts'
import { host, NOW, observedWith, ordered } from '../src/plan/power/testing/fixture.ts'
import { waitName } from '../src/plan/power/view.ts'

const RUNS = 10_000
const HOSTS = ['a', 'b', 'c', 'd', 'e'] as const
/** Each UPS is named with the address of its NUT server, which may be one of the hosts. */
const UPSS = ['rack@192.168.4.1', 'far@192.168.4.2', 'third@192.168.4.99'] as const

type Guests = HostGuests | 'unknown'

interface Box {
  readonly level: number | undefined
  readonly fedBy: number
  readonly power: OnOffUnknown
  readonly guests: Guests
  readonly bmc: boolean
  /** How long it takes to go down. Undefined: it never does by itself. */
  readonly downMs: number | undefined
  readonly hook: 'none' | 'well' | 'fails'
  readonly infrastructure: boolean
}

interface Site {
  readonly boxes: readonly Box[]
  readonly own: number | undefined
  readonly readings: readonly (UpsReading | 'unknown')[]
  readonly strangers: 'hold' | 'shutdown'
  readonly asked: 'on' | 'off' | 'nothing'
  readonly choice: 'wait' | 'force' | 'abort'
  readonly overdue: boolean
}

const some = (name: string) => fc.constantFrom([], [], [], [name])
const guests: fc.Arbitrary<Guests> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ mine: fc.constant([]), others: some('Machine/x'), undeclared: some('900') }) },
  { weight: 1, arbitrary: fc.constant('unknown' as const) },
)
const box: fc.Arbitrary<Box> = fc.record({
  level: fc.constantFrom(undefined, 1, 2, 9),
  fedBy: fc.constantFrom(0, 0, 1, 2),
  power: fc.constantFrom('on', 'on', 'on', 'off', 'unknown'),
  guests,
  bmc: fc.boolean(),
  downMs: fc.constantFrom(5_000, 15_000, 45_000, undefined),
  hook: fc.constantFrom('none', 'none', 'well', 'fails'),
  infrastructure: fc.constantFrom(false, false, false, true),
})
const reading: fc.Arbitrary<UpsReading | 'unknown'> = fc.oneof(
  { weight: 1, arbitrary: fc.constant('unknown' as const) },
  {
    weight: 6,
    arbitrary: fc
      .record({
        onBattery: fc.boolean(),
        charge: fc.integer({ min: 0, max: 100 }),
        low: fc.constantFrom(false, false, true),
        silent: fc.constantFrom(false, false, true),
      })
      .map(({ silent, ...said }) => ({ ...said, ...(silent ? { silentSinceMs: NOW - 60_000 } : {}) })),
  },
)
const site: fc.Arbitrary<Site> = fc.record({
  boxes: fc.array(box, { minLength: 1, maxLength: HOSTS.length }),
  own: fc.constantFrom(undefined, 0, 1, 2),
  readings: fc.tuple(reading, reading, reading),
  strangers: fc.constantFrom('hold', 'shutdown'),
  asked: fc.constantFrom('nothing', 'nothing', 'on', 'off'),
  choice: fc.constantFrom('wait', 'force', 'abort'),
  overdue: fc.boolean(),
})

/** The spec as its kind makes it of what a person declares, with the order that batteries ask for. */
function specOfSite({ boxes, own, strangers, choice }: Site): PowerSpec {
  const hosts = boxes.map((one, at): PowerHost => {
    const name = HOSTS[at] ?? ''
    const ssh = { name, address: `192.168.4.${at + 1}`, port: 22, user: 'root', hostKeys: [], sudo: 'none' } as const
    const { fedBy: _, ...plain } = host(name, { own: at === own, level: one.level ?? 1, ssh })
    return { ...plain, fedBy: UPSS[one.fedBy] ?? '', ...(one.bmc ? { bmc: {} as never } : {}) }
  })
  const hooks = boxes.flatMap(({ hook }, at) =>
    hook === 'none' ? [] : [{ name: `hook-${at}`, tier: 'hosts' as const, when: 'off' as const, on: 'a', run: ['x'] }],
  )
  const written = { ...declared(strangers, choice), hooks }
  const lookup = { declaration: () => undefined, all: () => [] }
  const infrastructure = boxes.flatMap(({ infrastructure: is }, at) => (is ? [`Machine/gate-${at}` as const] : []))
  return specOf({ spec: written, namespace: undefined } as never, lookup, hosts, [], infrastructure)
}

const parsed = new Map<string, WrittenPower>()

function declared(strangers: Site['strangers'], choice: Site['choice']): WrittenPower {
  const name = `${strangers} ${choice}`
  const stop = { after: '5m', choice }
  const made = parsed.get(name) ?? powerSchema.parse({ strangers, ups: { name: UPSS[0] }, deadlines: { stop } })
  parsed.set(name, made)
  return made
}

function observedOf({ boxes, own, readings, overdue }: Site): ObservedPower {
  return observedWith({
    hosts: boxes.map(({ power, guests: there }, at) => ({
      name: HOSTS[at] ?? '',
      power: at === own && power === 'unknown' ? 'on' : power,
      guests: there,
    })),
    machines: boxes.flatMap(({ infrastructure, power }, at) =>
      infrastructure
        ? [
            {
              key: `Machine/gate-${at}`,
              name: `gate-${at}`,
              role: 'infrastructure',
              host: HOSTS[at] ?? '',
              power,
              exists: 'yes',
            },
          ]
        : [],
    ),
    hooks: Object.fromEntries(
      boxes.flatMap(({ hook }, at) => (hook === 'fails' ? [[`hook-${at}`, { ok: false, output: 'no' }]] : [])),
    ),
    ups: Object.fromEntries(UPSS.map((name, at) => [name, readings[at] ?? 'unknown'])),
    waitedMs: overdue ? new Proxy({}, { get: () => 10_000_000 }) : {},
  })
}

const requestsOf = ({ asked }: Site): PowerRequests => (asked === 'nothing' ? { holds: [] } : ordered(asked))
const told = (decision: PowerDecision, verb: string) =>
  decision.steps.flatMap((step) => (step.verb === verb ? [step.host ?? ''] : []))
/** A person who says on after a UPS fell silent knows better than what it said last. */
const feeds = (said: UpsReading | 'unknown' = 'unknown', { asked }: Site) =>
  said !== 'unknown' && said.onBattery && !(asked === 'on' && said.silentSinceMs !== undefined)

function property(name: string, holds: (site: Site) => void): void {
  test(`${RUNS} sites: ${name}`, () => {
    fc.assert(fc.property(site, holds), { numRuns: RUNS, seed: 41 })
  })
}

property('the same look gives the same decision', (one) => {
  const [spec, observed, requests] = [specOfSite(one), observedOf(one), requestsOf(one)]
  const decide = () => JSON.stringify(coordinatePower(spec, observed, requests, undefined, NOW))
  assert.equal(decide(), decide())
})

property('on an empty battery with every wait overdue each host is off or told to go, its own box last', (one) => {
  const empty: UpsReading = { onBattery: true, charge: 1, low: true }
  const given: Site = { ...one, asked: 'nothing', overdue: true, readings: [empty, empty, empty] }
  const spec = specOfSite(given)
  const decision = coordinatePower(spec, observedOf(given), requestsOf(given), undefined, NOW)
  const stopped = told(decision, 'stop-host')
  const left = given.boxes.flatMap(({ power }, at) => (power === 'off' ? [] : [HOSTS[at] ?? '']))
  assert.deepEqual(stopped.toSorted(), left)
  const own = spec.hosts.find((host) => host.own)?.name
  if (own !== undefined && stopped.includes(own)) assert.equal(stopped.at(-1), own)
})

property("croft's own box and those of NUT servers wait for every host that depends on them", (one) => {
  const given: Site = { ...one, overdue: false }
  const spec = specOfSite(given)
  const observed = observedOf(given)
  const stopped = told(coordinatePower(spec, observed, requestsOf(given), undefined, NOW), 'stop-host')
  const isOn = (name: string) => observed.hosts.find((host) => host.name === name)?.power !== 'off'
  for (const last of spec.hosts.filter((host) => stopped.includes(host.name))) {
    const needing = spec.hosts.filter(({ name, fedBy = '', own, tells }) => {
      if (name === last.name || !isOn(name) || !feeds(observed.ups[fedBy], given)) return false
      return last.own || (last.tells.includes(fedBy) && !own && tells.length === 0)
    })
    assert.deepEqual(
      needing.map(({ name }) => name),
      [],
      `${last.name} goes`,
    )
  }
})

property('guests of others hold their host, unless a battery runs out and their time is over', (one) => {
  const given: Site = { ...one, overdue: false }
  const stopped = told(
    coordinatePower(specOfSite(given), observedOf(given), requestsOf(given), undefined, NOW),
    'stop-host',
  )
  for (const name of stopped) {
    const there = given.boxes[HOSTS.indexOf(name as never)]?.guests
    assert.ok(there !== 'unknown' && there?.others.length === 0, `${name} goes down with guests of others`)
  }
})

property('nothing is woken by a UPS that is unknown, on battery or empty', (one) => {
  const spec = specOfSite(one)
  const observed = observedOf(one)
  const woken = told(coordinatePower(spec, observed, requestsOf(one), undefined, NOW), 'wake-host')
  for (const name of woken) {
    const said = observed.ups[spec.hosts.find((host) => host.name === name)?.fedBy ?? ''] ?? 'unknown'
    if (said === 'unknown') assert.equal(one.asked, 'on', name)
    else if (said.onBattery) assert.ok(!feeds(said, one), name)
    else assert.ok(!said.low && said.charge >= 30, name)
  }
})

property('what is off already is no reason to put down the rest before a level is reached', (one) => {
  const full = (said: UpsReading | 'unknown') => (said === 'unknown' ? said : { ...said, charge: 95, low: false })
  const given: Site = { ...one, readings: one.readings.map(full) }
  const { wanted, steps } = coordinatePower(specOfSite(given), observedOf(given), requestsOf(given), undefined, NOW)
  assert.equal(wanted.state, one.asked === 'off' ? 'off' : 'on')
  if (one.asked !== 'off')
    assert.deepEqual(
      steps.filter(({ verb }) => verb.startsWith('stop')),
      [],
    )
})

const PASS_MS = 5_000
/** How long a UPS feeds after it said that its battery is low. */
const LEFT_MS = 120_000

property('from a low battery on everything that may go is off in time, and its own box goes last', (one) => {
  const empty: UpsReading = { onBattery: true, charge: 9, low: true }
  const given: Site = { ...one, asked: 'nothing', overdue: false, readings: [empty, empty, empty] }
  const spec = specOfSite(given)
  const since = new Map<string, number>()
  const toldMs = new Map<string, number>()
  const off = new Set(given.boxes.flatMap(({ power }, at) => (power === 'off' && at !== given.own ? [at] : [])))
  for (let nowMs = 0; nowMs < LEFT_MS; nowMs += PASS_MS) {
    given.boxes.forEach(({ downMs }, at) => {
      const asked = toldMs.get(HOSTS[at] ?? '')
      if (asked !== undefined && downMs !== undefined && nowMs - asked >= downMs) off.add(at)
    })
    if (off.size === given.boxes.length || (given.own !== undefined && off.has(given.own))) break
    const boxes = given.boxes.map((each, at) => ({
      ...each,
      power: off.has(at) ? ('off' as const) : each.power === 'off' ? ('on' as const) : each.power,
    }))
    const waitedMs = Object.fromEntries([...since].map(([name, ms]) => [name, nowMs - ms]))
    const observed = { ...observedOf({ ...given, boxes }), waitedMs }
    const decision = coordinatePower(spec, observed, { holds: [] }, undefined, NOW + nowMs)
    const names = decision.waits.map(({ tier, what, awaits }) => waitName(tier, what, awaits))
    for (const name of since.keys()) if (!names.includes(name)) since.delete(name)
    for (const name of names) if (!since.has(name)) since.set(name, nowMs)
    const own = HOSTS[given.own ?? -1]
    for (const name of told(decision, 'stop-host')) {
      const before = spec.hosts.filter((host) => host.name !== name && !off.has(HOSTS.indexOf(host.name as never)))
      if (name === own)
        assert.deepEqual(
          before.filter((host) => !toldMs.has(host.name)).map((host) => host.name),
          [],
          'told before',
        )
      if (!toldMs.has(name)) toldMs.set(name, nowMs)
    }
  }
  const late = spec.hosts.filter(
    ({ name }, at) => !off.has(at) && !((toldMs.get(name) ?? Infinity) <= LEFT_MS - 45_000),
  )
  assert.deepEqual(
    late.map(({ name }) => name),
    [],
    'told too late to be off in time',
  )
})
