import assert from 'node:assert/strict'
import { test } from 'node:test'
import { noteWaits, readWaits } from '../../../engine/power/noted-waits.ts'
import { DEFAULT_POLICY } from '../../../model/declaration.ts'
import type { PowerPlan } from '../../../model/observed-power.ts'
import type { PowerDeclaration, PowerRequests } from '../../../model/power.ts'
import { coordinatePower } from '../../../plan/power/coordinate.ts'
import {
  clusterWith,
  NOW,
  node,
  observedWith,
  ordered,
  specWith,
  workload,
} from '../../../plan/power/testing/fixture.ts'
import { createMemoryStore } from '../../../store/memory.ts'
import { PLAIN } from '../../render/text.ts'
import { EMPTY_ESTATE, fakeRuntime, planning } from '../../testing/fake-runtime.ts'
import { UsageError } from '../../verb.ts'
import { rowOf } from '../pods.ts'
import { run } from '../power.ts'
import { renderPower } from './render.ts'

const POWER: PowerDeclaration = {
  key: 'Power/homelab',
  name: 'homelab',
  spec: specWith(),
  policy: DEFAULT_POLICY,
  origin: { file: 'p.yaml', line: 1, column: 1 },
  generation: 'g',
}
const LOADED = { ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, powers: [POWER] } }

function world() {
  const { disk } = createMemoryStore()
  const observed = observedWith({
    cluster: clusterWith([node('s1'), node('a1')], [workload('gitops', 'argo'), workload('apps', 'web')]),
  })
  const look: PowerPlan = {
    declaration: POWER,
    observed,
    requests: { holds: [] },
    atMs: NOW,
    decision: coordinatePower(POWER.spec, observed, { holds: [] }, undefined, NOW),
  }
  const engine = planning({ entries: [], notes: [], problems: [], powers: [look] })
  const runtime = fakeRuntime({
    load: async () => LOADED,
    cwd: process.cwd(),
    clock: { now: () => NOW, monotonicMs: () => 0, sleep: async () => {} },
    env: { HOME: '/nonexistent', USER: 'tapas' },
    ...engine,
    openStore: async () => createMemoryStore(disk),
    lockState: async () => ({ got: false, owner: { pid: 7, host: 'cow' } }) as never,
  })
  const requests = async () =>
    JSON.parse((await createMemoryStore(disk).getValue('power-orders/homelab')) ?? '{"holds":[]}') as PowerRequests
  return { runtime, requests }
}

/** On its way off, as a controller saw it some time ago. */
function goingOff() {
  const observed = observedWith({ cluster: clusterWith([node('s1')], [workload('gitops', 'argo')]) })
  const decision = coordinatePower(POWER.spec, observed, ordered('off'), undefined, NOW)
  const look: PowerPlan = { declaration: POWER, observed, requests: ordered('off'), atMs: NOW, decision }
  return { look, records: noteWaits(decision.waits, undefined, NOW) }
}

const OPTIONS = { dir: '.', state: '/nonexistent/state.db' }

test('a request is written down with who gave it, why, and until when', async () => {
  const { runtime, requests } = world()
  await run(runtime, ['off', 'homelab'], { ...OPTIONS, yes: true, why: 'holidays', for: '8h' })
  assert.deepEqual((await requests()).wanted, {
    state: 'off',
    by: 'cli:tapas',
    why: 'holidays',
    atMs: NOW,
    untilMs: NOW + 8 * 3_600_000,
  })
  await run(runtime, ['on'], { ...OPTIONS, yes: true })
  assert.equal((await requests()).wanted?.state, 'on')
  assert.match(runtime.written.out, /Power\/homelab: on is ordered. The controller \(process 7 on cow\) begins/)
})

test('nothing is ordered before a person has seen the plan and said yes', async () => {
  const { runtime, requests } = world()
  await assert.rejects(async () => run(runtime, ['off'], OPTIONS), /--yes/)
  assert.match(runtime.written.out, /gitops .*no pod of a GitOps agent is left/)
  assert.equal((await requests()).wanted, undefined)
  const asking: string[] = []
  const ask = async (text: string) => {
    asking.push(text)
    return 'n'
  }
  const no = Object.assign(runtime, { interactive: true, ask })
  await assert.rejects(async () => run(no, ['off'], OPTIONS), /Nothing was done/)
  assert.deepEqual(asking, ['Switch Power/homelab off? [y/N] '])
  assert.equal((await requests()).wanted, undefined)
})

