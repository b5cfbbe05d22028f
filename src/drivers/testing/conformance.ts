import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_POLICY, resourceUid } from '../../model/declaration.ts'
import { removed } from '../../model/destruction.ts'
import type { Connection } from '../../model/estate.ts'
import type { Desired, ObservedResource, RemoteTask, Resource, Survey } from '../../model/resource.ts'
import type { Outcome, Refusal, Step } from '../../model/step.ts'
import { type Driver, type DriverDeps, ObservationFailed, type Session } from '../port.ts'

/** A simulated outside system for tests of a driver: real code, and a controlled clock. */
export interface DriverWorld {
  readonly driver: Driver
  readonly connection: Connection
  readonly deps: DriverDeps
  /** A machine that can be created here, with one disk, declared to run; its id is free. */
  readonly machine: { readonly sizeGb: number; declared(change: MachineChange): Desired }
  /** A machine that croft did not create and that exists from the start. */
  readonly foreignId: string
  /** Advances the clock until the promise is settled. */
  run<T>(promise: Promise<T>): Promise<T>
  pass(ms: number): Promise<void>
  nowMs(): number
  calls(): number
  writes(): number
  /** Returns all facts about foreign guests, to prove that they stay untouched. */
  others(exceptId?: string): string
  /** A person's change without croft. */
  meddle(externalId: string): void
  makeMany(count: number): void
  hideEverything(): void
  refuseToken(): void
  acceptToken(): void
  /** The next write takes effect and its answer is lost; or the request is lost, detectably or not. */
  loseNextWrite(how: 'answer' | 'request' | 'refused'): void
  spoilNextWrite(how: 'html' | 'truncated' | 'empty'): void
  /** Secrets that no text from the driver may contain. */
  readonly secrets: readonly string[]
}

/** A test's changes of the declaration. */
export interface MachineChange {
  readonly vmid?: number
  readonly cores?: number
  readonly memoryMb?: number
  readonly onBoot?: boolean
  readonly power?: 'running' | 'stopped'
  readonly sizeGb?: number
}

const NEVER = new AbortController().signal
/** The interval and the limit of polls for a call's work. */
const POLL_MS = 1_000
const POLLS = 600

