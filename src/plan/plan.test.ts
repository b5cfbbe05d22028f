import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { atOnce } from '../lib/in-turns.ts'
import { DEFAULT_POLICY } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { Action } from '../model/plan.ts'
import type { ThingIntention } from '../model/record.ts'
import type { Mark, ObservedResource, Resource } from '../model/resource.ts'
import { plan, planWhole, revise } from './plan.ts'
import {
  CONNECTION,
  estateOf,
  FAKE_RULES,
  guest,
  ledgerWith,
  machine,
  NOW,
  recordOf,
  step,
  survey,
  worldWith,
} from './testing/fixture.ts'
import { EMPTY_LEDGER, type Ledger, observedWorld, unseenWorld, type World } from './things/world.ts'

function planOf(estate: Estate, world: World, ledger: Ledger = ledgerWith()) {
  return plan({
    estate,
    worlds: new Map([['default', world]]),
    ledger,
    rules: new Map([['fake', FAKE_RULES]]),
    nowMs: NOW,
  })
}

function actionOf(estate: Estate, world: World, ledger?: Ledger): Action {
  const entry = planOf(estate, world, ledger).entries[0]
  assert.ok(entry)
  return entry.action
}

function words(action: Action): string {
  switch (action.do) {
    case 'wait':
      return `wait ${action.reason}`
    case 'hold':
      return `hold ${action.guard} ${action.held.do}`
    case 'refuse':
      return `refuse ${action.guard}`
    case 'create':
      return `create ${action.externalId}`
    default:
      return action.do
  }
}

const web = machine('web')
const web108 = machine('web', { vmid: 108 })

function intention(key: string, externalId: string): ThingIntention {
  return {
    id: '1-1',
    epoch: 1,
    key,
    uid: 'u',
    connection: 'default',
    externalId,
    host: 'alpha',
    step: step('create', externalId),
    generation: 'g',
    atMs: NOW,
    state: 'intended',
  }
}

test('what is next follows from what is declared and what is there', () => {
  const adopting = machine('web', { vmid: 108, policy: { adopt: '108' } })
  const failing = {
    kind: 'failing' as const,
    reason: 'X',
    message: 'x',
    count: 2,
    firstMs: NOW,
    lastMs: NOW,
    nextAttemptMs: NOW + 5000,
  }
  const table: [string, Estate, World, Ledger | undefined, string][] = [
    ['absent, id not asked for', estateOf([web]), worldWith([]), undefined, 'wait IdNotProbed'],
    ['absent, id free', estateOf([web]), worldWith([], { '100': 'free' }), undefined, 'create 100'],
    ['absent, declared id free', estateOf([web108]), worldWith([], { '108': 'free' }), undefined, 'create 108'],
    [
      'absent, lower ids used by others',
      estateOf([web]),
      worldWith([guest(100), guest(101)], { '102': 'free' }),
      undefined,
      'create 102',
    ],
    [
      'absent, and after a lost store somebody makes a guest of our range',
      estateOf([web]),
      worldWith([guest(150, { lock: 'create' })], { '100': 'free' }),
      EMPTY_LEDGER,
      'wait UnfinishedCreation',
    ],
    [
      'absent, and after a lost store somebody makes a guest above our range',
      estateOf([web]),
      worldWith([guest(200, { lock: 'create' })], { '100': 'free' }),
      EMPTY_LEDGER,
      'create 100',
    ],
    [
      'absent, and after a lost store somebody makes a guest below our range',
      estateOf([web]),
      worldWith([guest(99, { lock: 'clone' })], { '100': 'free' }),
      EMPTY_LEDGER,
      'create 100',
    ],
    ['there and as declared', estateOf([web]), worldWith([guest(100, { of: web.key })]), undefined, 'nothing'],
    [
      'there, read from afar only',
      estateOf([web]),
      worldWith([guest(100, { of: web.key, seenOnly: true })]),
      undefined,
      'wait NotReadClosely',
    ],
    [
      'there with other memory',
      estateOf([web]),
      worldWith([guest(100, { of: web.key, memory: 512 })]),
      undefined,
      'update',
    ],
    [
      'there and locked',
      estateOf([web]),
      worldWith([guest(100, { of: web.key, lock: 'backup', memory: 512 })]),
      undefined,
      'wait Locked',
    ],
    ['declared id belongs to a stranger', estateOf([web108]), worldWith([guest(108)]), undefined, 'refuse identity'],
    [
      'declared id is kept for another',
      estateOf([web108]),
      worldWith([guest(108, { of: 'Machine/other' })]),
      undefined,
      'refuse identity',
    ],
    ['declared to be an existing guest', estateOf([adopting]), worldWith([guest(108)]), undefined, 'adopt'],
    [
      'two guests with our mark',
      estateOf([web]),
      worldWith([guest(100, { of: web.key }), guest(101, { of: web.key })]),
      undefined,
      'refuse identity',
    ],
    [
      'two guests with our mark, one of them on record',
      estateOf([web]),
      worldWith([guest(100, { of: web.key, memory: 512 }), guest(101, { of: web.key })]),
      ledgerWith({ known: [recordOf(web, { externalId: '101' })] }),
      'nothing',
    ],
    [
      'in flight',
      estateOf([web]),
      worldWith([]),
      ledgerWith({ intentions: new Map([[web.key, intention(web.key, '100')]]) }),
      'wait InProgress',
    ],
    [
      'backing off',
      estateOf([web]),
      worldWith([], { '100': 'free' }),
      ledgerWith({ known: [recordOf(web, { failure: failing })] }),
      'wait X',
    ],
    [
      'stalled',
      estateOf([web]),
      worldWith([], { '100': 'free' }),
      ledgerWith({ known: [recordOf(web, { failure: failing, stalledGeneration: web.generation })] }),
      'refuse stalled',
    ],
    [
      'stalled, declaration changed since',
      estateOf([web]),
      worldWith([], { '100': 'free' }),
      ledgerWith({ known: [recordOf(web, { stalledGeneration: 'older' })] }),
      'create 100',
    ],
    [
      'stalled, a person asks for another try',
      estateOf([web]),
      worldWith([], { '100': 'free' }),
      ledgerWith({
        known: [recordOf(web, { failure: failing, stalledGeneration: web.generation })],
        retryStalled: true,
      }),
      'create 100',
    ],
    [
      'connection not seen',
      estateOf([web]),
      unseenWorld(CONNECTION, { reason: 'Unreachable', meaning: 'backoff', message: 'no route' }),
      undefined,
      'wait ConnectionNotSeen',
    ],
    [
      'needs something that is not there',
      estateOf([machine('web', { needs: ['Machine/web'] })]),
      worldWith([], { '100': 'free' }),
      undefined,
      'refuse order',
    ],
  ]
  for (const [name, estate, world, ledger, expected] of table) {
    assert.equal(words(actionOf(estate, world, ledger)), expected, name)
  }
})

