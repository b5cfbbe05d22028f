import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentAnswers } from '../../sim/world/guest-run.ts'
import type { Driver, Session } from '../../src/drivers/port.ts'
import { resourceUid } from '../../src/model/declaration.ts'
import type { Rules } from '../../src/model/rules.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { estateOf, SIX } from './manifests.ts'
import { asDeclared, nothingDoubledOrLost, quietFor, strangersOf } from './oracle.ts'
import type { Sabotage } from './process.ts'
import { type Simulation, simulate } from './run.ts'

// A suite that finds nothing proves nothing. Each entry breaks the product in one plausible way, and
// names the hunt that must catch it. Every hunt passes on the product as it is. Not in the list are breaks that do no harm
// because something behind them holds: an id wrongly called free meets Proxmox's own "already exists", and a refused look
// taken for an empty datacentre meets the mass-absence guard.

const chosen = SIX.map(({ vmid: _, ...machine }) => machine)

type Hunt = (sabotage: Sabotage) => Promise<void>

/** Settle under trouble, then everything must be there once. */
function hunt(trouble: (run: Simulation) => void | Promise<void>, machines = chosen): Hunt {
  return async (sabotage) => {
    const run = simulate({
      seed: 7,
      estate: estateOf(machines),
      sabotage,
      timing: { importBytesPerSecond: 400_000_000 },
    })
    await trouble(run)
    const strangers = strangersOf(run.datacentre)
    const outcome = await run.untilSettled(run.start(), {
      mostMs: 1_800_000,
      onPass: () => {
        nothingDoubledOrLost(run, strangers, 'while at it')
        neverReadyTooEarly(run)
      },
    })
    assert.equal(outcome, 'settled')
    nothingDoubledOrLost(run, strangers, 'in the end')
    asDeclared(run, 'in the end')
    startedOnce(run, machines.length)
    await quietFor(run, 3, 'afterwards')
  }
}

function neverReadyTooEarly(run: Simulation): void {
  for (const record of run.disk.records.values()) {
    if (record.type !== 'vm' || record.conditions.find((c) => c.type === 'Ready')?.status !== 'True') continue
    const guest = run.datacentre.world.guests.get(Number(record.externalId))
    assert.ok(guest !== undefined && agentAnswers(guest), `${record.key} is called Ready and its agent does not answer`)
  }
}

function startedOnce(run: Simulation, machines: number): void {
  const starts = run.datacentre.writes.filter((write) => write.path.endsWith('/status/start')).length
  assert.equal(starts, machines, `${starts} starts of ${machines} machines`)
}

const calm = hunt(() => {})
const lostAnswers = hunt((run) =>
  run.datacentre.faults.add({ kind: 'drop-after', match: '^POST /nodes/[^/]+/qemu$', count: 4 }),
)
/** How far a process has come at which point depends on how much it does side by side: so it dies at several. */
const crashWhileCreating: Hunt = async (sabotage) => {
  for (const crashAt of [12, 16, 20, 24, 28]) {
    const die = hunt(async (run) => {
      await run.untilSettled(run.start({ crashAt }))
    })
    await die(sabotage)
  }
}
const storeLostWhileCreating = hunt(async (run) => {
  await run.untilSettled(run.start({ crashAt: 24 }))
  run.disk = createMemoryStore().disk
})
const namesake = hunt((run) => run.datacentre.addGuest(950, 'still-fawn', { name: 'agent-1', memory: '512' }))

const otherEstate: Hunt = async (sabotage) => {
  const all = estateOf(chosen)
  const deletable = all.resources.map((one) => ({
    ...one,
    policy: { ...one.policy, deletion: 'Delete' as const, protect: false },
  }))
  const run = simulate({ seed: 7, estate: { ...all, resources: deletable }, sabotage })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  // Another estate has taken one over meanwhile: our record alone would let it go.
  const [key = '', record] = [...run.disk.records].find(([, { type }]) => type === 'vm') ?? []
  const id = Number(record?.externalId)
  const description = run.datacentre.world.guests.get(id)?.config.get('description') ?? ''
  assert.match(description, /estate=/)
  run.datacentre.patchGuest(id, { description: description.replace(/estate=\S+/, 'estate=other') })
  run.estate = { ...all, resources: deletable.filter((one) => one.key !== key) }
  await run.untilSettled(run.start())
  assert.ok(run.datacentre.world.guests.has(id), 'a machine of another estate is gone')
}

/** A person adds a tag between croft's read and write of the tags. */
const meddler: Hunt = async (sabotage) => {
  const run = simulate({ seed: 7, estate: estateOf(chosen), sabotage })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  run.datacentre.patchGuest(300, { description: null })
  const { handle } = run.datacentre
  let meddled = false
  const meddling = run.datacentre as { handle: typeof handle }
  meddling.handle = (request) => {
    if (request.method === 'PUT' && request.path.includes('/qemu/300/config') && !meddled) {
      meddled = true
      const tags = run.datacentre.world.guests.get(300)?.config.get('tags') ?? ''
      run.datacentre.patchGuest(300, { tags: `${tags};keep-me`, description: 'written by a person' })
    }
    return handle(request)
  }
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.ok(meddled, 'nobody wrote, so nobody could meddle')
  const config = run.datacentre.world.guests.get(300)?.config
  assert.match(config?.get('tags') ?? '', /keep-me/, 'a tag that a person added is lost')
  assert.match(config?.get('description') ?? '', /written by a person/, 'what a person wrote is lost')
}