/** Tests every driver of machines, with any protocol. One call runs all of it. */
export function driverConformance(name: string, makeWorld: () => DriverWorld): void {
  const test = (rule: string, body: (bench: Bench) => Promise<void>): void => {
    void it(rule, async () => {
      const world = makeWorld()
      const session = world.driver.connect(world.connection, world.deps)
      try {
        await body(createBench(world, session))
      } finally {
        await session.close()
      }
    })
  }

  void describe(`driver conformance: ${name}`, () => {
    test('a survey costs the same number of calls whatever there is', async ({ world, survey }) => {
      await survey()
      const few = world.calls()
      world.makeMany(200)
      const seen = await survey()
      assert.equal(world.calls() - few, few)
      assert.ok(few <= 3, `${few} calls`)
      assert.ok(seen.resources.length > 200)
      assert.equal(world.writes(), 0)
    })

    test('made, observed, compared: no difference, ready, and not one write more', async (bench) => {
      const { world, make, look, resource } = bench
      await make(resource)
      const seen = await bench.settled(resource)
      assert.deepEqual(world.driver.rules.diff(resource, seen), [])
      const writes = world.writes()
      for (let again = 0; again < 3; again++)
        assert.deepEqual(world.driver.rules.diff(resource, await look(resource)), [])
      assert.equal(world.writes(), writes)
    })

    test('our mark is found again: its uid in the survey, its owner in a close look', async ({
      make,
      survey,
      look,
      resource,
      find,
    }) => {
      await make(resource)
      const marked = (await survey()).resources.filter((one) => one.mark?.uid === resource.uid)
      assert.deepEqual(
        marked.map((one) => one.externalId),
        [String(find(resource))],
      )
      const close = await look(resource)
      assert.equal(close.mark?.uid, resource.uid)
      assert.equal(close.mark?.owner, resource.key)
      assert.equal(close.mark?.deletion, resource.policy.deletion)
    })

    test('[F-11] an id that is taken is refused by name, and what has it stays as it was', async ({
      world,
      session,
      resource,
    }) => {
      const before = world.others()
      const taken = {
        ...resource,
        desired: world.machine.declared({ vmid: Number(world.foreignId) || 0 }),
      }
      const [create] = world.driver.rules.createSteps(taken, world.foreignId)
      assert.ok(create)
      const outcome = await world.run(session.perform(create, NEVER))
      assert.equal(outcome.result === 'refused' ? outcome.refusal.reason : outcome.result, 'IdTaken')
      assert.equal(world.others(), before)
    })

    test('a change is written, and is then no difference any more', async ({
      world,
      make,
      settled,
      apply,
      resource,
      changed,
    }) => {
      await make(resource)
      await settled(resource)
      const other = changed({ cores: 3, memoryMb: 3072, onBoot: true })
      const wanted = await apply(other)
      assert.deepEqual(wanted.map((change) => change.path).sort(), ['cpu.cores', 'memory.dedicatedMb', 'onBoot'])
      assert.deepEqual(world.driver.rules.diff(other, await settled(other)), [])
    })

    test('a disk grows, and never shrinks', async ({ world, make, settled, apply, look, resource, changed }) => {
      await make(resource)
      await settled(resource)
      const grown = (sizeGb: number) => changed({ sizeGb })
      const size = world.machine.sizeGb
      await apply(grown(size + 5))
      assert.deepEqual(world.driver.rules.diff(grown(size + 5), await settled(grown(size + 5))), [])
      const back = world.driver.rules.diff(grown(size), await look(resource))
      assert.deepEqual(
        back.map((change) => change.effect),
        ['replace'],
      )
      assert.deepEqual(world.driver.rules.updateSteps(grown(size), await look(resource), back), [])
    })

    test('power follows the declaration, and nothing is done twice', async ({
      world,
      make,
      settled,
      apply,
      resource,
      changed,
    }) => {
      await make(resource)
      await settled(resource)
      const off = changed({ power: 'stopped' })
      assert.deepEqual(
        (await apply(off)).map((change) => change.path),
        ['power'],
      )
      assert.equal((await settled(off)).close?.power, 'stopped')
      assert.deepEqual(
        (await apply(resource)).map((change) => change.path),
        ['power'],
      )
      assert.deepEqual(world.driver.rules.diff(resource, await settled(resource)), [])
    })

    test('[F-12] a change on top of somebody else’s is refused, and theirs stays', async ({
      world,
      session,
      make,
      settled,
      look,
      resource,
      changed,
      find,
    }) => {
      await make(resource)
      await settled(resource)
      const other = changed({ onBoot: true })
      const before = await look(other)
      world.meddle(find(resource))
      const theirs = await look(other)
      assert.notEqual(theirs.close?.digest, before.close?.digest)
      const [step] = world.driver.rules.updateSteps(other, before, world.driver.rules.diff(other, before))
      assert.ok(step)
      const outcome = await world.run(session.perform(step, NEVER))
      assert.equal(outcome.result === 'refused' ? outcome.refusal.reason : outcome.result, 'DigestMismatch')
      assert.equal(outcome.result === 'refused' && outcome.refusal.meaning, 'waiting')
      assert.deepEqual((await look(other)).close?.config, theirs.close?.config)
    })

    test('taking over writes the mark and nothing else', async ({ world, survey, closely, perform, resource }) => {
      const there = (await survey()).resources.find((one) => one.externalId === world.foreignId)
      assert.ok(there)
      const before = await closely(there)
      assert.equal(before.mark, undefined)
      await perform(world.driver.rules.adoptSteps(resource, before))
      const after = await closely(there)
      assert.equal(after.mark?.owner, resource.key)
      const changed = Object.keys({ ...before.close?.config, ...after.close?.config }).filter(
        (key) => JSON.stringify(before.close?.config[key]) !== JSON.stringify(after.close?.config[key]),
      )
      assert.deepEqual(changed.sort(), ['description', 'digest', 'tags'])
      const text = (observed: ObservedResource, key: string) => {
        const value = observed.close?.config[key]
        return typeof value === 'string' ? value : ''
      }
      for (const tag of text(before, 'tags').split(';')) assert.ok(text(after, 'tags').includes(tag))
      // A system may add a line end to the text.
      const words = text(before, 'description').trimEnd()
      assert.ok(text(after, 'description').startsWith(words), text(after, 'description'))
    })

    test('removed means gone, its id free, and nothing else touched', async ({
      world,
      session,
      make,
      settled,
      look,
      perform,
      resource,
      find,
      survey,
      asked,
    }) => {
      const others = world.others()
      await make(resource)
      const seen = await settled(resource)
      // Step by step, each after a new look, as the engine does it.
      for (let round = 0; round < 3; round++) {
        const now = await world.run(session.observe(seen, { power: true }, NEVER))
        if (now === undefined) break
        const [step] = world.driver.rules.deleteSteps(removed(now, []))
        assert.ok(step)
        await perform([step])
      }
      assert.equal(await world.run(session.observe(seen, {}, NEVER)), undefined)
      assert.equal(await asked(find(resource)), true)
      assert.equal(
        (await survey()).resources.some((one) => one.externalId === find(resource)),
        false,
      )
      assert.equal(world.others(), others)
      await assert.rejects(look(resource))
    })

    test('[F-09] an id that we may not see is known to be taken', async ({ world, survey, asked }) => {
      assert.equal(await asked(world.foreignId), false)
      world.hideEverything()
      assert.equal((await survey()).resources.length, 0)
      assert.equal(await asked(world.foreignId), false)
    })

    test('[F-04] a lost answer is unclear, and the thing is there to be found', async ({
      world,
      session,
      survey,
      resource,
      find,
      waitFor,
    }) => {
      world.loseNextWrite('answer')
      const [create] = world.driver.rules.createSteps(resource, find(resource))
      assert.ok(create)
      assert.equal((await world.run(session.perform(create, NEVER))).result, 'unclear')
      await waitFor(async () => (await survey()).resources.some((one) => one.mark?.uid === resource.uid))
    })

    test('[F-05] a lost request is unclear unless it surely never left', async ({
      world,
      session,
      resource,
      find,
      asked,
    }) => {
      const [create] = world.driver.rules.createSteps(resource, find(resource))
      assert.ok(create)
      world.loseNextWrite('request')
      assert.equal((await world.run(session.perform(create, NEVER))).result, 'unclear')
      world.loseNextWrite('refused')
      assert.equal((await world.run(session.perform(create, NEVER))).result, 'not-sent')
      assert.equal((await world.run(session.perform(create, AbortSignal.abort()))).result, 'not-sent')
      assert.equal(await asked(find(resource)), true)
    })

    for (const how of ['html', 'truncated', 'empty'] as const) {
      test(`[F-07] an answer to a write that is ${how} is unclear`, async ({ world, session, resource, find }) => {
        const [create] = world.driver.rules.createSteps(resource, find(resource))
        assert.ok(create)
        world.spoilNextWrite(how)
        assert.equal((await world.run(session.perform(create, NEVER))).result, 'unclear')
      })
    }

    test('[F-10] a refused token concerns the whole connection, and a renewed one is used at once', async ({
      world,
      session,
      survey,
      resource,
      find,
    }) => {
      await survey()
      world.refuseToken()
      const refusal = await refusalOf(survey())
      assert.equal(refusal.connectionWide, true)
      assert.equal(refusal.meaning, 'stalled')
      const [create] = world.driver.rules.createSteps(resource, find(resource))
      assert.ok(create)
      const outcome = await world.run(session.perform(create, NEVER))
      assert.equal(outcome.result, 'refused')
      for (const secret of world.secrets) assert.ok(!JSON.stringify([refusal, outcome]).includes(secret))
      world.acceptToken()
      assert.ok((await survey()).resources.length > 0)
    })

    test('performing never waits for the work behind it', async ({ world, session, resource, find }) => {
      const startedMs = world.nowMs()
      let outcome: Outcome | undefined
      // Immediate steps have no work behind them; take the first that has.
      for (const step of world.driver.rules.createSteps(resource, find(resource))) {
        outcome = await world.run(session.perform(step, NEVER))
        if (outcome.result !== 'done') break
      }
      assert.ok(world.nowMs() - startedMs < 1_000)
      // An immediate system has nothing to wait for.
      if (outcome?.result === 'done') return
      assert.ok(outcome?.result === 'started', JSON.stringify(outcome))
      const task = await world.run(session.taskOutcome(outcome.taskId, NEVER))
      assert.equal(task?.state, 'running')
    })
  })
}