test('power is never changed on hearsay: the survey may be 12 s old', () => {
  const seen = guest(100, { of: web.key, power: 'stopped' })
  const close = { config: { memory: '1024' }, digest: 'd1', atMs: NOW }
  const hearsay = actionOf(estateOf([web]), worldWith([{ ...seen, close }]))
  assert.equal(words(hearsay), 'wait NotReadClosely')
  assert.deepEqual(hearsay.do === 'wait' && hearsay.missing, { look: 'power', externalId: '100' })
  const sure = actionOf(estateOf([web]), worldWith([{ ...seen, close: { ...close, power: 'stopped' } }]))
  assert.equal(words(sure), 'update')
})

test('[R8] what is paused, observed, protected or not to be replaced is not touched', () => {
  const differs = worldWith([guest(100, { of: web.key, memory: 512 })])
  assert.equal(words(actionOf(estateOf([machine('web', { policy: { paused: true } })]), differs)), 'hold paused update')
  assert.equal(
    words(actionOf(estateOf([machine('web', { policy: { manage: 'observe' } })]), differs)),
    'hold observe-only update',
  )
  const odd = machine('replace-me')
  const oddWorld = worldWith([guest(100, { of: odd.key, memory: 512 })])
  assert.equal(words(actionOf(estateOf([odd]), oddWorld)), 'refuse replacement')
  assert.equal(
    words(actionOf(estateOf([machine('replace-me', { policy: { replace: 'allowed' } })]), oddWorld)),
    'replace',
  )
  const guarded = machine('replace-me', { policy: { replace: 'allowed', protect: true } })
  assert.equal(words(actionOf(estateOf([guarded]), oddWorld)), 'refuse protection')
})

function markedBy(observed: ObservedResource, estate: string): ObservedResource {
  return observed.mark === undefined ? observed : { ...observed, mark: { ...observed.mark, estate } }
}