const rules = (broken: Partial<Rules>): Sabotage => ({
  driver: (driver) => ({ ...driver, rules: { ...driver.rules, ...broken } }),
})
const session = (breakIt: (session: Session, driver: Driver) => Partial<Session>): Sabotage => ({
  driver: (driver) => ({
    ...driver,
    connect: (connection, deps) => {
      const real = driver.connect(connection, deps)
      return { ...real, ...breakIt(real, driver) }
    },
  }),
})
const store = (broken: (store: Store) => Partial<Store>): Sabotage => ({
  store: (real) =>
    new Proxy(real, { get: (target, name) => Reflect.get({ ...broken(real) }, name) ?? Reflect.get(target, name) }),
})

const BUGS: readonly (readonly [string, Sabotage, Hunt])[] = [
  [
    'the intention is not written down',
    store(() => ({ intend: async () => {}, noteTask: async () => {}, settle: async () => {} })),
    crashWhileCreating,
  ],
  ['intentions are forgotten at once', store(() => ({ intentions: async () => [] })), lostAnswers],
  ['a lost store is taken for one that knows', store(() => ({ isFresh: async () => false })), storeLostWhileCreating],
  [
    'no answer is taken for "nothing happened"',
    session((real) => ({
      perform: async (step, signal) => {
        const outcome = await real.perform(step, signal)
        return outcome.result === 'unclear' ? { result: 'not-sent', message: outcome.message } : outcome
      },
    })),
    lostAnswers,
  ],
  [
    'the mark is left out',
    {
      driver: (driver) =>
        rules({
          createSteps: (resource, id, seen) =>
            driver.rules.createSteps(resource, id, seen).map((step) => {
              if (step.lane !== 'rest') return step
              const { tags: _, description: __, ...params } = step.call.params
              return { ...step, call: { ...step.call, params } }
            }),
        }).driver?.(driver) ?? driver,
    },
    calm,
  ],
  [
    'a guest is known by its name',
    session((real) => ({
      survey: async (signal) => {
        const seen = await real.survey(signal)
        const named = (name: string | undefined) => ({ mark: { uid: resourceUid('default', `EnvironmentVM/${name}`) } })
        return {
          ...seen,
          resources: seen.resources.map((s) => (s.mark === undefined ? { ...s, ...named(s.name) } : s)),
        }
      },
      observe: async (observed, ask, signal) => {
        const seen = await real.observe(observed, ask, signal)
        return seen === undefined || observed.mark === undefined ? seen : { ...seen, mark: observed.mark }
      },
    })),
    namesake,
  ],
  [
    'the estate in a mark is not read',
    session((real) => ({
      observe: async (observed, ask, signal) => {
        const seen = await real.observe(observed, ask, signal)
        return seen?.mark === undefined ? seen : { ...seen, mark: { ...seen.mark, estate: 'default' } }
      },
    })),
    otherEstate,
  ],
  [
    'the digest is not sent',
    session((real) => ({
      perform: (step, signal) => {
        if (step.lane !== 'rest') return real.perform(step, signal)
        const { digest: _, ...params } = step.call.params
        return real.perform({ ...step, call: { ...step.call, params } }, signal)
      },
    })),
    meddler,
  ],
  [
    'power is believed from the survey',
    session((real) => ({
      observe: async (observed, ask, signal) => {
        const seen = await real.observe(observed, { ...ask, power: false }, signal)
        const power = observed.power === 'unknown' ? ('stopped' as const) : observed.power
        return seen?.close === undefined || power === undefined ? seen : { ...seen, close: { ...seen.close, power } }
      },
    })),
    calm,
  ],
  [
    'Ready is said when the machine is only running',
    rules({
      readiness: (_, s) => ({
        ready: (s.close?.power ?? s.power) === 'running',
        reason: 'Up',
        message: '',
        status: 'Running',
      }),
    }),
    calm,
  ],
  [
    'a disk is not grown after its image was copied',
    {
      driver: (driver) =>
        rules({ diff: (r, s) => driver.rules.diff(r, s).filter((change) => !change.path.endsWith('sizeGb')) }).driver?.(
          driver,
        ) ?? driver,
    },
    calm,
  ],
  [
    'a lock is not seen',
    session((real) => ({
      survey: async (signal) => {
        const seen = await real.survey(signal)
        return { ...seen, resources: seen.resources.map(({ lock: _, ...observed }) => observed), tasks: [] }
      },
    })),
    storeLostWhileCreating,
  ],
]

test('every hunt passes on the product as it is', async () => {
  for (const one of [calm, lostAnswers, crashWhileCreating, storeLostWhileCreating, namesake, otherEstate, meddler])
    await one({})
})

for (const [name, sabotage, catchIt] of BUGS) {
  test(`[F-40] planted bug found: ${name}`, async () => {
    await assert.rejects(catchIt(sabotage), (error) => error instanceof Error, 'the suite did not notice')
  })
}
