import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { overwriting } from '../../model/destruction.ts'
import type { Action, Plan, PlanEntry } from '../../model/plan.ts'
import type { Step } from '../../model/step.ts'
import { nextLine, renderPlan } from './plan.ts'
import { planJson } from './plan-json.ts'
import { changeLine } from './plan-summary.ts'
import { PLAIN } from './text.ts'

const create: Step = {
  verb: 'create',
  summary: 'create VM 114 with scsi0 from local:import/noble.qcow2',
  lane: 'rest',
  host: 'fun-bedbug',
  queues: [],
  call: {
    method: 'POST',
    path: '/nodes/fun-bedbug/qemu',
    params: { vmid: '114', cipassword: 'env:VM_PASSWORD', name: 'k3s\x1b[2J' },
  },
  secretParams: ['cipassword'],
  disruption: 'none',
}
const start: Step = {
  ...create,
  verb: 'start',
  summary: 'start VM 114',
  call: { method: 'POST', path: '/x', params: {} },
}
const reboot: Step = { ...start, verb: 'reboot', summary: 'restart VM 108', disruption: 'restart' }
const remove: Step = {
  ...start,
  verb: 'delete',
  summary: 'delete VM 120 with its disks',
  disruption: 'data-loss',
  ...overwriting('vm 120', []),
}

function entry(key: string, action: Action, more: Partial<PlanEntry> = {}): PlanEntry {
  return { key, uid: 'u', connection: 'default', type: 'vm', action, ...more }
}

const added = entry(
  'EnvironmentVM/k3s-vm-fun-bedbug',
  {
    do: 'create',
    externalId: '114',
    host: 'fun-bedbug',
    steps: [create, start],
    reason: 'declared, does not exist yet',
  },
  { externalId: '114', host: 'fun-bedbug', origin: { file: 'instances/k3s-vm-fun-bedbug.yaml', line: 1, column: 1 } },
)
const changed = entry(
  'Machine/web-1',
  {
    do: 'update',
    externalId: '108',
    changes: [
      { path: 'memory.dedicatedMb', from: 2048, to: 4096, effect: 'restart' },
      { path: 'cloudInit.password', from: 'old', to: 'new', effect: 'live', secret: true },
    ],
    steps: [reboot],
    reason: '',
  },
  { externalId: '108', host: 'still-fawn', origin: { file: 'web.yaml', line: 3, column: 1 } },
)
const held = entry(
  'Machine/old',
  {
    do: 'hold',
    guard: 'blast-radius',
    held: { do: 'delete', externalId: '120', host: 'still-fawn', steps: [remove] },
    reason: 'this revision would delete 3 of 4 machines, the limit is 1',
    allow: 'commit an Approval that lists Machine/old under deletes',
  },
  { externalId: '120', host: 'still-fawn' },
)
const same = entry('Machine/same', { do: 'nothing' })

const plan = (entries: readonly PlanEntry[], more: Partial<Plan> = {}): Plan => ({
  entries,
  notes: [],
  problems: [],
  ...more,
})

test('a plan shows every thing, change and step, and what is held with its way out', () => {
  assert.equal(
    renderPlan(plan([added, changed, held, same]), PLAIN),
    `  + EnvironmentVM/k3s-vm-fun-bedbug   VM 114 on fun-bedbug   instances/k3s-vm-fun-bedbug.yaml:1
      declared, does not exist yet
      1. create VM 114 with scsi0 from local:import/noble.qcow2
      2. start VM 114

  ~ Machine/web-1   VM 108 on still-fawn   web.yaml:3
      memory.dedicatedMb: 2048 → 4096  (restart)
      cloudInit.password: (sensitive value) → (sensitive value)
      1. restart VM 108  (restart)

  - ‖ Machine/old   VM 120 on still-fawn   (no longer declared)
      held [blast-radius]: this revision would delete 3 of 4 machines, the limit is 1
      to allow: commit an Approval that lists Machine/old under deletes
      1. would delete VM 120 with its disks  (data loss)

Plan: 1 to add, 1 to change, 0 to destroy, 1 held. Disruption: restart.
  Machine/web-1: restarts, about 2 min away
`,
  )
})