const marked = (observed: ObservedResource, more: Partial<Mark>): ObservedResource =>
  observed.mark === undefined ? observed : { ...observed, mark: { ...observed.mark, ...more } }

test('[D-01] nobody is advised to destroy a server of a cluster, or what is protected, from another directory', () => {
  const gone = machine('gone')
  const advice = (more: Partial<Mark>) => {
    const [entry] = planOf(estateOf([]), worldWith([marked(guest(100, { of: gone.key }), more)])).entries
    assert.ok(entry?.action.do === 'hold')
    return entry.action.allow
  }
  assert.match(advice({}), /run croft delete Machine\/gone/)
  assert.match(advice({ serverOf: 'Cluster/homelab' }), /^to keep it.*; it is a server of Cluster\/homelab/)
  assert.match(advice({ protect: true }), /^to keep it.*; it is protected/)
  for (const more of [{ serverOf: 'Cluster/homelab' }, { protect: true as const }])
    assert.doesNotMatch(advice(more), /croft delete|Approval/)
})

test('[D-02] two directories that declare one key: the second is refused, and makes no second machine', () => {
  const mine = { ...machine('web'), estate: 'default/e1' }
  const theirs = markedBy(guest(100, { of: mine.key }), 'default/e2')
  const action = actionOf(estateOf([mine]), worldWith([theirs]))
  assert.equal(words(action), 'refuse identity')
  assert.match(action.do === 'refuse' ? action.reason : '', /belongs to another estate \(e2\)/)
  const legacy = markedBy(guest(100, { of: mine.key }), 'default')
  assert.equal(words(actionOf(estateOf([mine]), worldWith([legacy]))), 'nothing')
})

