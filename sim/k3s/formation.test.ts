import assert from 'node:assert/strict'
import { test } from 'node:test'
import { threeServers } from '../testing/k3s-lab.ts'
import { restartService } from './service.ts'

test('three servers form one cluster, each a voter and Ready, and the API tells of them', async () => {
  const lab = await threeServers()
  const members = [...lab.cluster().members.values()]
  assert.deepEqual(
    members.map(({ learner }) => learner),
    [false, false, false],
  )
  const answer = await lab.call('GET', '/api/v1/nodes')
  assert.equal(answer.status, 200)
  const { items } = JSON.parse(answer.body) as { items: { metadata: { name: string } }[] }
  assert.deepEqual(
    items.map(({ metadata }) => metadata.name),
    ['s1', 's2', 's3'],
  )
  await lab.pass(60_000)
  const pods = JSON.parse((await lab.call('GET', '/api/v1/pods')).body) as { items: { status: { phase: string } }[] }
  assert.equal(pods.items.length, 3)
  assert.ok(pods.items.every(({ status }) => status.phase === 'Running'))
})

test('the same seed gives the same run', async () => {
  const trace = async () => {
    const lab = await threeServers(5)
    const { store } = lab.cluster()
    const nodes = [...(store.tables.get('/nodes')?.values() ?? [])].map(({ metadata }) => [
      metadata.uid,
      metadata.annotations?.['etcd.k3s.cattle.io/node-name'],
    ])
    return { at: lab.clock.now(), revision: store.revision, nodes, members: [...lab.cluster().members.keys()] }
  }
  assert.deepEqual(await trace(), await trace())
})

test('a server that is started again with another address is no member of its etcd, and never ready', async () => {
  const lab = await threeServers()
  const { machine, computer } = lab.box('s3')
  const path = '/etc/rancher/k3s/config.yaml'
  const config = JSON.parse(machine.files.text(path) ?? '') as Record<string, unknown>
  machine.files.write(path, JSON.stringify({ ...config, 'node-ip': '192.168.4.240' }))
  restartService(computer)
  await lab.pass(300_000)
  assert.equal(lab.isReady('s3'), false)
  assert.match(
    lab.journal('s3').join('\n'),
    /a not a member of the etcd cluster\..* expect: s3-\S+=https:..192\.168\.4\.240:2380/,
  )
  machine.files.write(path, JSON.stringify(config))
  restartService(computer)
  await lab.pass(300_000)
  assert.equal(lab.isReady('s3'), true)
})
