import assert from 'node:assert/strict'
import { globSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Plan } from '../model/plan.ts'
import { readText, readTexts } from '../source/testing/fixture.ts'
import { fingerprintOf, mustBeSame, savedPlanAt, savePlan } from './saved-plan.ts'

const room = mkdtempSync(path.join(tmpdir(), 'croft-saved-'))
after(() => rmSync(room, { recursive: true }))

/** Makes a plan that waits for one thing, as of one look. */
const plan = (reason: string, message = '', lookAgainMs = 1): Plan =>
  ({
    entries: [
      { key: 'Machine/a', uid: 'u', connection: 'c', type: 'vm', action: { do: 'wait', reason, message, lookAgainMs } },
    ],
    notes: [],
    problems: [],
  }) as unknown as Plan

test('a saved plan is known again, and another one is refused', () => {
  const file = path.join(room, 'plan.json')
  savePlan(file, '/srv/infra', plan('a'), 'r1')
  const saved = savedPlanAt(file)
  assert.equal(saved?.directory, '/srv/infra')
  assert.equal(statSync(file).mode & 0o777, 0o600)
  if (saved === undefined) return
  mustBeSame(saved, plan('a'))
  mustBeSame(saved, plan('a', '59 GiB of memory are free', 2))
  const [entry] = plan('a').entries
  if (entry === undefined) return
  const elsewhere = { ...entry, origin: { file: 'moved.yaml', line: 7, column: 1, commit: 'c2' } }
  mustBeSame(saved, { ...plan('a'), entries: [elsewhere] })
  assert.throws(() => mustBeSame(saved, plan('b')), /Something changed since this plan was saved.*Nothing was done/)
  assert.notEqual(fingerprintOf(plan('a')), fingerprintOf(plan('b')))
})

/** A plan with one step, made of every sort of value that a step and a declaration can hold. */
const doing = (change: (of: Record<string, unknown>) => void): Plan => {
  const parts = {
    params: { storage: 'nfs', nodes: 'pve1', message: 'a', notes: 'a', timeoutMs: '5', origin: 'a', warnings: 'a' },
    generation: 'g1',
    declared: 'c1',
    drainMs: 60_000,
    untilMs: 1,
    reason: 'declared',
  }
  change(parts)
  const step = {
    lane: 'rest',
    verb: 'create',
    summary: 's',
    call: { method: 'POST', path: '/storage', params: parts.params },
  }
  const node = {
    about: 'cluster',
    lane: 'node-program',
    verb: 'drain',
    summary: 'd',
    drainMs: parts.drainMs,
    sinceMs: parts.untilMs,
    untilMs: parts.untilMs,
  }
  return {
    entries: [
      {
        key: 'ProxmoxStorage/nfs',
        uid: 'u',
        connection: 'c',
        type: 'setting',
        generation: parts.generation,
        action: { do: 'create', reason: parts.reason, externalId: 'nfs', host: 'pve1', steps: [step] },
      },
    ],
    clusters: [],
    powers: [
      {
        declaration: { key: 'Power/site', generation: parts.declared },
        decision: {
          phase: 'On',
          wanted: { state: 'on' },
          machines: {},
          steps: [node],
          holds: [],
          refusals: [],
          waits: [],
        },
      },
    ],
    notes: [],
    problems: [],
  } as unknown as Plan
}

test('a plan that differs in any parameter, or in anything declared, is another plan', () => {
  const same = fingerprintOf(doing(() => {}))
  assert.equal(same, fingerprintOf(doing(() => {})))
  assert.equal(same, fingerprintOf(doing((parts) => Object.assign(parts, { untilMs: 2 }))), 'a minute later')
  for (const name of ['storage', 'nodes', 'message', 'notes', 'timeoutMs', 'origin', 'warnings'])
    assert.notEqual(
      same,
      fingerprintOf(doing(({ params }) => Object.assign(params as object, { [name]: 'other' }))),
      name,
    )
  for (const name of ['generation', 'declared', 'drainMs', 'reason'])
    assert.notEqual(same, fingerprintOf(doing((parts) => Object.assign(parts, { [name]: 'other' }))), name)
})

test('a directory, a configuration and other JSON are no saved plan', () => {
  writeFileSync(path.join(room, 'other.json'), '{"kind":"Plan"}')
  writeFileSync(path.join(room, 'torn.json'), '{')
  for (const name of ['.', 'other.json', 'torn.json', 'none.json'])
    assert.equal(savedPlanAt(path.join(room, name)), undefined)
})

test('what croft prints or saves may lie in the directory that it is about', () => {
  const file = path.join(room, 'kept.json')
  savePlan(file, '/srv/infra', plan('a'), 'r1')
  const { problems, declarations } = readTexts({ 'kept.json': readFileSync(file, 'utf8') })
  assert.deepEqual([problems, declarations], [[], []])
  const root = path.join(import.meta.dirname)
  const kinds = globSync('**/*.ts', { cwd: root })
    .filter((name) => !name.endsWith('.test.ts'))
    .flatMap((name) => [...readFileSync(path.join(root, name), 'utf8').matchAll(/API_VERSION,\s+kind: '([A-Za-z]+)'/g)])
    .map(([, kind = '']) => kind)
    .filter((kind) => kind !== 'List')
  assert.ok(kinds.length > 8, kinds.join())
  for (const kind of kinds)
    assert.deepEqual(readText(`apiVersion: croft.dev/v1alpha1\nkind: ${kind}\n`).problems, [], kind)
})

test('a plan is found again under any name that it was saved by', () => {
  for (const name of ['plan', 'plan.yaml', 'plan.yml', 'plan.out']) {
    const file = path.join(room, name)
    savePlan(file, '/srv/infra', plan('a'), 'r1')
    assert.equal(savedPlanAt(file)?.directory, '/srv/infra', name)
  }
})