test('what is declared no more is deleted or left as its policy says, and only if it is ours', () => {
  const gone = machine('gone')
  const cases: [string, World, Partial<Estate>, Ledger, string[]][] = [
    [
      '[D-02] marked, and nothing says that it was declared here',
      worldWith([guest(100, { of: gone.key })]),
      {},
      ledgerWith(),
      ['hold not-of-this-directory delete'],
    ],
    [
      '[D-02] a record says who declared it',
      worldWith([guest(100, { of: gone.key })]),
      { sources: ['e1', 'directory /home'] },
      ledgerWith({ known: [recordOf(gone, { declaredBy: 'e1' })] }),
      ['delete'],
    ],
    [
      '[D-02] somebody declared it who declares nothing here',
      worldWith([guest(100, { of: gone.key })]),
      { sources: ['e1', 'directory /home'] },
      ledgerWith({ known: [recordOf(gone, { declaredBy: 'e2' })] }),
      ['hold not-of-this-directory delete'],
    ],
    [
      '[D-02] a record from before they said who, of something that was declared',
      worldWith([guest(100, { of: gone.key })]),
      { sources: ['e1'] },
      ledgerWith({ known: [recordOf(gone)] }),
      ['delete'],
    ],
    [
      '[D-02] a record of something that was only seen',
      worldWith([guest(100, { of: gone.key })]),
      { sources: ['e1'] },
      ledgerWith({ known: [recordOf(gone, { generation: '' })] }),
      ['hold not-of-this-directory delete'],
    ],
    [
      '[D-02] the commit that removed it',
      worldWith([guest(100, { of: gone.key })]),
      { removed: new Map([[gone.key, { commit: 'c', policy: DEFAULT_POLICY }]]) },
      ledgerWith(),
      ['delete'],
    ],
    [
      '[D-02] that commit says that it was protected',
      worldWith([guest(100, { of: gone.key })]),
      { removed: new Map([[gone.key, { commit: 'c', policy: { ...DEFAULT_POLICY, protect: true } }]]) },
      ledgerWith(),
      ['refuse protection'],
    ],
    [
      '[D-03] the policy of a record that was only a note does not count against the mark',
      worldWith([guest(100, { of: gone.key })]),
      { removed: new Map([[gone.key, { commit: 'c', policy: DEFAULT_POLICY }]]) },
      ledgerWith({ known: [recordOf(machine('gone', { policy: { deletion: 'Orphan' } }), { generation: '' })] }),
      ['delete'],
    ],
    [
      '[D-02] a person names it',
      worldWith([guest(100, { of: gone.key })]),
      { approvals: [{ name: 'a', deletes: [gone.key], origin: CONNECTION.origin }] },
      ledgerWith(),
      ['delete'],
    ],
    [
      '[D-01] a person names a server of a cluster that nothing here remembers',
      worldWith([marked(guest(100, { of: gone.key }), { serverOf: 'Cluster/homelab' })]),
      { approvals: [{ name: 'a', deletes: [gone.key], origin: CONNECTION.origin }] },
      ledgerWith(),
      ['refuse protection'],
    ],
    [
      '[D-01] a person names what was protected when it was marked',
      worldWith([marked(guest(100, { of: gone.key }), { protect: true })]),
      { approvals: [{ name: 'a', deletes: [gone.key], origin: CONNECTION.origin }] },
      ledgerWith(),
      ['refuse protection'],
    ],
    [
      '[D-01] what this directory remembers counts before what the mark says',
      worldWith([marked(guest(100, { of: gone.key }), { protect: true, serverOf: 'Cluster/homelab' })]),
      { removed: new Map([[gone.key, { commit: 'c', policy: DEFAULT_POLICY }]]) },
      ledgerWith(),
      ['delete'],
    ],
    [
      '[D-02] an approval of a number names nothing',
      worldWith([guest(100, { of: gone.key })]),
      { approvals: [{ name: 'a', deletes: [], maxDeletes: 5, origin: CONNECTION.origin }] },
      ledgerWith(),
      ['hold not-of-this-directory delete'],
    ],
    [
      'policy in the mark: Orphan, and nothing says that it was declared here',
      worldWith([guest(100, { of: gone.key, deletion: 'Orphan' })]),
      {},
      ledgerWith(),
      [],
    ],
    [
      'declared before, with the policy Orphan',
      worldWith([guest(100, { of: gone.key, deletion: 'Orphan' })]),
      {},
      ledgerWith({ known: [recordOf(machine('gone', { policy: { deletion: 'Orphan' } }))] }),
      ['forget'],
    ],
    [
      '[D-02] marked by an estate with another uid',
      worldWith([markedBy(guest(100, { of: gone.key }), 'default/e2')]),
      { sources: ['e1'] },
      ledgerWith({ known: [recordOf(gone, { declaredBy: 'e1' })] }),
      [],
    ],
    [
      '[D-02] marked by our estate and its uid',
      worldWith([markedBy(guest(100, { of: gone.key }), 'default/e1')]),
      { sources: ['e1'] },
      ledgerWith({ known: [recordOf(gone, { declaredBy: 'e1' })] }),
      ['delete'],
    ],
    [
      'already forgotten',
      worldWith([guest(100, { of: gone.key, deletion: 'Orphan' })]),
      {},
      ledgerWith({ known: [recordOf(machine('gone', { policy: { deletion: 'Orphan' } }), { status: 'Orphaned' })] }),
      ['nothing'],
    ],
    [
      'protected when it was last declared',
      worldWith([guest(100, { of: gone.key })]),
      {},
      ledgerWith({ known: [recordOf(machine('gone', { policy: { protect: true } }))] }),
      ['refuse protection'],
    ],
    ['another estate', worldWith([guest(100, { of: gone.key, estate: 'other' })]), {}, ledgerWith(), []],
    ['no mark', worldWith([guest(100)]), {}, ledgerWith(), []],
    [
      'not read closely: nobody knows whose it is',
      worldWith(
        [guest(100, { of: gone.key, seenOnly: true })].map(({ mark, ...s }) => ({
          ...s,
          mark: { uid: mark?.uid ?? '' },
        })),
      ),
      {},
      ledgerWith(),
      [],
    ],
    [
      'declared, but its file is broken',
      worldWith([guest(100, { of: gone.key })]),
      { unreadable: [gone.key] },
      ledgerWith(),
      [],
    ],
    [
      'a file could not be read at all',
      worldWith([guest(100, { of: gone.key })]),
      { incomplete: true },
      ledgerWith({ known: [recordOf(gone)] }),
      ['hold incomplete-source delete'],
    ],
    [
      'left behind, and a person asked for it to go',
      worldWith([guest(100, { of: gone.key, deletion: 'Orphan' })]),
      { approvals: [{ name: 'a', deletes: [gone.key], orphans: true, origin: CONNECTION.origin }] },
      ledgerWith(),
      ['delete'],
    ],
  ]
  for (const [name, world, more, ledger, expected] of cases) {
    assert.deepEqual(
      planOf(estateOf([], more), world, ledger).entries.map((entry) => words(entry.action)),
      expected,
      name,
    )
  }
})

