import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { conditionsOf, type KubeObject, tree } from '../kubernetes/object.ts'
import { switchOff, switchOn } from '../metal/box.ts'
import { JOIN, threeServers } from '../testing/k3s-lab.ts'
import {
  compared,
  near,
  readJson,
  readLines,
  readLogMessages,
  since,
  summary,
  within,
} from '../testing/k3s-recordings.ts'
import { readConfig } from './config-file.ts'
import { clusterReset, RESET_DONE } from './restore.ts'
import { restartService, serviceOf, startService, stopService } from './service.ts'
import { saveSnapshot, snapshotsOn } from './snapshots.ts'

after(() => {
  for (const line of summary()) console.log(line)
})

test('05 and 05b: a name that is taken, removal by annotation and by deletion', async () => {
  const lab = await threeServers()
  await lab.pass(40_000)
  const wipe = (name: string) => {
    const box = lab.box(name)
    switchOff(lab.world, box)
    for (const path of ['/var/lib/rancher', '/etc/rancher/node']) box.machine.files.remove(path)
    box.machine.enabled.clear()
    switchOn(lab.world, box)
  }
  wipe('s3')
  await lab.until(() => lab.box('s3').booted, 200_000)
  const startMs = lab.clock.now()
  lab.start('s3', 'server', JOIN)
  const service = serviceOf(lab.box('s3').computer)
  await lab.until(() => service.lastExit !== undefined)
  const [event] = readLines<{ event: string; exit_code?: number; after_s?: number }>(
    '05-node-replacement/events.jsonl',
  ).filter(({ event }) => event === 'rejoin attempt ended')
  compared('05-node-replacement', service.lastExit, event?.exit_code, 'exit code of a taken name')
  near('05-node-replacement', since(lab, startMs), event?.after_s ?? 0, 0.1, 'seconds until it ended')
  compared(
    '05-node-replacement',
    readLogMessages('05-node-replacement/log-rejoin-duplicate.txt').includes(service.failure ?? ''),
    true,
    'text of a taken name',
  )
  stopService(lab.box('s3').computer)
  await lab.pass(1_000)
  const memberName = lab.node('s3')?.metadata.annotations?.['etcd.k3s.cattle.io/node-name']
  const patched = await lab.call('PATCH', '/api/v1/nodes/s3', {
    metadata: { annotations: { 'etcd.k3s.cattle.io/remove': 'true' } },
  })
  compared('05-node-replacement', patched.status, 200, 'annotate')
  await lab.pass(500)
  compared('05-node-replacement', [...lab.cluster().members.values()].length, 2, 'member gone')
  compared(
    '05-node-replacement',
    lab.node('s3')?.metadata.annotations?.['etcd.k3s.cattle.io/removed-node-name'],
    memberName,
    'removed-node-name',
  )
  startService(lab.box('s3').computer)
  await lab.until(() => lab.isReady('s3'), 120_000)
  await lab.pass(30_000)
  compared(
    '05-node-replacement',
    lab.node('s3')?.metadata.annotations?.['etcd.k3s.cattle.io/removed-node-name'],
    memberName,
    'the mark stays',
  )
  const deleted = await lab.call('DELETE', '/api/v1/nodes/s3')
  compared('05-node-replacement', deleted.status, 200, 'delete')
  await lab.pass(60_000)
  compared('05-node-replacement', lab.node('s3'), undefined, 'Node gone')
  compared('05-node-replacement', [...lab.cluster().members.values()].length, 3, 'its member stays behind')
  const right = await threeServers(2)
  await right.pass(40_000)
  const old = right.box('s3')
  switchOff(right.world, old)
  const answer = await right.call('DELETE', '/api/v1/nodes/s3')
  compared('05b-node-replacement-right-way', answer.status, 200, 'delete')
  await right.pass(400)
  compared(
    '05b-node-replacement-right-way',
    [right.node('s3'), [...right.cluster().members.values()].length],
    [undefined, 2],
    'Node and member gone in 0.4 s',
  )
  compared(
    '05b-node-replacement-right-way',
    (await right.call('GET', '/api/v1/namespaces/kube-system/secrets/s3.node-password.k3s')).status,
    404,
    'secret gone',
  )
})

