import assert from 'node:assert/strict'
import { test } from 'node:test'
import { find } from '../../sim/kubernetes/store.ts'
import type { Settlement } from '../../src/engine/engine.ts'
import { changedEstate, type Estate } from '../../src/model/estate.ts'
import type { Plan } from '../../src/model/plan.ts'
import { forecast } from '../../src/plan/clusters/forecast.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { cutOff, formed, guestOf, HASTE, NEXT, type Run, upgraded } from './cluster-lab.ts'
import { createQuorumWatch, etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest } from './cluster-run.ts'
import { replay } from './volume.ts'

const FILE = 'not-planned.test.ts'
const SERVERS = ['s1', 's2', 's3']
const never = new AbortController().signal

interface Applied {
  readonly plan: Plan
  readonly settled: Settlement
  readonly verbs: readonly string[]
  readonly holds: string
}

/** As `croft apply --yes` does: it plans, shows the plan, and performs it. `meanwhile` happens after the plan. */
async function apply(run: Run, hint: string, meanwhile: () => Promise<void> = async () => undefined): Promise<Applied> {
  const { engine, kill } = run.start({ retryStalled: true })
  const plan = await run.clock.runUntil(engine.plan(run.estate, never))
  await meanwhile()
  const watch = createQuorumWatch(run, hint)
  const verbs = new Set<string>()
  const settled = await run.clock.runUntil(
    engine.settle(run.estate, {
      signal: never,
      deadlineMs: 3_600_000,
      shown: plan,
      agreed: plan,
      onPass: ({ clusters = [] }) => {
        watch.look()
        for (const { decision } of clusters) for (const step of decision.steps) verbs.add(step.verb)
      },
    }),
    { maxMs: 7_200_000 },
  )
  kill()
  const held = settled.last.plan.clusters?.flatMap(({ decision }) => decision.holds) ?? []
  const holds = held.map(({ guard, reason, allow }) => `${guard}: ${reason}; ${allow}`).join('\n')
  return { plan, settled, verbs: [...verbs], holds }
}

function lose(run: Run): void {
  run.disk = createMemoryStore().disk
  run.vault.kept.clear()
}

const newer = (more = '') => clusterEstate(`${clusterManifest({ spec: HASTE, version: NEXT })}${more}`)

const becomes = ({ clusters = [] }: Plan) => clusters.flatMap((look) => forecast(look).map((node) => node.becomes))

test('[D-03] the record of a cluster is lost and Git has a new release: apply does what its plan names, reads the record back, and leaves the rollout to the next plan', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  lose(run)
  run.estate = newer()
  const first = await apply(run, hint)
  assert.deepEqual(new Set(becomes(first.plan)), new Set(['nothing']), hint)
  assert.equal(first.settled.outcome, 'settled', hint)
  assert.deepEqual([first.verbs, upgraded(run, hint)], [['read-back-secrets'], []], hint)
  assert.match(first.holds, /^not-planned: .*s1: v1\.34\.3\+k3s1 → v1\.34\.4\+k3s1.*; run croft plan/, hint)
  const second = await apply(run, hint)
  assert.deepEqual(becomes(second.plan), ['changes', 'changes', 'changes'], hint)
  assert.deepEqual([second.settled.outcome, second.holds], ['settled', ''], hint)
  assert.deepEqual([...upgraded(run, hint)].sort(), SERVERS, hint)
})

test('[D-03] a record that is lost while nothing else differs comes back, and apply has nothing to hold', async () => {
  const hint = replay(FILE, 1)
  const run = await formed(1, hint)
  lose(run)
  const { settled, holds, verbs } = await apply(run, hint)
  assert.deepEqual([settled.outcome, holds, verbs], ['settled', '', ['read-back-secrets']], hint)
})

test('[D-03] [D-04] machines that are adopted together with their cluster: apply adopts them and reads the record back; no machine restarts, and no node changes before the next plan', async () => {
  const hint = replay(FILE, 2)
  const run = await formed(2, hint)
  lose(run)
  for (const name of SERVERS) {
    const { config } = guestOf(run, name)[1]
    config.delete('tags')
    config.delete('description')
  }
  const declared = clusterEstate(
    clusterManifest({ spec: HASTE, version: NEXT }).replace('class: node', 'class: large') + LARGE,
  )
  run.estate = adopting(run, declared)
  const boots = () => SERVERS.map((name) => run.requests.filter((line) => restartsOf(run, name).test(line)).length)
  const before = boots()
  const first = await apply(run, hint)
  assert.equal(first.settled.outcome, 'settled', hint)
  assert.deepEqual([first.verbs, upgraded(run, hint), boots()], [['read-back-secrets'], [], before], hint)
  assert.match(first.holds, /^not-planned: /, hint)
  const second = await apply(run, hint)
  assert.deepEqual([second.settled.outcome, second.holds], ['settled', ''], hint)
  assert.deepEqual([...upgraded(run, hint)].sort(), SERVERS, hint)
})

