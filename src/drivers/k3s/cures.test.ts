import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ShellFailure } from '../../lib/shell.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import type { Step } from '../../model/step.ts'
import { forecast } from '../../plan/clusters/forecast.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

const PHOTOS = '/var/lib/rancher/k3s/storage/pvc-1_default_photos/p.jpg'

const votes = (count: number) => (observed: ObservedCluster) =>
  observed.members !== 'unknown' &&
  observed.members.length === count &&
  observed.members.every(({ learner, up }) => !learner && up === 'yes')

/** Three servers and an agent with a volume, ten minutes after the formation. */
async function formed(): Promise<DriverLab> {
  const lab = driverLab('s1 s2 s3 a1')
  await lab.until((observed) => allReady('s1 s2 s3 a1')(observed) && votes(3)(observed), 900)
  lab.box('a1').machine.files.write(PHOTOS, 'photos')
  await lab.clock.advanceTo(lab.clock.now() + 600_000)
  lab.done.length = 0
  return lab
}

const done = (lab: DriverLab) => [...new Set(lab.done.map(({ step }) => `${step.verb} ${step.node}`))]

/** Fails the shell of a node once, before a call of the program there. */
function cutBefore(lab: DriverLab, call: string): void {
  const push = lab.asked.push.bind(lab.asked)
  let cut = false
  lab.asked.push = (...items: string[]) => {
    if (cut || items[0] !== call) return push(...items)
    cut = true
    throw new ShellFailure('no', 'unreachable', 'connection lost')
  }
}

describe('a first server whose start was interrupted', () => {
  for (const call of ['s1: put', 's1: start', 's1: install']) {
    test(`before ${call}: it is begun again`, async () => {
      const lab = driverLab('s1 s2 s3')
      cutBefore(lab, call)
      await lab.until((observed) => allReady('s1 s2 s3')(observed) && votes(3)(observed), 900)
      assert.equal(lab.world.k3s.clusters.size, 1)
    })
  }

  test('or that K3s refuses to start with its flags: it says so, and starts when they are corrected', async () => {
    const lab = driverLab('s1 s2 s3', { serverFlags: { 'kube-apiserver-arg': ['no-such-flag=1'] } })
    lab.box('s1').trouble.neverStarts = true
    await lab.until(() => false, 120).catch(() => undefined)
    const { decision } = await lab.look()
    assert.match(decision.holds.find(({ guard }) => guard === 'first-start')?.reason ?? '', /does not start on s1/)
    lab.box('s1').trouble.neverStarts = false
    lab.spec = { ...lab.spec, serverFlags: {} }
    lab.restart()
    await lab.until((observed) => allReady('s1 s2 s3')(observed) && votes(3)(observed), 900)
    assert.equal(lab.world.k3s.clusters.size, 1)
  })
})

describe('a role that changed in Git is a move', () => {
  const roleOf = (lab: DriverLab, name: string) => {
    const { files } = lab.box(name).machine
    return ['k3s', 'k3s-agent'].filter((unit) => files.read(`/etc/systemd/system/${unit}.service`) !== undefined).join()
  }

  test('servers declared as agents leave etcd one by one, and come back as agents', async () => {
    const names = 's1 s2 s3 s4 s5'
    const lab = driverLab(names)
    await lab.until((observed) => allReady(names)(observed) && votes(5)(observed), 1800)
    await lab.clock.advanceTo(lab.clock.now() + 600_000)
    lab.done.length = 0
    const moves = lab.spec.servers.slice(3).map((node) => ({ ...node, role: 'agent' as const }))
    lab.spec = { ...lab.spec, servers: lab.spec.servers.slice(0, 3), agents: moves }
    lab.restart()
    const { observed, decision } = await lab.look()
    assert.deepEqual(
      forecast({ declaration: lab.declaration(), observed, decision }).flatMap(({ name, text }) =>
        text === '' ? [] : [`${name} ${text}`],
      ),
      ['s4 leaves as server, then joins as agent', 's5 leaves as server, then joins as agent'],
    )
    await lab.until(
      (seen) =>
        allReady(names)(seen) &&
        votes(3)(seen) &&
        roleOf(lab, 's5') === 'k3s-agent' &&
        roleOf(lab, 's4') === 'k3s-agent',
      1800,
    )
    const told = done(lab)
    assert.deepEqual(
      told.filter((one) => one.startsWith('configure')),
      [],
    )
    for (const name of ['s4', 's5']) {
      const order = ['cordon', 'stop-k3s', 'remove-member', 'delete-node', 'wipe-k3s', 'join-agent'].map((verb) =>
        told.indexOf(`${verb} ${name}`),
      )
      assert.deepEqual(
        [...order].sort((a, b) => a - b),
        order,
      )
      assert.ok(!order.includes(-1), told.join())
    }
  })

  test('an agent declared as a server is drained and leaves before it joins etcd', async () => {
    const lab = driverLab('s1 s2 a1', { allow: { degraded: true, interruption: false } })
    await lab.until((observed) => allReady('s1 s2 a1')(observed) && votes(2)(observed), 900)
    await lab.clock.advanceTo(lab.clock.now() + 600_000)
    lab.done.length = 0
    lab.spec = {
      ...lab.spec,
      servers: [...lab.spec.servers, ...lab.spec.agents.map((node) => ({ ...node, role: 'server' as const }))],
      agents: [],
    }
    lab.restart()
    await lab.until((seen) => allReady('s1 s2 a1')(seen) && votes(3)(seen), 1800)
    assert.deepEqual(
      done(lab).filter((one) => one.endsWith('a1')),
      ['cordon a1', 'drain a1', 'stop-k3s a1', 'delete-node a1', 'wipe-k3s a1', 'join-server a1'],
    )
  })
})