test('what is left alone by policy is said, and is no change', () => {
  const left = { ...same, notes: ['its cloud-init data changed after its first boot: the machine keeps the old data'] }
  const text = renderPlan({ entries: [left], notes: [], problems: [] }, PLAIN)
  assert.equal(
    text,
    [
      '  = Machine/same   its cloud-init data changed after its first boot: the machine keeps the old data',
      '',
      'No changes. The 1 declared resource is as declared.',
      '',
    ].join('\n'),
  )
  const held = { ...left, action: { do: 'refuse', guard: 'g', reason: 'r', allow: 'a' } as const }
  assert.match(renderPlan({ entries: [held], notes: [], problems: [] }, PLAIN), /\n {6}note: its cloud-init/)
  assert.deepEqual((planJson({ entries: [left], notes: [], problems: [] }, 'x') as { remarks: unknown }).remarks, [
    { key: 'Machine/same', message: left.notes[0] },
  ])
})

test('of a mark that changes, only the words that differ are shown', () => {
  const mark = (server: string) => `croft: owner=Machine/a estate=default/3c22 server=${server} devices=net0,scsi0`
  const line = (from: unknown, to: unknown) => changeLine({ path: 'mark', from, to, effect: 'live' })
  assert.equal(line(mark('Cluster/home'), mark('Cluster/house')), 'mark: server=Cluster/home → server=Cluster/house')
  assert.equal(line(mark('Cluster/home'), `${mark('Cluster/home')} protect=yes`), 'mark: (none) → protect=yes')
  assert.equal(line('nobody', 'Machine/a'), 'mark: nobody → Machine/a')
})

test('nothing to do says so in one line', () => {
  assert.equal(renderPlan(plan([same, same]), PLAIN), 'No changes. All 2 declared resources are as declared.\n')
  assert.equal(renderPlan(plan([same]), PLAIN), 'No changes. The 1 declared resource is as declared.\n')
})

test('[S-16] [S-17] the exact call is shown without secrets and without control characters', () => {
  const shown = renderPlan(plan([added]), PLAIN, { calls: true })
  assert.match(
    shown,
    / {9}POST \/nodes\/fun-bedbug\/qemu {2}via api-token\n {11}vmid=114\n {11}cipassword=\(sensitive value\)\n {11}name=k3s\n/,
  )
  assert.doesNotMatch(shown, /VM_PASSWORD|\x1b/)
})

test('a connection that cannot be seen says so once instead of once for every resource', () => {
  const blind = entry('Machine/a', { do: 'wait', reason: 'ConnectionNotSeen', message: 'x', lookAgainMs: 1 })
  const note = {
    connection: 'default',
    code: 'unreachable',
    message: 'no answer from https://x',
    allow: 'check it',
  } as const
  assert.equal(
    renderPlan(plan([blind, blind], { notes: [note] }), PLAIN, { directory: 'infra/' }),
    `Connection default: unreachable
  no answer from https://x
  to go on: run croft doctor infra/ to see what is wrong and how to fix it; check it

No plan: the notes above say what could not be seen.
`,
  )
})

test('replacing counts as one to add and one to destroy', () => {
  const replaced = entry('Machine/r', {
    do: 'replace',
    externalId: '1',
    changes: [{ path: 'bios', from: 'seabios', to: 'ovmf', effect: 'replace' }],
    steps: [remove, create],
    reason: 'bios cannot be changed in place',
  })
  const shown = renderPlan(plan([replaced]), PLAIN)
  assert.match(shown, /-\/\+ Machine\/r/)
  assert.match(shown, /bios: seabios → ovmf {2}\(forces replacement\)/)
  assert.match(
    shown,
    /Plan: 1 to add, 0 to change, 1 to destroy\. Disruption: data loss\.\n {2}Machine\/r: is destroyed with its disks and created again, about 10 min away\n$/,
  )
})