test('[D-03] no API answers when the plan is made and Git has a new release: apply begins no rollout that the plan did not show, and ends one that was begun', async () => {
  const hint = replay(FILE, 3)
  const run = await formed(3, hint)
  run.estate = newer()
  const silent = async () => {
    for (const name of SERVERS) cutOff(run, name, true)
    await run.clock.advanceTo(run.clock.now() + 60_000)
  }
  const back = async () => {
    for (const name of SERVERS) cutOff(run, name, false)
    await run.clock.advanceTo(run.clock.now() + 120_000)
  }
  await silent()
  const first = await apply(run, hint, back)
  assert.deepEqual(new Set(becomes(first.plan)), new Set(['nothing']), hint)
  assert.deepEqual(upgraded(run, hint), [], hint)
  assert.match(first.holds, /^not-planned: /, hint)
  assert.equal(first.settled.outcome, 'settled', hint)
  // A rollout whose run was killed: the node that carries our mark is finished first.
  const marked = () => nodesOf(etcdOf(run, hint) ?? assert.fail(hint)).filter(({ spec }) => isCordoned(spec))
  const process = run.start({ retryStalled: true })
  for (let pass = 0; pass < 40 && marked().length === 0; pass++)
    await run.clock.runUntil(process.engine.pass(run.estate, never))
  process.kill()
  assert.equal(marked().length, 1, hint)
  await silent()
  const again = await apply(run, hint, back)
  assert.deepEqual([again.settled.outcome, marked().length, upgraded(run, hint).length], ['settled', 0, 1], hint)
  assert.match(again.holds, /^not-planned: /, hint)
  assert.equal((await apply(run, hint)).holds, '', hint)
  assert.deepEqual([...upgraded(run, hint)].sort(), SERVERS, hint)
})

test('[D-03] an object of an Addon that the plan could not see is not changed before a plan shows the change', async () => {
  const hint = replay(FILE, 4)
  const run = await formed(4, hint)
  const estate = (value: string) => clusterEstate(clusterManifest({ spec: HASTE }) + addonWith(value))
  const value = () =>
    (find(etcdOf(run, hint)?.store ?? assert.fail(hint), '/configmaps', 'default', 'settings') as { data?: object })
      ?.data
  run.estate = estate('one')
  assert.equal((await apply(run, hint)).settled.outcome, 'settled', hint)
  assert.deepEqual(value(), { is: 'one' }, hint)
  lose(run)
  run.estate = estate('two')
  const { settled } = await apply(run, hint)
  assert.deepEqual([settled.outcome, value()], ['settled', { is: 'one' }], hint)
  const held = settled.last.plan.entries.flatMap(({ action }) => (action.do === 'hold' ? [action.guard] : []))
  assert.deepEqual(held, ['not-planned'], hint)
  await apply(run, hint)
  assert.deepEqual(value(), { is: 'two' }, hint)
})

const LARGE = `---
apiVersion: croft.dev/v1alpha1
kind: MachineClass
metadata: {name: large}
spec: {cpu: {cores: 2}, memory: 6Gi, disks: [{size: 40Gi, image: noble, storage: fast}]}
`

function addonWith(value: string): string {
  return `---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: settings}
spec:
  cluster: homelab
  objects:
    - {apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: default}, data: {is: ${value}}}
`
}

/** The estate with every machine declared to be the guest of its name. */
function adopting(run: Run, given: Estate): Estate {
  return changedEstate(given, (estate) => ({
    ...estate,
    resources: estate.resources.map((resource) => {
      if (resource.desired.type !== 'vm') return resource
      const [id] = guestOf(run, resource.desired.vm.name)
      return { ...resource, policy: { ...resource.policy, adopt: String(id) } }
    }),
  }))
}

function restartsOf(run: Run, name: string): RegExp {
  return new RegExp(`/qemu/${guestOf(run, name)[0]}/status/(reboot|shutdown|stop)`)
}

function isCordoned(spec: unknown): boolean {
  return (spec as { readonly unschedulable?: boolean } | undefined)?.unschedulable === true
}