test('06: a live server that is removed stays up with a hanging API, and rejoins at a restart', async () => {
  const lab = await threeServers(3)
  await lab.pass(40_000)
  await lab.call('PATCH', '/api/v1/nodes/s3', { metadata: { annotations: { 'etcd.k3s.cattle.io/remove': 'true' } } })
  await lab.pass(600)
  const box = lab.box('s3')
  compared(
    '06-removal',
    box.machine.files.read('/var/lib/rancher/k3s/server/db/etcd/tombstone') !== undefined,
    true,
    'tombstone',
  )
  await lab.pass(30_000)
  compared('06-removal', serviceOf(box.computer).process?.alive, true, 'the process lives')
  const condition = conditionsOf(lab.node('s3') as KubeObject).find(({ type }) => type === 'EtcdIsVoter')
  const recorded = conditionsOf(readJson<KubeObject>('06-removal/node-s3-after-30s.json')).find(
    ({ type }) => type === 'EtcdIsVoter',
  )
  compared(
    '06-removal',
    [condition?.status, condition?.reason, condition?.message],
    [recorded?.status, recorded?.reason, recorded?.message],
    'EtcdIsVoter',
  )
  const recordedNode = readJson<KubeObject>('06-removal/node-s3-after-30s.json')
  compared(
    '06-removal',
    Object.keys(lab.node('s3')?.metadata.annotations ?? {}).sort(),
    Object.keys(recordedNode.metadata.annotations ?? {}).sort(),
    'annotations',
  )
  const texts = readLogMessages('06-removal/log-s3-removed.txt')
  compared(
    '06-removal',
    lab.journal('s3').some((line) => texts.includes(line.replace('info: ', ''))),
    true,
    'its log',
  )
  restartService(box.computer)
  const startMs = lab.clock.now()
  await lab.until(() => [...lab.cluster().members.values()].filter(({ learner }) => !learner).length === 3)
  within('06-removal', since(lab, startMs), [3, 22], 'voter again')
  const restart = readLogMessages('06-removal/log-s3-restart.txt')
  const said = lab.journal('s3').find((line) => line.includes('tombstone file has been detected')) ?? ''
  compared('06-removal', restart.includes(said.replace('info: ', '')), true, 'tombstone text')
})

test('07: without a majority probes answer 500, calls hang, and the leader of the controllers ends itself', async () => {
  const lab = await threeServers(4)
  await lab.pass(40_000)
  const process = serviceOf(lab.box('s1').computer).process
  compared('07-quorum-loss', lab.cluster().manager === process, true, 's1 leads the controllers')
  const killedMs = lab.clock.now()
  for (const name of ['s2', 's3']) switchOff(lab.world, lab.box(name))
  const probe = await lab.call('GET', '/readyz')
  compared(
    '07-quorum-loss',
    [probe.status, probe.body.includes('[-]etcd failed: reason withheld')],
    [500, true],
    'readyz',
  )
  compared('07-quorum-loss', (await lab.call('GET', '/ping')).body, 'pong', 'ping')
  await assert.rejects(lab.call('GET', '/api/v1/nodes'), /reset/)
  const [, , , , gone] = readLines<{ t: number; event: string }>('07-quorum-loss/events.jsonl')
  assert.ok(gone !== undefined)
  near('07-quorum-loss', since(lab, killedMs), 10.6, 1.5, 's1 ends by itself')
  compared('07-quorum-loss', process?.alive, false, 's1 has ended')
  switchOn(lab.world, lab.box('s2'))
  await lab.until(() => serviceOf(lab.box('s2').computer).state === 'running', 400_000)
  const written = await lab.call(
    'POST',
    '/api/v1/namespaces/default/configmaps',
    { metadata: { name: 'after' } },
    {},
    's2',
  )
  compared('07-quorum-loss', written.status, 201, 'writes again with two of three')
})

test('08: snapshots, and how a reset ends', async () => {
  const lab = await threeServers(5)
  await lab.pass(30_000)
  await lab.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'before' } })
  const { computer, machine } = lab.box('s1')
  saveSnapshot(computer, 'rec')
  await lab.until(() => machine.job?.state === 'done')
  await lab.call('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: 'later' } })
  const [snapshot] = snapshotsOn(computer)
  assert.match(snapshot?.name ?? '', /^rec-s1-\d+$/)
  const file = JSON.parse((await lab.call('GET', '/apis/k3s.cattle.io/v1/etcdsnapshotfiles')).body) as {
    items: KubeObject[]
  }
  const recorded = readJson<{ items: KubeObject[] }>('08-snapshot-restore/etcdsnapshotfiles.json').items[0]
  const keys = (object: KubeObject | undefined) =>
    ['metadata', 'spec', 'status'].map((part) =>
      Object.keys(tree(object?.[part]))
        .filter((key) => key !== 'managedFields')
        .sort(),
    )
  compared('08-snapshot-restore', keys(file.items[0]), keys(recorded), 'ETCDSnapshotFile')
  for (const name of ['s1', 's2', 's3']) stopService(lab.box(name).computer)
  await lab.pass(5_000)
  const flags = readConfig(machine.files, 'server').flags
  const events = readLines<{ event: string; exit_code?: number; after_s?: number; last?: string[] }>(
    '08-snapshot-restore/events.jsonl',
  )
  const event = (name: string) => events.find((one) => one.event === `cluster-reset ${name}`)
  const judged = (name: string, outcome: ReturnType<typeof clusterReset>) => {
    compared('08-snapshot-restore', outcome.code, event(name)?.exit_code, `${name}: exit code`)
    near('08-snapshot-restore', outcome.tookMs / 1000, event(name)?.after_s ?? 0, 0.1, `${name}: seconds`)
    return outcome.message.replaceAll('/var/lib/rancher/k3s', '$DATA')
  }
  const says = (name: string, text: string) =>
    compared(
      '08-snapshot-restore',
      event(name)?.last?.some((line) => line.includes(text.replaceAll('"', '\\"'))),
      true,
      `${name}: ${text}`,
    )
  says(
    'with-server-flag',
    judged('with-server-flag', clusterReset(computer, new Map([...flags, ['server', ['https://x:6443']]]), 'x', true)),
  )
  says('no-such-file', judged('no-such-file', clusterReset(computer, flags, 'nope', true)))
  says(
    'wrong-token',
    judged(
      'wrong-token',
      clusterReset(computer, new Map([...flags, ['token', ['deadbeef']]]), snapshot?.path ?? '', true),
    ),
  )
  judged('right', clusterReset(computer, flags, snapshot?.path ?? '', false))
  compared(
    '08-snapshot-restore',
    readLogMessages('08-snapshot-restore/log-right.txt').some((line) => line.includes(RESET_DONE)),
    true,
    'text of success',
  )
  says(
    'again-without-removing-reset-flag',
    judged('again-without-removing-reset-flag', clusterReset(computer, flags, '', true)),
  )
  const startMs = lab.clock.now()
  startService(computer)
  await lab.until(() => serviceOf(computer).state === 'running')
  near('08-snapshot-restore', since(lab, startMs), 8.55, 0.2, 'ready after the reset')
  compared(
    '08-snapshot-restore',
    (await lab.call('GET', '/api/v1/namespaces/default/configmaps/later')).status,
    404,
    'object made after the snapshot',
  )
  compared(
    '08-snapshot-restore',
    (await lab.call('GET', '/api/v1/namespaces/default/configmaps/before')).status,
    200,
    'object made before it',
  )
  const s2 = lab.box('s2')
  startService(s2.computer)
  await lab.pass(12_000)
  compared(
    '08-snapshot-restore',
    [serviceOf(s2.computer).process?.alive, lab.cluster().members.size],
    [true, 1],
    's2 with its old data hangs',
  )
  stopService(s2.computer)
  await lab.pass(1_000)
  s2.machine.files.remove('/var/lib/rancher/k3s/server/db')
  startService(s2.computer)
  await lab.until(() => lab.cluster().members.size === 2 && serviceOf(s2.computer).state === 'running')
})