interface Bench {
  readonly world: DriverWorld
  readonly session: Session
  readonly resource: Resource
  /** The same resource with another specification. */
  changed(change: MachineChange): Resource
  find(resource: Resource): string
  survey(): Promise<Survey>
  asked(externalId: string): Promise<boolean>
  /** A close look with power and agent. */
  look(resource: Resource): Promise<ObservedResource>
  closely(observed: ObservedResource): Promise<ObservedResource>
  perform(steps: readonly Step[]): Promise<void>
  make(resource: Resource): Promise<void>
  /** Observes, compares, performs all steps; returns the differences. */
  apply(resource: Resource): Promise<readonly { readonly path: string }[]>
  /** Waits until it is ready. */
  settled(resource: Resource): Promise<ObservedResource>
  waitFor(condition: () => Promise<boolean>): Promise<void>
}

function createBench(world: DriverWorld, session: Session): Bench {
  const { rules } = world.driver
  const resource = machineResource(world)
  const bench: Bench = {
    world,
    session,
    resource,
    changed: (change) => ({ ...resource, desired: world.machine.declared(change) }),
    find: (one) => rules.declaredId(one) ?? assert.fail('no id declared'),
    survey: () => world.run(session.survey(NEVER)),
    asked: (externalId) => world.run(session.idIsFree(externalId, NEVER)),
    async look(one) {
      const id = bench.find(one)
      const there = (await bench.survey()).resources.find((observed) => observed.externalId === id)
      return bench.closely(there ?? assert.fail(`${id} is not in the survey`))
    },
    async closely(observed) {
      const close = await world.run(session.observe(observed, { power: true, agent: true }, NEVER))
      return close ?? assert.fail(`${observed.externalId} is gone`)
    },
    async perform(steps) {
      for (const step of steps) await performed(world, session, step)
    },
    make: (one) => bench.perform(rules.createSteps(one, bench.find(one))),
    async apply(one) {
      const before = await bench.look(one)
      const changes = rules.diff(one, before)
      await bench.perform(rules.updateSteps(one, before, changes))
      return changes
    },
    async settled(one) {
      await bench.waitFor(async () => rules.readiness(one, await bench.look(one)).ready)
      return bench.look(one)
    },
    async waitFor(condition) {
      for (let poll = 0; poll < POLLS; poll++) {
        if (await condition()) return
        await world.pass(POLL_MS)
      }
      assert.fail('it did not come true')
    },
  }
  return bench
}