test('[D-13] a creation is called broken off only after a look at the guest itself that is no older than the survey', () => {
  const known = ledgerWith({ known: [recordOf(web, { externalId: '100', made: true })] })
  const judged = (observed: ObservedResource) => words(actionOf(estateOf([web]), worldWith([observed]), known))
  const locked = guest(100, { lock: 'create', seenOnly: true })
  const read = (atMs: number): ObservedResource => ({ ...locked, close: { config: { lock: 'create' }, atMs } })
  assert.equal(judged(locked), 'wait NotReadClosely')
  assert.equal(judged(read(NOW - 1)), 'wait NotReadClosely')
  assert.equal(judged(read(NOW)), 'refuse unfinished-creation')
  // It ended between the survey's reads of guests and of tasks.
  assert.equal(judged(guest(100, { of: web.key })), 'nothing')
})

test('[A54] [F-36] a sync that would delete 4 of 6 machines stops until Git approves', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const world = worldWith(names.map((name, i) => guest(100 + i, { of: `Machine/${name}` })))
  const two = [machine('a'), machine('b')]
  const known = ledgerWith({ known: names.map((name) => recordOf(machine(name))) })
  const held = planOf(estateOf(two), world, known).entries.filter((entry) => entry.action.do === 'hold')
  assert.equal(held.length, 4)
  assert.ok(held.every((entry) => words(entry.action) === 'hold blast-radius delete'))

  const origin = CONNECTION.origin
  const deletes = names.slice(2).map((name) => `Machine/${name}`)
  const approvals = {
    'all named': [{ name: 'x', deletes, origin }],
    'by number': [{ name: 'x', deletes: [], maxDeletes: 4, origin }],
    expired: [{ name: 'x', deletes, expiresMs: NOW - 1, origin }],
    'one missing': [{ name: 'x', deletes: deletes.slice(1), origin }],
    'too few': [{ name: 'x', deletes: [], maxDeletes: 3, origin }],
  }
  const deleted = (approved: (typeof approvals)['all named']) =>
    planOf(estateOf(two, { approvals: approved }), world, known).entries.filter((entry) => entry.action.do === 'delete')
      .length
  assert.deepEqual(Object.fromEntries(Object.entries(approvals).map(([name, approved]) => [name, deleted(approved)])), {
    'all named': 4,
    'by number': 4,
    expired: 0,
    'one missing': 3,
    'too few': 0,
  })
})

test('[A54] containers are machines: what leaves and what stays counts as it does for VMs', () => {
  const container = (name: string): Resource => ({
    ...machine(name),
    desired: { type: 'container', container: { name, host: 'alpha', power: 'running', mounts: [], nics: [] } },
  })
  const actions = (stay: readonly Resource[], leave: readonly Resource[]) => {
    const all = [...stay, ...leave]
    const world = worldWith(all.map(({ key, desired: { type } }, i) => ({ ...guest(100 + i, { of: key }), type })))
    const known = all.map((one) => recordOf(one, { type: one.desired.type }))
    const leaving = new Set(leave.map(({ key }) => key))
    return planOf(estateOf(stay), world, ledgerWith({ known }))
      .entries.filter(({ key }) => leaving.has(key))
      .map(({ action }) => words(action))
  }
  const named = <T>(make: (name: string) => T, count: number, from: string) =>
    Array.from({ length: count }, (_, i) => make(`${from}${i}`))
  const held = ['hold blast-radius delete', 'hold blast-radius delete']
  assert.deepEqual(actions(named(machine, 2, 's'), named(container, 2, 'c')), held)
  assert.deepEqual(actions([], [...named(machine, 1, 's'), ...named(container, 1, 'c')]), held)
  // One in ten may be deleted: 20, including the two that leave.
  assert.deepEqual(actions(named(machine, 18, 's'), named(container, 2, 'c')), ['delete', 'delete'])
  assert.deepEqual(actions(named(container, 18, 's'), named(machine, 2, 'c')), ['delete', 'delete'])
  assert.deepEqual(actions(named(container, 17, 's'), named(machine, 2, 'c')), held)
})

