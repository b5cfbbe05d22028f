import assert from 'node:assert/strict'
import { test } from 'node:test'
import { switchOff, switchOn } from '../metal/box.ts'
import { createLab, FIRST, JOIN, type Lab, threeServers } from '../testing/k3s-lab.ts'
import { BINARY, programText } from './disk.ts'
import { addRefusal, isWritable, removeMember, removeRefusal } from './etcd.ts'
import { networkChanged, restartService, serviceOf, startService } from './service.ts'

const memberOf = (lab: Lab, name: string) => {
  const found = [...lab.cluster().members.values()].find((member) => member.name.startsWith(`${name}-`))
  assert.ok(found, `${name} is a member`)
  return found
}

test('a dead member is removed before another is added: the rules of each etcd', async () => {
  for (const [version, alone] of [
    ['v1.34.3+k3s1', 'etcdserver: unhealthy cluster'],
    ['v1.36.3+k3s1', 'etcdserver: unhealthy cluster'],
  ] as const) {
    const lab = await threeServers(1, version)
    await lab.pass(20_000)
    assert.equal(addRefusal(lab.world, lab.cluster()), undefined)
    const { id } = memberOf(lab, 's3')
    switchOff(lab.world, lab.box('s3'))
    await lab.pass(20_000)
    assert.equal(addRefusal(lab.world, lab.cluster()), alone, version)
    assert.equal(
      removeRefusal(lab.world, lab.cluster(), memberOf(lab, 's2').id),
      'etcdserver: re-configuration failed due to not enough started members',
    )
    assert.equal(removeMember(lab.world, lab.cluster(), id), undefined)
    assert.equal(addRefusal(lab.world, lab.cluster()), undefined, version)
  }
})

test('[F-33] a lost leader is replaced within ten seconds, and nothing that was acknowledged is lost', async () => {
  const lab = await threeServers(9)
  await lab.pass(20_000)
  const leader = [...lab.cluster().members.values()].find(({ id }) => id === lab.cluster().leader)
  const name = leader?.name.slice(0, 2) ?? ''
  const other = ['s1', 's2', 's3'].find((one) => one !== name) ?? ''
  const made = await lab.call(
    'POST',
    '/api/v1/namespaces/default/configmaps',
    { metadata: { name: 'kept' }, data: { a: 'b' } },
    {},
    other,
  )
  assert.equal(made.status, 201)
  const cluster = lab.cluster(other)
  const lostMs = lab.clock.now()
  switchOff(lab.world, lab.box(name))
  assert.equal(isWritable(cluster), false)
  await lab.until(() => isWritable(cluster))
  const tookMs = lab.clock.now() - lostMs
  assert.ok(tookMs >= 5_000 && tookMs < 10_001, `${tookMs} ms`)
  const read = await lab.call('GET', '/api/v1/namespaces/default/configmaps/kept', undefined, {}, other)
  assert.deepEqual((JSON.parse(read.body) as { data: unknown }).data, { a: 'b' })
})

test('a learner that gets nowhere is thrown out after five minutes, and stops nobody else for ever', async () => {
  const lab = createLab()
  lab.start('s1', 'server', FIRST)
  await lab.until(() => lab.isReady('s1'))
  lab.box('s2').trouble.learnerStuck = true
  lab.start('s2', 'server', JOIN)
  await lab.pass(60_000)
  assert.equal(memberOf(lab, 's2').learner, true)
  assert.equal(addRefusal(lab.world, lab.cluster()), 'etcdserver: too many learner members in cluster')
  await lab.pass(320_000)
  assert.equal(lab.cluster().members.size, 1)
})

async function toVersion(lab: Lab, version: string): Promise<void> {
  for (const name of ['s1', 's2']) {
    const { computer, machine } = lab.box(name)
    machine.files.write(BINARY, programText(version))
    restartService(computer)
    await lab.until(
      () => serviceOf(computer).process?.version === version && serviceOf(computer).state === 'running',
      300_000,
    )
  }
}

/** Two servers on old etcd after a third was removed. */
async function twoAfterRemoval(): Promise<Lab> {
  const lab = await threeServers(3, 'v1.32.9+k3s1')
  await lab.pass(20_000)
  switchOff(lab.world, lab.box('s3'))
  await lab.pass(20_000)
  assert.equal(removeMember(lab.world, lab.cluster(), memberOf(lab, 's3').id), undefined)
  return lab
}