test('a restore leaves the Node of an agent that lives and is not declared', async () => {
  const lab = await formed()
  lab.spec = { ...lab.spec, agents: [] }
  const node = async () => (await lab.call('GET', '/api/v1/nodes/a1')).status
  const gone: Step<'operation'> = {
    about: 'operation',
    verb: 'delete-node',
    lane: 'object',
    summary: 'delete Nodes',
    awaits: 'no Node without a machine',
    until: 'nothing',
  }
  const signal = new AbortController().signal
  const { operator } = lab
  const without = () => ({
    ...lab.surroundings(),
    nodes: new Map([...lab.surroundings().nodes].filter(([name]) => name !== 'a1')),
  })
  const deleted = (reach: ReturnType<typeof lab.surroundings> = without()) =>
    lab.clock.runUntil(operator.perform(gone, reach, signal))
  const pass = (seconds: number) => lab.clock.advanceTo(lab.clock.now() + seconds * 1000)
  assert.deepEqual(await deleted(), { result: 'done' })
  await pass(60)
  assert.equal(await node(), 200)
  await lab.perform({ verb: 'stop-k3s', node: 'a1' })
  await pass(120)
  assert.match(
    JSON.stringify(await deleted()),
    /gives a1 2 min to become Ready again/,
    'however long it was away before',
  )
  assert.equal(await node(), 200)
  await pass(120)
  assert.deepEqual(await deleted(lab.surroundings()), { result: 'done' })
  await pass(60)
  assert.equal(await node(), 200, 'it has a machine')
  assert.match(JSON.stringify(await deleted()), /gives a1/, 'its time begins again')
  await pass(130)
  assert.deepEqual(await deleted(), { result: 'done' })
  await pass(60)
  assert.equal(await node(), 404)
})

describe('the gentlest cure comes first', () => {
  test('an agent whose Node was deleted by hand is restarted, and registers again with everything on its disk', async () => {
    const lab = await formed()
    await lab.call('DELETE', '/api/v1/nodes/a1')
    await lab.clock.advanceTo(lab.clock.now() + 30_000)
    await lab.until(allReady('s1 s2 s3 a1'), 600)
    assert.deepEqual(done(lab).slice(0, 1), ['restart-k3s a1'])
    assert.deepEqual(
      done(lab).filter((one) => /wipe|destroy/.test(one)),
      [],
    )
    assert.equal(lab.box('a1').machine.files.text(PHOTOS), 'photos')
  })

  test('one that was stopped as well is started', async () => {
    const lab = await formed()
    await lab.perform({ verb: 'stop-k3s', node: 'a1' })
    await lab.call('DELETE', '/api/v1/nodes/a1')
    await lab.until(allReady('s1 s2 s3 a1'), 600)
    assert.deepEqual(
      done(lab).filter((one) => /wipe|destroy/.test(one)),
      [],
    )
    assert.equal(lab.box('a1').machine.files.text(PHOTOS), 'photos')
  })
})