test('[A42] a hold has a name and an end, and is released by who set it', async () => {
  const { runtime, requests } = world()
  await run(runtime, ['hold'], { ...OPTIONS, why: 'demo', for: '2h' })
  assert.deepEqual((await requests()).holds, [{ by: 'cli:tapas', why: 'demo', sinceMs: NOW, untilMs: NOW + 7_200_000 }])
  await run(runtime, ['release'], OPTIONS)
  assert.deepEqual((await requests()).holds, [])
})

test('[A41] the plan of a power-off lists the tiers in order, and requests nothing', async () => {
  const { runtime, requests } = world()
  await run(runtime, ['off'], { ...OPTIONS, plan: true })
  const { out } = runtime.written
  const places = ['gitops', 'apps', 'volumes', 'workers', 'servers'].map((tier) => out.indexOf(`\n${tier} `))
  assert.ok(
    places.every((place, at) => place > (places[at - 1] ?? 0)),
    out,
  )
  assert.match(out, /Next: take Deployment default\/argo from 2 to 0/)
  assert.equal((await requests()).wanted, undefined)
})

test('[A50] the plan says what happens where something takes too long', async () => {
  const { runtime } = world()
  await run(runtime, ['off'], { ...OPTIONS, plan: true })
  assert.match(
    runtime.written.out,
    /^Timeouts: scale 1m, then abort; detach 1m, then abort; drain 1m, then abort; stop 1m, then wait$/m,
  )
})

test('status says how it is, also for programs', async () => {
  const { runtime } = world()
  await run(runtime, [], OPTIONS)
  assert.match(runtime.written.out, /^Power\/homelab is On; wanted on \(declared\)/)
  runtime.written.out = ''
  await run(runtime, ['status'], { ...OPTIONS, output: 'json' })
  assert.equal((JSON.parse(runtime.written.out) as { phase: string }).phase, 'On')
})

test('status says since when something is awaited, what happens then, and who is at work on it', async () => {
  const { look, records } = goingOff()
  const at = (atWork: Parameters<typeof renderPower>[3]) => renderPower(look, PLAIN, NOW + 20_000, atWork)
  const working = at({ who: 'The controller (process 7 on cow)', waits: readWaits(records) })
  assert.match(working, /^Waits: default\/argo: its last pod to be gone, for 20s \(40s left, then all goes back\)$/m)
  assert.match(working, /^The controller \(process 7 on cow\) is at work on it; croft power on homelab goes back$/m)
  // Waits are not counted down while no process is at work.
  const idle = at({ waits: readWaits(records) })
  assert.match(idle, /^Waits: default\/argo: its last pod to be gone \(1m00s left, then all goes back\)$/m)
  assert.match(
    idle,
    /^No process works on it: croft power off homelab continues it, croft power on homelab goes back$/m,
  )
})

test('what is not there is refused with what there is', async () => {
  const { runtime } = world()
  await assert.rejects(async () => run(runtime, ['sideways'], OPTIONS), UsageError)
  await assert.rejects(async () => run(runtime, ['off', 'other'], OPTIONS), /Declared: homelab/)
  await assert.rejects(async () => run(runtime, ['hold'], { ...OPTIONS, for: 'long' }), UsageError)
})

test('a pod is shown in the words of kubectl', () => {
  const pod = {
    metadata: { name: 'web-1', namespace: 'default' },
    spec: { nodeName: 's1', containers: [{ name: 'web' }] },
    status: {
      phase: 'Running',
      podIP: '10.42.0.7',
      containerStatuses: [{ name: 'web', ready: true, restartCount: 2, state: { running: {} } }],
    },
  }
  assert.deepEqual(Object.values(rowOf(pod)), ['default', 'web-1', '1/1', 'Running', '2', '10.42.0.7', 's1'])
  const leaving = { ...pod, metadata: { ...pod.metadata, deletionTimestamp: '2026-11-15T06:00:00Z' } }
  assert.equal(rowOf(leaving).status, 'Terminating')
})
