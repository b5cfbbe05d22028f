// One commit replaces a dead server by a new one: croft cannot stop the dead one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { switchOff, switchOn } from '../../../sim/metal/box.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { planForget, standingForgets } from '../../plan/clusters/forget.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const HOUR = 3_600_000

/** s1, s2 and s3 have formed the cluster; s3 is silent and undeclared, s4 is declared. */
async function oneDied(): Promise<DriverLab> {
  const lab = driverLab('s1 s2 s3 s4', { allow: { degraded: true, interruption: false } })
  const all = lab.spec.servers
  lab.spec = { ...lab.spec, servers: all.filter(({ name }) => name !== 's4') }
  lab.restart()
  await lab.until(allReady('s1 s2 s3'), 900)
  switchOff(lab.world, lab.box('s3'))
  lab.unseen.add('s3')
  lab.spec = { ...lab.spec, servers: all.filter(({ name }) => name !== 's3') }
  lab.restart()
  lab.done.length = 0
  await lab.until(
    ({ nodes }) => nodes.some(({ name, kube }) => name === 's3' && typeof kube === 'object' && kube.ready === 'no'),
    200,
  )
  for (let round = 0; round < 30; round++) await lab.until(() => false, 1).catch(() => undefined)
  return lab
}

const membersIn = ({ members }: ObservedCluster) =>
  members === 'unknown'
    ? members
    : members
        .filter(({ learner }) => !learner)
        .map(({ node }) => node)
        .sort()
const isRepaired = (seen: ObservedCluster) => String(membersIn(seen)) === 's1,s2,s4' && allReady('s4')(seen)
const doneOn = (lab: DriverLab, node: string) =>
  new Set(lab.done.flatMap(({ step }) => (step.node === node ? [step.verb] : [])))

test('it is held, the hold names the command, and after a word of a person the new one is let in', async () => {
  const lab = await oneDied()
  const { observed, decision } = await lab.look()
  const hold = decision.holds.find(({ guard, node }) => guard === 'unreachable' && node === 's3')
  assert.match(hold?.allow ?? '', /croft cluster forget homelab s3; croft takes it for dead at 2026-11-16T01:\d\d/)
  assert.deepEqual([...doneOn(lab, 's3')], ['cordon'])
  const plan = planForget(lab.spec, observed, 's3', lab.clock.now())
  assert.ok('order' in plan, JSON.stringify(plan))
  assert.match(
    plan.believed.join('; '),
    /s3 is NotReady since 2026.*nobody sees its etcd member s3-.* up.*2 of 3 voters are up/,
  )
  lab.requests = { ...lab.requests, forget: [plan.order] }
  const after = await lab.until(isRepaired, 600)
  assert.ok(doneOn(lab, 's3').has('remove-member') && !doneOn(lab, 's3').has('stop-k3s'))
  assert.deepEqual(standingForgets([plan.order], after), [], 'the order is over')
})

test('after a day of silence croft takes it for dead by itself, and not an hour before', async () => {
  const lab = await oneDied()
  await lab.clock.advanceTo(lab.clock.now() + 23 * HOUR)
  for (let round = 0; round < 10; round++) await lab.until(() => false, 1).catch(() => undefined)
  assert.ok(!doneOn(lab, 's3').has('remove-member'))
  await lab.clock.advanceTo(lab.clock.now() + HOUR)
  await lab.until(isRepaired, 600)
  assert.match(lab.done.find(({ step }) => step.verb === 'remove-member')?.step.reason ?? '', /silent for 24 h/)
})

test('one that is back is stopped first, whatever a person said of it', async () => {
  const lab = await oneDied()
  const plan = planForget(lab.spec, (await lab.look()).observed, 's3', lab.clock.now())
  assert.ok('order' in plan)
  switchOn(lab.world, lab.box('s3'))
  lab.unseen.delete('s3')
  let back = (await lab.look()).observed
  const isUp = ({ members }: ObservedCluster) =>
    members !== 'unknown' && members.some(({ node, up }) => node === 's3' && up === 'yes')
  for (let look = 0; look < 60 && !isUp(back); look++) {
    await lab.clock.advanceTo(lab.clock.now() + 10_000)
    back = (await lab.look()).observed
  }
  assert.deepEqual(standingForgets([plan.order], back), [], 'the order is over')
  lab.requests = { ...lab.requests, forget: [plan.order] }
  assert.match(JSON.stringify(planForget(lab.spec, back, 's3', lab.clock.now())), /is not silent: its machine answers/)
  await lab.until(isRepaired, 900)
  const verbs = lab.done.flatMap(({ step }) => (step.node === 's3' ? [step.verb] : []))
  assert.ok(
    verbs.indexOf('stop-k3s') >= 0 && verbs.indexOf('stop-k3s') < verbs.indexOf('remove-member'),
    verbs.join(' '),
  )
})
