import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { mustBeSame, savedPlanAt, savePlan } from '../src/cli/saved-plan.ts'
import type { Intention } from '../src/model/record.ts'
import { shownCall } from '../src/model/shown-step.ts'
import type { About, Step } from '../src/model/step.ts'
import { headText, NO_HEAD, readHead } from '../src/store/kubernetes-head.ts'
import { openSqliteStore } from '../src/store/sqlite.ts'
import { planOfAllLanes, stepsOfAllLanes } from './steps-of-all-lanes.ts'

/* The files in saved-steps/ were written by the croft in which every step about a thing had a call in the form of a REST
   request. They are never written again. */

const folder = path.join(import.meta.dirname, 'saved-steps')
const room = mkdtempSync(path.join(tmpdir(), 'croft-saved-steps-'))
after(() => rmSync(room, { recursive: true }))

const lines = readFileSync(path.join(folder, 'intentions.jsonl'), 'utf8').trimEnd().split('\n')

/** What the same decisions are today, in the same order. */
function intentionsNow(): readonly Intention[] {
  const { thing, cluster, operation, power } = stepsOfAllLanes()
  const things = Object.entries(thing).flatMap(([connection, steps]) =>
    steps.map((step) => ({
      key: 'EnvironmentVM/web-1',
      uid: 'u',
      connection,
      externalId: '114',
      host: step.host,
      step,
      generation: 'g',
      atMs: 1,
      state: 'intended' as const,
    })),
  )
  const others = [...cluster, ...operation, ...power].map((step) => ({
    key: 'Cluster/homelab',
    atMs: 1,
    state: 'intended' as const,
    step,
  }))
  return [...things, ...others].map((one, index) => ({ id: `1-${index + 1}`, epoch: 1, ...one }) as Intention)
}

/** What a step is, whichever lane it takes, as far as an earlier form can tell. */
function told(step: Step<About>): unknown {
  // No intention says what it destroys: that is decided from what is seen.
  if (step.about !== undefined) return { ...step, destroys: undefined }
  const { verb, summary, lane, host, queues, disruption } = step
  return { verb, summary, lane, host, queues, disruption, call: shownCall(step) }
}

function rawDatabase(file: string, work: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(file)
  try {
    work(db)
  } finally {
    db.close()
  }
}

test('intentions in flight that an earlier croft wrote are read by SQLite and by the store of a cluster', async () => {
  const file = path.join(room, 'old.db')
  await (await openSqliteStore(file)).close()
  rawDatabase(file, (db) => {
    const insert = db.prepare('INSERT INTO intentions (id, body) VALUES (?, ?)')
    for (const [index, body] of lines.entries()) insert.run(`1-${index + 1}`, body)
  })
  const store = await openSqliteStore(file)
  const read = await store.intentions()
  await store.close()
  const head = readHead(JSON.stringify({ ...NO_HEAD, epoch: 1, intentions: lines.map((line) => JSON.parse(line)) }))
  assert.deepEqual(head?.intentions, read)
  const expected = intentionsNow()
  assert.equal(read.length, expected.length)
  const lanes = new Set(read.map(({ step }) => step.lane))
  for (const lane of ['rest', 'commands', 'object', 'agent', 'power', 'local'])
    assert.ok(lanes.has(lane as never), lane)
  for (const [index, { step, ...one }] of read.entries()) {
    const { step: now, ...rest } = expected[index] as Intention
    assert.deepEqual(one, rest)
    assert.deepEqual(JSON.parse(JSON.stringify(told(step))), JSON.parse(JSON.stringify(told(now))), step.summary)
  }
})

test('an earlier croft can go back to a database of this one: the form on disk is the same, letter by letter', async () => {
  const file = path.join(room, 'new.db')
  const store = await openSqliteStore(file)
  const epoch = await store.beginEpoch()
  for (const intention of intentionsNow()) await store.intend(epoch, intention)
  await store.close()
  const bodies: unknown[] = []
  rawDatabase(file, (db) => {
    bodies.push(
      ...db
        .prepare('SELECT body FROM intentions ORDER BY position')
        .all()
        .map(({ body }) => JSON.parse(String(body))),
    )
  })
  assert.deepEqual(
    bodies,
    lines.map((line) => JSON.parse(line)),
  )
  const { intentions } = JSON.parse(headText({ ...NO_HEAD, intentions: intentionsNow() })) as { intentions: unknown }
  assert.deepEqual(intentions, bodies)
})

test('a plan that an earlier croft saved is refused, because its fingerprint passed over what it would do', () => {
  const saved = savedPlanAt(path.join(folder, 'plan.json'))
  assert.ok(saved)
  assert.throws(() => mustBeSame(saved, planOfAllLanes()), /Save|save it again with croft plan --out/)
})

test('a saved plan is still the plan that was approved, over every lane', () => {
  const file = path.join(room, 'plan.json')
  savePlan(file, '/srv/infra', planOfAllLanes(), 'r1')
  const saved = savedPlanAt(file)
  assert.ok(saved)
  mustBeSame(saved, planOfAllLanes())
  const plan = planOfAllLanes()
  const less = { ...plan, entries: plan.entries.slice(1) }
  assert.throws(() => mustBeSame(saved, less), /Something changed since this plan was saved/)
})