test('[S-18] the JSON form is stable and hides the same values', () => {
  const json = planJson(plan([added, changed, same]), 'a1b2c3d') as {
    summary: unknown
    entries: { key: string }[]
  }
  assert.deepEqual(Object.keys(json), ['apiVersion', 'kind', 'revision', 'summary', 'entries', 'notes', 'problems'])
  assert.deepEqual(json.summary, {
    add: 1,
    change: 1,
    destroy: 0,
    adopt: 0,
    forget: 0,
    wait: 0,
    held: 0,
    refused: 0,
    unchanged: 1,
    disruption: 'restart',
    disruptions: [
      {
        subject: 'Machine/web-1',
        worst: 'restart',
        restarts: 1,
        drains: 0,
        votesAway: 0,
        minutesAway: 2,
        minutes: 2,
        lost: [],
        text: 'restarts, about 2 min away',
      },
    ],
  })
  assert.deepEqual(
    json.entries.map((one) => one.key),
    ['EnvironmentVM/k3s-vm-fun-bedbug', 'Machine/web-1'],
  )
  const text = JSON.stringify(json)
  assert.doesNotMatch(text, /VM_PASSWORD|"old"|"new"/)
  assert.match(text, /"from":"\(sensitive value\)"/)
})

test('what is made after a wait is shown and counted like what is made at once', () => {
  const waiting = entry('Machine/web-2', {
    do: 'wait',
    reason: 'NeedsNotReady',
    message: 'waits for Image/noble',
    lookAgainMs: 1_000,
    next: { do: 'create', externalId: '114', host: 'fun-bedbug', steps: [create, start] },
  })
  const plan: Plan = { entries: [waiting], notes: [], problems: [] }
  assert.equal(
    renderPlan(plan, PLAIN),
    `  + … Machine/web-2   VM 114   (no longer declared)
      waits for Image/noble
      1. then create VM 114 with scsi0 from local:import/noble.qcow2
      2. then start VM 114

Plan: 1 to add, 0 to change, 0 to destroy. Disruption: none.
`,
  )
  assert.doesNotMatch(JSON.stringify(planJson(plan, 'r')), /VM_PASSWORD/)
})

describe('each cause once', () => {
  const planOf = (entries: readonly PlanEntry[]): Plan => ({ entries, notes: [], problems: [] })
  const waits: Action = { do: 'wait', reason: 'HostOffline', message: 'host pve1 is offline', lookAgainMs: 0 }
  const removal = { do: 'delete', externalId: '1', host: 'pve1', steps: [] } as const
  const held = (key: string): Action => ({
    do: 'hold',
    guard: 'blast-radius',
    reason: 'this revision would delete 3 of 6 machines, the limit is 1',
    allow: `run croft delete ${key}`,
    held: removal,
  })

  test('what waits for the same is one block, and what a guard holds for the same reason names the first', () => {
    const text = renderPlan(
      planOf([
        ...['a', 'b', 'c', 'd', 'e'].map((name) => entry(`Machine/${name}`, waits)),
        ...['x', 'y', 'z'].map((name) => entry(`Machine/${name}`, held(`Machine/${name}`))),
        entry('Machine/f', { ...waits, message: 'host pve2 is offline' }),
      ]),
      PLAIN,
    )
    assert.equal(text.match(/host pve1 is offline/g)?.length, 1)
    assert.match(text, /^ {2}… Machine\/a, Machine\/b, Machine\/c, Machine\/d and 1 more {3}5 things$/m)
    assert.match(text, /^ {2}… Machine\/f /m)
    assert.equal(text.match(/the limit is 1/g)?.length, 1)
    assert.equal(text.match(/held \[blast-radius\]: as Machine\/x above$/gm)?.length, 2)
  })

  test('the last line is what to do next', () => {
    const said = (...actions: readonly Action[]) =>
      nextLine(planOf(actions.map((action, index) => entry(`Machine/${index}`, action))), { directory: 'my infra' })
    const adds: Action = { do: 'create', externalId: '1', host: 'h', steps: [], reason: '' }
    const refused: Action = { do: 'refuse', guard: 'g', reason: 'r', allow: 'a' }
    assert.equal(said({ do: 'nothing' }), '')
    assert.equal(said(adds), "Next: croft apply 'my infra' does this.\n")
    assert.match(said(adds, held('Machine/1')), /does this\. What is held stays until its "to allow" is done\.\n$/)
    assert.match(said(held('Machine/0')), /^Next: nothing to apply\. What is held/)
    assert.match(said(adds, refused), /^Next: correct what is refused, then croft apply/)
    assert.match(said(waits), /goes on when what it waits for is there/)
  })
})