test('[D-07] approvals count one by one: what is named goes, what is not stays held, also when the others are gone', () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const all = worldWith(names.map((name, i) => guest(100 + i, { of: `Machine/${name}` })))
  const two = [machine('a'), machine('b')]
  const approvals = [{ name: 'x', deletes: ['Machine/c', 'Machine/e'], origin: CONNECTION.origin }]
  const first = planOf(estateOf(two, { approvals }), all).entries.filter(({ key }) => /[c-f]$/.test(key))
  assert.deepEqual(
    first.map(({ key, action }) => `${key} ${action.do}`),
    ['Machine/c delete', 'Machine/d hold', 'Machine/e delete', 'Machine/f hold'],
  )
  // Two are gone, and one of the other two is approved: the last one still needs its own approval.
  const left = worldWith(['a', 'b', 'd'].map((name, i) => guest(100 + i, { of: `Machine/${name}` })))
  const held = recordOf(machine('d'), { awaitsApproval: true })
  const later = planOf(estateOf(two, { approvals }), left, ledgerWith({ known: [held] })).entries
  const toD = (entries: typeof later) =>
    entries.flatMap(({ key, action }) => (key === 'Machine/d' ? words(action) : []))
  assert.deepEqual(toD(later), ['hold blast-radius delete'])
  const fresh = planOf(estateOf(two, { approvals }), left, ledgerWith({ known: [recordOf(machine('d'))] })).entries
  assert.deepEqual(toD(fresh), ['delete'])
})

test('[A54] one machine may go, and of 40 machines four', () => {
  for (const [all, gone, expected] of [
    [3, 1, 1],
    [3, 2, 0],
    [40, 4, 4],
    [40, 5, 0],
  ] as const) {
    const names = Array.from({ length: all }, (_, i) => `m${String(i).padStart(2, '0')}`)
    const world = worldWith(names.map((name, i) => guest(100 + i, { of: `Machine/${name}` })))
    const kept = names.slice(gone).map((name) => machine(name))
    const known = ledgerWith({ known: names.map((name) => recordOf(machine(name))) })
    const deletes = planOf(estateOf(kept), world, known).entries.filter((entry) => entry.action.do === 'delete')
    assert.equal(deletes.length, expected, `${gone} of ${all}`)
  }
})

test('[F-09] absence is no proof: hidden guests and mass absence change nothing', () => {
  const six = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => machine(name))
  const known = six.map((resource, i) => recordOf(resource, { externalId: String(100 + i), seenMs: NOW - 5000 }))
  const resources = six.map((resource, i) => guest(100 + i, { of: resource.key }))
  const ids = six.map((_, i) => String(100 + i))
  for (const lost of [1, 3, 6]) {
    for (const probe of ['taken', 'free'] as const) {
      const probes = Object.fromEntries(ids.slice(0, lost).map((id) => [id, probe]))
      const result = planOf(estateOf(six), worldWith(resources.slice(lost), probes), ledgerWith({ known }))
      const creates = result.entries.filter((entry) => entry.action.do === 'create' || entry.action.do === 'delete')
      const reallyGone = probe === 'free' && lost <= 3
      assert.equal(creates.length, reallyGone ? lost : 0, `${lost} lost, ids ${probe}`)
      assert.equal(
        result.notes.some((note) => note.code === 'suspect'),
        !reallyGone,
        `${lost} lost, ids ${probe}`,
      )
    }
  }
  const empty = planOf(estateOf(six), worldWith([], {}), ledgerWith({ known }))
  assert.ok(
    empty.notes.some((note) => note.code === 'suspect'),
    'an empty list raises suspicion before anything is asked',
  )
  const said = estateOf(six, {
    approvals: [{ name: 'x', deletes: [], absence: ['default'], origin: CONNECTION.origin }],
  })
  const probes = Object.fromEntries(ids.map((id) => [id, 'free' as const]))
  const rebuilt = planOf(said, worldWith([], probes), ledgerWith({ known }))
  assert.equal(
    rebuilt.entries.filter((entry) => entry.action.do === 'create').length,
    6,
    'unless Git says that they are gone',
  )
})

test('[F-25] with a lost store, a guest that is being made may be ours: nothing is made beside it', () => {
  const world = worldWith([guest(100, { lock: 'create', seenOnly: true })], { '101': 'free' })
  assert.equal(words(actionOf(estateOf([web]), world, EMPTY_LEDGER)), 'wait UnfinishedCreation')
  assert.equal(
    words(actionOf(estateOf([web]), world, ledgerWith())),
    'create 101',
    'with a store we know that it is not',
  )
})

test('[F-11] an id that is taken and not to be seen is not used', () => {
  const taken = worldWith([], { '108': 'taken' })
  assert.equal(words(actionOf(estateOf([web108]), taken)), 'refuse identity')
  const next = planOf(estateOf([web]), worldWith([], { '100': 'taken', '101': 'free' }))
  assert.equal(words(next.entries[0]?.action ?? { do: 'nothing' }), 'create 101')
})