test('12: a stop is quick, its Node is missed after the lease, and a restart brings it back', async () => {
  const lab = await threeServers(6)
  await lab.pass(40_000)
  const { computer } = lab.box('s2')
  const stoppedMs = lab.clock.now()
  stopService(computer)
  await lab.until(() => serviceOf(computer).process === undefined)
  within('12-stop-restart', since(lab, stoppedMs), [0.05, 0.2], 'SIGTERM to end')
  await lab.until(() => !lab.isReady('s2'))
  within('12-stop-restart', since(lab, stoppedMs), [40, 56], 'NotReady')
  const recorded = readJson<KubeObject>('12-stop-restart/node-s2-notready.json')
  const own = lab.node('s2') as KubeObject
  const told = (node: KubeObject) =>
    conditionsOf(node).map(({ type, status, reason, message }) => [type, status, reason, message])
  compared('12-stop-restart', told(own), told(recorded), 'conditions')
  const taints = (node: KubeObject) =>
    (tree(node.spec).taints as { key: string; effect: string }[]).map(({ key, effect }) => `${key}:${effect}`)
  compared('12-stop-restart', taints(own), taints(recorded), 'taints')
  const startMs = lab.clock.now()
  startService(computer)
  await lab.until(() => serviceOf(computer).state === 'running')
  near('12-stop-restart', since(lab, startMs), 9.85, 0.15, 'readyz')
  await lab.until(() => lab.isReady('s2'))
  near('12-stop-restart', since(lab, startMs), 11.31, 0.15, 'Ready')
  await lab.until(() => tree(lab.node('s2')?.spec).taints === undefined)
  near('12-stop-restart', since(lab, startMs), 13.74, 0.15, 'taints gone')
})

test('07b: a survivor that waits alone, and one that comes back, write again', async () => {
  const lab = await threeServers(12)
  await lab.pass(40_000)
  const cluster = lab.cluster()
  for (const name of ['s1', 's2', 's3']) switchOff(lab.world, lab.box(name))
  const { computer: waiting } = lab.box('s2')
  switchOn(lab.world, lab.box('s2'))
  await lab.until(() => lab.box('s2').booted, 200_000)
  await lab.pass(60_000)
  compared(
    '07b-quorum-recovery',
    [serviceOf(waiting).state, serviceOf(waiting).process?.alive],
    ['starting', true],
    's2 waits alone',
  )
  lab.box('s1').machine.enabled.clear()
  switchOn(lab.world, lab.box('s1'))
  await lab.until(() => lab.box('s1').booted, 200_000)
  const startMs = lab.clock.now()
  startService(lab.box('s1').computer)
  await lab.until(() => cluster.leader !== undefined)
  within('07b-quorum-recovery', since(lab, startMs), [3, 13.5], 'a leader')
  await lab.until(() => serviceOf(lab.box('s1').computer).state === 'running')
  within('07b-quorum-recovery', since(lab, startMs), [8, 17.5], 's1 ready')
  await lab.until(() => serviceOf(waiting).state === 'running')
  within('07b-quorum-recovery', since(lab, startMs), [5, 18.5], 's2 ready')
})