/** Performs one step and its work, which must succeed. */
async function performed(world: DriverWorld, session: Session, step: Step): Promise<void> {
  const outcome: Outcome = await world.run(session.perform(step, NEVER))
  if (outcome.result === 'done') return
  if (outcome.result !== 'started') assert.fail(`${step.summary}: ${JSON.stringify(outcome)}`)
  for (let poll = 0; poll < POLLS; poll++) {
    const task: RemoteTask | undefined = await world.run(session.taskOutcome(outcome.taskId, NEVER))
    if (task?.state === 'succeeded') return
    if (task?.state === 'failed') assert.fail(`${step.summary}: ${task.message}`)
    await world.pass(POLL_MS)
  }
  assert.fail(`${step.summary}: never ended`)
}

async function refusalOf(facts: Promise<unknown>): Promise<Refusal> {
  const error = await facts.then(
    () => assert.fail('it was answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ObservationFailed, String(error))
  return error.refusal
}

function machineResource(world: DriverWorld): Resource {
  const key = 'Machine/conformance'
  return {
    key,
    uid: resourceUid(world.connection.estate, key),
    kind: 'Machine',
    name: 'conformance',
    driver: world.driver.name,
    connection: world.connection.name,
    estate: world.connection.estate,
    desired: world.machine.declared({}),
    needs: [],
    policy: DEFAULT_POLICY,
    origin: { file: 'conformance.yaml', line: 1, column: 1 },
    generation: 'g1',
  }
}