test('[A33] from etcd 3.5 straight to 3.6 removed members come back; over 3.5.26 they do not', async () => {
  const straight = await twoAfterRemoval()
  await toVersion(straight, 'v1.33.11+k3s1')
  assert.equal(straight.cluster().members.size, 3, 'a zombie')
  const over = await twoAfterRemoval()
  await toVersion(over, 'v1.32.13+k3s1')
  await toVersion(over, 'v1.33.11+k3s1')
  assert.equal(over.cluster().members.size, 2)
  // And there is no way back.
  const { computer, machine } = over.box('s2')
  machine.files.write(BINARY, programText('v1.33.10+k3s1'))
  restartService(computer)
  await over.pass(10_000)
  assert.equal(
    serviceOf(computer).failure,
    'invalid downgrade; server version is lower than determined cluster version',
  )
})

test('stale files of another cluster are not joined with, and a rebooted server takes up its own data', async () => {
  const lab = await threeServers(5)
  const other = createLab(6)
  other.start('s1', 'server', FIRST)
  await other.until(() => other.isReady('s1'))
  const { computer, machine } = lab.box('a1')
  machine.files.write(
    '/var/lib/rancher/k3s/server/tls/server-ca.crt',
    other.box('s1').machine.files.text('/var/lib/rancher/k3s/server/tls/server-ca.crt') ?? '',
  )
  for (const file of ['tls/etcd/peer-ca.crt', 'cred/passwd'])
    machine.files.write(`/var/lib/rancher/k3s/server/${file}`, 'of another life')
  lab.start('a1', 'server', JOIN)
  await lab.until(() => serviceOf(computer).failure !== undefined)
  assert.match(
    serviceOf(computer).failure ?? '',
    /server-ca\.crt.* newer than datastore and could cause a cluster outage/,
  )
  const box = lab.box('s2')
  switchOff(lab.world, box)
  switchOn(lab.world, box)
  await lab.until(() => serviceOf(box.computer).state === 'running', 300_000)
  assert.equal(lab.cluster().members.size, 3)
})

test('nodes without a network of their own wait for one, and say so in the recorded words', async () => {
  const lab = createLab()
  lab.start('s1', 'server', { ...FIRST, 'flannel-backend': 'none', 'disable-network-policy': true })
  await lab.until(() => serviceOf(lab.box('s1').computer).state === 'running')
  await lab.pass(60_000)
  assert.equal(lab.isReady('s1'), false)
  const status = JSON.stringify(lab.node('s1')?.status)
  assert.match(
    status,
    /"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"/,
  )
  const chart = { metadata: { name: 'cilium', namespace: 'kube-system' }, spec: { chart: 'cilium', bootstrap: true } }
  const made = await lab.call('POST', '/apis/helm.cattle.io/v1/namespaces/kube-system/helmcharts', chart)
  assert.equal(made.status, 201)
  await lab.until(() => lab.isReady('s1'))
})

test('a virtual address is held by one server, and by another soon after that one is lost', async () => {
  const lab = createLab(8)
  const sans = { 'tls-san': ['10.67.0.100'] }
  lab.start('s1', 'server', { ...FIRST, ...sans })
  await lab.until(() => lab.isReady('s1'))
  for (const name of ['s2', 's3']) {
    lab.start(name, 'server', { ...JOIN, ...sans, server: 'https://10.67.0.100:6443' })
    await lab.until(() => lab.isReady(name))
  }
  await lab.pass(20_000)
  const { holders } = lab.world.k3s
  const holder = holders.get('10.67.0.100')?.process.nodeName ?? ''
  switchOff(lab.world, lab.box(holder))
  startService(lab.box('a1').computer)
  lab.start('a1', 'agent', { server: 'https://10.67.0.100:6443', token: FIRST['agent-token'] })
  await lab.until(() => lab.isReady('a1'), 200_000)
  assert.notEqual(holders.get('10.67.0.100')?.process.nodeName, holder)
})

test('a leader that is cut off is replaced by the majority, and comes back as one of them', async () => {
  const lab = await threeServers(11)
  await lab.pass(40_000)
  const cluster = lab.cluster()
  const name = cluster.members.get(cluster.leader ?? '')?.name.slice(0, 2) ?? ''
  const { computer, trouble } = lab.box(name)
  trouble.noNetwork = true
  networkChanged(computer)
  assert.equal(isWritable(cluster), false)
  await lab.until(() => isWritable(cluster), 15_000)
  assert.notEqual(cluster.members.get(cluster.leader ?? '')?.name.slice(0, 2), name)
  await lab.until(() => !lab.isReady(name))
  delete trouble.noNetwork
  networkChanged(computer)
  await lab.until(() => lab.isReady(name))
  assert.equal(cluster.members.size, 3)
})