test('the same estate in another order gives the same plan', () => {
  const resources = ['a', 'b', 'c', 'd'].map((name, i) =>
    machine(name, { needs: i > 0 ? [`Machine/${'abcd'[i - 1]}`] : [] }),
  )
  const world = worldWith([guest(150), guest(151, { of: 'Machine/old' })], {
    '100': 'free',
    '101': 'free',
    '102': 'free',
    '103': 'free',
  })
  const expected = JSON.stringify(planOf(estateOf(resources), world))
  fc.assert(
    fc.property(fc.shuffledSubarray(resources, { minLength: resources.length }), (shuffled) => {
      assert.equal(JSON.stringify(planOf(estateOf(shuffled), world)), expected)
    }),
  )
})

test('a plan that was revised after closer looks is the plan of what is known then, whatever was read in which order', () => {
  const names = ['a', 'b', 'c', 'd']
  const seen = fc.record({
    of: fc.constantFrom(undefined, ...names, 'gone'),
    memory: fc.constantFrom(512, 1024),
    power: fc.constantFrom('running' as const, 'stopped' as const),
    lock: fc.constantFrom(undefined, undefined, undefined, 'backup', 'create'),
    readIn: fc.integer({ min: 0, max: 3 }),
  })
  fc.assert(
    fc.property(
      fc.array(seen, { minLength: 1, maxLength: 6 }),
      fc.shuffledSubarray(names, { minLength: 1 }),
      fc.constantFrom(undefined, 'free' as const, 'taken' as const),
      (guests, declared, probe) => {
        const all = guests.map(({ of, lock, ...rest }, index) => ({
          ...rest,
          observed: guest(101 + index, {
            ...rest,
            ...(of === undefined ? {} : { of: `Machine/${of}` }),
            ...(lock === undefined ? {} : { lock }),
          }),
        }))
        const far = survey(all.map(({ observed: { close: _, ...rest } }) => rest))
        const round = (number: number): World => {
          const close = all
            .filter(({ readIn }) => readIn <= number)
            .map((one) => [one.observed.externalId, one.observed])
          const probes = probe !== undefined && number > 1 ? new Map([['100', probe]]) : new Map()
          return observedWorld(CONNECTION, far, new Map(close as [string, ObservedResource][]), new Map(), probes)
        }
        const resources = declared.map((name, index) =>
          machine(name, index === 0 ? {} : { needs: [`Machine/${declared[0]}`] }),
        )
        const estate = estateOf(resources)
        const ledger = ledgerWith({ known: resources.slice(1).map((one) => recordOf(one, { externalId: '102' })) })
        const input = (number: number) => ({
          estate,
          worlds: new Map([['default', round(number)]]),
          ledger,
          rules: new Map([['fake', FAKE_RULES]]),
          nowMs: NOW,
        })
        let current = atOnce(planWhole(input(0)))
        for (const number of [1, 2, 3]) {
          current = atOnce(revise(current, input(number)))
          assert.deepEqual(current.plan, plan(input(number)))
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('a sort of thing that its driver does not know is refused, not called in sync, and nothing that needs it is begun', () => {
  const file = { type: 'file', file: { host: 'alpha', storage: 'local', content: 'iso', name: 'a.iso' } }
  const strange = { ...machine('strange'), desired: file } as unknown as typeof web
  const needing = machine('needing', { needs: [strange.key] })
  const { entries } = planOf(estateOf([strange, needing]), worldWith([], { 100: 'free' }))
  assert.deepEqual(
    entries.map(({ key, action }) => [key, words(action)]),
    [
      [strange.key, 'refuse driver'],
      [needing.key, 'wait NeedsNotReady'],
    ],
  )
})

test('what sits under a declared id is called by its name where it has one, and by whose it is', () => {
  const why = (observed: ObservedResource) => {
    const action = actionOf(estateOf([web108]), worldWith([observed]))
    return action.do === 'refuse' ? `${action.reason}; ${action.allow}` : words(action)
  }
  assert.match(why(guest(108)), /^id 108 on alpha was not made by croft; choose another id, or take it over/)
  assert.match(why({ ...guest(108), name: 'db' }), /^id 108 \(db\) on alpha was not made by croft/)
  assert.match(
    why(guest(108, { of: 'Machine/other' })),
    /^id 108 on alpha is kept for another declaration; choose another id$/,
  )
})

test('a guard also stops what would be done after a wait', () => {
  const needing = machine('web', { needs: ['Machine/db'], policy: { paused: true } })
  const estate = estateOf([needing, machine('db')])
  const world = worldWith([], { '100': 'free', '101': 'free' })
  const entry = planOf(estate, world).entries.find(({ key }) => key === needing.key)
  assert.equal(words(entry?.action ?? { do: 'nothing' }), 'hold paused create')
})

test('a change of what was in force before is drift, and a restart that is still to come is none', () => {
  const synced = ledgerWith({
    known: [recordOf(web, { externalId: '100', made: true, syncedGeneration: web.generation })],
  })
  const driftOf = (observed: ObservedResource, rules = FAKE_RULES) =>
    plan({
      estate: estateOf([web]),
      worlds: new Map([['default', worldWith([observed])]]),
      ledger: synced,
      rules: new Map([['fake', rules]]),
      nowMs: NOW,
    }).entries[0]?.drift
  assert.equal(driftOf(guest(100, { of: web.key, memory: 512 })), true)
  assert.equal(driftOf(guest(100, { of: web.key })), undefined)
  const pending = { ...FAKE_RULES, diff: () => [{ path: 'restart', from: 1, to: 2, effect: 'restart' as const }] }
  assert.equal(driftOf(guest(100, { of: web.key }), pending), undefined)
})

test('a guest that was taken over without a mark is found by its record when Git declares it no more, and nothing else is', () => {
  const taken = (type: 'vm' | 'container' | 'file', unmarked: boolean) =>
    recordOf(machine('old'), {
      type,
      externalId: '105',
      seenMs: NOW,
      birth: 'uuid 1',
      policy: { ...DEFAULT_POLICY, ...(unmarked ? { unmarked: true } : {}), deletion: 'Orphan' },
    } as never)
  const born = (birth: string, seen: ObservedResource = guest(105)): ObservedResource => ({
    ...seen,
    close: { config: {}, atMs: NOW, ...seen.close, birth },
  })
  const keys = (record: ReturnType<typeof taken>, observed = born('uuid 1')) =>
    planOf(estateOf([]), worldWith([observed]), ledgerWith({ known: [record] }))
      .entries.filter(({ action }) => action.do !== 'nothing')
      .map(({ key, externalId, action }) => `${key} ${externalId ?? '-'}${action.do === 'forget' ? '' : ' goes'}`)
  assert.deepEqual(keys(taken('vm', true)), ['Machine/old 105'])
  assert.deepEqual(keys(taken('container', true)), ['Machine/old 105'])
  assert.ok(!keys(taken('vm', false)).includes('Machine/old 105'))
  assert.ok(!keys(taken('file', true)).includes('Machine/old 105'))
  assert.ok(!keys(taken('vm', true), born('uuid 1', guest(105, { of: 'Machine/other' }))).includes('Machine/old 105'))
  assert.ok(!keys(taken('vm', true), born('uuid 2')).includes('Machine/old 105'), 'the id was used again')
})

test('a setting about a guest needs it to be there and at rest, whether or not it has come up', () => {
  const guestOf = machine('web', { vmid: 108 })
  const setting: Resource = {
    ...machine('replication', { needs: [guestOf.key] }),
    desired: { type: 'setting', setting: { definition: 'replication', id: '108-0', fields: {} } },
  }
  const rules = { ...FAKE_RULES, keeps: () => true }
  const awaited = (seen: ObservedResource, ledger: Ledger = ledgerWith(), by: Resource = setting) =>
    plan({
      estate: estateOf([guestOf, by]),
      worlds: new Map([['default', worldWith([seen], { '100': 'free' })]]),
      ledger,
      rules: new Map([['fake', rules]]),
      nowMs: NOW,
    })
      .entries.filter(({ key, action }) => key === by.key && action.do === 'wait')
      .map(({ action }) => words(action))
  const there = guest(108, { of: guestOf.key })
  assert.deepEqual(awaited(there), [])
  assert.deepEqual(awaited({ ...there, lock: 'migrate' }), ['wait NeedsNotReady'])
  const moving = ledgerWith({ intentions: new Map([[guestOf.key, intention(guestOf.key, '108')]]) })
  assert.deepEqual(awaited(there, moving), ['wait NeedsNotReady'])
  // A machine waits until the other one is up.
  assert.deepEqual(awaited(there, ledgerWith(), machine('app', { needs: [guestOf.key] })), ['wait NeedsNotReady'])
})
