import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { conditionsOf, type KubeObject, tree } from '../kubernetes/object.ts'
import { kubernetesWire } from '../kubernetes/wire.ts'
import { switchOff, switchOn } from '../metal/box.ts'
import {
  AGENT_PASSWORD,
  adminOf,
  createLab,
  FIRST,
  JOIN,
  type Lab,
  SERVER_PASSWORD,
  threeServers,
} from '../testing/k3s-lab.ts'
import { compared, near, readJson, readLines, recordingsMissing, summary, within } from '../testing/k3s-recordings.ts'
import { authorityHash, completeAuthorities, SERVER_TLS } from './authorities.ts'
import { readConfig } from './config-file.ts'
import { clusterReset, RESET_DONE } from './restore.ts'
import { restartService, serviceOf, startService, stopService } from './service.ts'
import { saveSnapshot, snapshotsOn } from './snapshots.ts'

const skip = recordingsMissing()

after(() => {
  for (const line of summary()) console.log(line)
})

/** Seconds since a moment. */
const since = (lab: Lab, fromMs: number) => (lab.clock.now() - fromMs) / 1000

/** The kinds and fields of an object, without values that are born of each machine. */
function shapeOf(node: KubeObject): Record<string, unknown> {
  const { labels, annotations, finalizers } = node.metadata
  const spec = tree(node.spec)
  return {
    labels: Object.keys(labels ?? {}).sort(),
    annotations: Object.keys(annotations ?? {}).sort(),
    finalizers: finalizers ?? [],
    spec: Object.keys(spec).sort(),
    taints: spec.taints ?? [],
    status: Object.keys(tree(node.status)).sort(),
    conditions: conditionsOf(node)
      .map(({ type, status, reason, message }) => `${type} ${status} ${reason}: ${message}`)
      .sort(),
    addresses: (tree(node.status).addresses as { type: string }[]).map(({ type }) => type),
  }
}

test('01: the first server, its Node and its HTTP answers over time', { skip }, async () => {
  const lab = createLab()
  const startMs = lab.clock.now()
  lab.start('s1', 'server', FIRST)
  const front = async (path: string) => {
    try {
      const answer = await lab.call('GET', path)
      return `${answer.status} ${answer.body}`
    } catch (error) {
      return (error as Error).message
    }
  }
  const told = readLines<{ t: number; key: string; val: { status: number | null; body?: string } }>(
    '01-bootstrap/http-over-time.jsonl',
  )
  const saying = (key: string, status: number, text: string) => {
    const found = told.find(
      (line) => line.key === key && line.val.status === status && String(line.val.body).includes(text),
    )
    assert.ok(found, `${key} ${status} ${text} is in the recording`)
    return String(found.val.body)
  }
  await lab.pass(400)
  compared('01-bootstrap', await front('/readyz'), 'connect ECONNREFUSED 10.67.0.1:6443', 'refused at first')
  await lab.pass(200)
  compared('01-bootstrap', await front('/livez'), `503 ${saying('/livez auth=admin', 503, 'starting')}`, 'starting')
  compared('01-bootstrap', await front('/ping'), `200 ${saying('/ping auth=none', 200, 'pong')}`, 'ping')
  await lab.pass(400)
  compared(
    '01-bootstrap',
    await front('/readyz'),
    `503 ${saying('/readyz auth=admin', 503, 'apiserver not ready')}`,
    'not ready',
  )
  const basic = (user: string, password: string) => ({
    Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  })
  const asked = async (path: string, headers: Record<string, string>) => {
    const answer = await lab.call('GET', path, undefined, headers)
    return `${answer.status} ${answer.body}`
  }
  compared(
    '01-bootstrap',
    await asked('/v1-k3s/config', {}),
    `403 ${saying('/v1-k3s/config auth=none', 403, 'forbidden')}`,
    'no credentials',
  )
  compared(
    '01-bootstrap',
    await asked('/v1-k3s/config', basic('node', SERVER_PASSWORD)),
    `401 ${saying('/v1-k3s/config auth=node:server-password', 401, 'not authorized')}`,
    'server password as node',
  )
  compared(
    '01-bootstrap',
    await asked('/v1-k3s/server-bootstrap', basic('node', AGENT_PASSWORD)),
    `403 ${saying('/v1-k3s/server-bootstrap auth=node:agent-password', 403, 'forbidden')}`,
    'bootstrap as agent',
  )
  compared(
    '01-bootstrap',
    await asked('/v1-k3s/readyz', basic('node', AGENT_PASSWORD)),
    `503 ${saying('/v1-k3s/readyz auth=node:agent-password', 503, 'runtime core')}`,
    'runtime core',
  )
  await lab.until(() => lab.box('s1').machine.k3s?.process?.phase === 'apiserver')
  near('01-bootstrap', since(lab, startMs), 9.2, 0.15, 'the API server answers')
  assert.match(await front('/readyz'), /^500 \[\+\]ping ok\n\[\+\]log ok\n/)
  await lab.until(() => lab.node('s1') !== undefined)
  near('01-bootstrap', since(lab, startMs), 18.36, 0.1, 'Node first seen')
  await lab.pass(310)
  const first = shapeOf(lab.node('s1') as KubeObject)
  const recorded = shapeOf({
    apiVersion: 'v1',
    kind: 'Node',
    ...readJson<object>('01-bootstrap/node-first-seen.json'),
  } as KubeObject)
  for (const key of Object.keys(recorded)) compared('01-bootstrap', first[key], recorded[key], `first seen: ${key}`)
  await lab.until(() => lab.isReady('s1'))
  near('01-bootstrap', since(lab, startMs), 18.96, 0.1, 'Node Ready')
  await lab.until(() => serviceOf(lab.box('s1').computer).state === 'running')
  near('01-bootstrap', since(lab, startMs), 19.05, 0.1, 'readyz')
  compared('01-bootstrap', await front('/readyz'), '200 ok', 'readyz')
  const voter = () => JSON.stringify(lab.node('s1')?.status).includes('EtcdIsVoter')
  await lab.until(voter)
  near('01-bootstrap', since(lab, startMs), 21.37, 0.1, 'EtcdIsVoter')
  await lab.until(() => tree(lab.node('s1')?.spec).taints === undefined)
  near('01-bootstrap', since(lab, startMs), 24.59, 0.1, 'the last taint gone')
  await lab.pass(30_000)
  const later = shapeOf(lab.node('s1') as KubeObject)
  const recordedLater = shapeOf({
    apiVersion: 'v1',
    kind: 'Node',
    ...readJson<object>('01-bootstrap/node-ready-plus-30s.json'),
  } as KubeObject)
  for (const key of Object.keys(recordedLater))
    compared('01-bootstrap', later[key], recordedLater[key], `30 s later: ${key}`)
})

test('02 and 05b: joins at once and alone, members over time', { skip }, async () => {
  const lab = createLab()
  lab.start('s1', 'server', FIRST)
  await lab.until(() => lab.isReady('s1'))
  await lab.pass(20_000)
  const startMs = lab.clock.now()
  lab.start('s2', 'server', JOIN)
  lab.start('s3', 'server', JOIN)
  const members = () =>
    [...lab.cluster().members.values()]
      .map(({ name, learner }) => `${name.slice(0, 2)}${learner ? ' learner' : ''}`)
      .sort()
  const seen: string[][] = [members()]
  await lab.until(() => {
    const now = members()
    if (JSON.stringify(now) !== JSON.stringify(seen.at(-1))) seen.push(now)
    return lab.isReady('s2') && lab.isReady('s3')
  })
  const recorded = readLines<{ val: { name: string; isLearner: boolean }[] }>(
    '02-join-servers-parallel/etcd-members.jsonl',
  ).map(({ val }) => val.map(({ name, isLearner }) => `${name.slice(0, 2)}${isLearner ? ' learner' : ''}`).sort())
  // Which of the two comes first is chance.
  const other = (list: string[][]) =>
    list.map((one) => one.map((name) => name.replace(/s[23]/, (text) => (text === 's2' ? 's3' : 's2'))).sort())
  const same = JSON.stringify(seen) === JSON.stringify(recorded)
  compared('02-join-servers-parallel', same ? seen : other(seen), recorded, 'members over time')
  const waits = [...lab.journal('s2'), ...lab.journal('s3')].filter((line) =>
    line.includes('Waiting for other members'),
  )
  compared(
    '02-join-servers-parallel',
    waits[0],
    'info: Waiting for other members to finish joining etcd cluster: etcdserver: too many learner members in cluster',
    'the second waits',
  )
  within('02-join-servers-parallel', since(lab, startMs), [25, 50], 'both Ready')
  const alone = createLab(7)
  alone.start('s1', 'server', FIRST)
  await alone.until(() => alone.isReady('s1'))
  await alone.pass(20_000)
  const aloneMs = alone.clock.now()
  alone.start('s2', 'server', JOIN)
  const second = () => [...alone.cluster().members.values()][1]
  await alone.until(() => second() !== undefined)
  within('05b-node-replacement-right-way', since(alone, aloneMs), [3.5, 5.6], 'learner')
  await alone.until(() => second()?.learner === false)
  within('05b-node-replacement-right-way', since(alone, aloneMs), [5, 21], 'voter at the leader’s next round')
  await alone.until(() => alone.isReady('s2'))
  within('05b-node-replacement-right-way', since(alone, aloneMs), [22.5, 31], 'Ready')
})

const SHORT: Readonly<
  Record<
    string,
    { role: 'agent' | 'server'; flags: Record<string, unknown>; text: RegExp | string; exit?: number; afterS?: number }
  >
> = {
  'd2-wrong-password-full': {
    role: 'agent',
    flags: { token: '%K10::server:deadbeefdeadbeefdeadbeefdeadbeef' },
    text: 'Waiting to retrieve agent configuration; server is not ready: failed to retrieve configuration from server: not authorized',
  },
  'e-wrong-ca-hash': {
    role: 'agent',
    flags: { token: `K10${'0'.repeat(64)}::server:${SERVER_PASSWORD}` },
    text: `Failed to validate connection to cluster at https://10.67.0.1:6443: token CA hash does not match the Cluster CA certificate hash: ${'0'.repeat(64)} != %HASH`,
  },
  'g1-malformed-K10-short-hash': {
    role: 'agent',
    flags: { token: `K10abc::server:${SERVER_PASSWORD}` },
    text: 'Failed to validate connection to cluster at https://10.67.0.1:6443: invalid token CA hash length',
  },
  'g2-malformed-K10-no-password': {
    role: 'agent',
    flags: { token: '%K10::server:' },
    text: 'Failed to validate connection to cluster at https://10.67.0.1:6443: invalid token format',
  },
  'g3-no-token': { role: 'agent', flags: { token: '' }, text: 'Error: --token is required', exit: 1 },
  'g4-no-server': {
    role: 'agent',
    flags: { server: '', token: SERVER_PASSWORD },
    text: 'Error: --server is required',
    exit: 1,
  },
  'g5-http-url': {
    role: 'agent',
    flags: { server: 'http://10.67.0.1:6443', token: SERVER_PASSWORD },
    text: 'Failed to validate connection to cluster at http://10.67.0.1:6443: only https:// URLs are supported, invalid scheme: http://127.0.0.1:6444',
  },
  'a-server-token-full': {
    role: 'agent',
    flags: { token: `%K10::server:${SERVER_PASSWORD}` },
    text: 'Waiting to retrieve agent configuration; server is not ready: failed to retrieve configuration from server: not authorized',
  },
  'h2-unknown-bootstrap-token': {
    role: 'agent',
    flags: { token: '%K10::aaaaaa.0123456789abcdef' },
    text: 'Waiting to retrieve agent configuration; server is not ready: failed to retrieve configuration from server: not authorized',
  },
  's3-server-join-wrong-password': {
    role: 'server',
    flags: { ...JOIN, token: 'deadbeefdeadbeefdeadbeefdeadbeef' },
    text: 'Error: preparing server: failed to bootstrap cluster data: not authorized',
    exit: 1,
    afterS: 2.38,
  },
  's4-server-join-wrong-ca-hash': {
    role: 'server',
    flags: { ...JOIN, token: `K10${'0'.repeat(64)}::server:${SERVER_PASSWORD}` },
    text: `Error: preparing server: failed to bootstrap cluster data: failed to check if bootstrap data has been initialized: failed to validate token: token CA hash does not match the Cluster CA certificate hash: ${'0'.repeat(64)} != %HASH`,
    exit: 1,
    afterS: 0.52,
  },
  's5-server-join-unreachable': {
    role: 'server',
    flags: { ...JOIN, server: 'https://10.67.0.99:6443' },
    text: 'Error: preparing server: failed to bootstrap cluster data: failed to check if bootstrap data has been initialized: failed to validate token: failed to get CA certs: Get "https://10.67.0.99:6443/cacerts": dial tcp 10.67.0.99:6443: connect: no route to host',
    exit: 1,
    afterS: 6.89,
  },
}

test('03: every token that is refused, in the words and with the exit codes that were recorded', { skip }, async () => {
  const attempts = readLines<{ label: string; exit_code: number | null; exited_after_s: number | null }>(
    '03-agent-join/attempts.jsonl',
  )
  for (const [label, { role, flags, text, exit, afterS }] of Object.entries(SHORT)) {
    const lab = createLab()
    lab.start('s1', 'server', FIRST)
    await lab.until(() => lab.isReady('s1'))
    const hash = authorityHash(lab.cluster().bootstrap.files.get('server-ca.crt') ?? '', lab.clock.now())
    const filled = Object.fromEntries(
      Object.entries({ server: 'https://10.67.0.1:6443', ...flags }).map(([key, value]) => [
        key,
        typeof value === 'string' ? value.replace('%K10', `K10${hash}`) : value,
      ]),
    )
    const startMs = lab.clock.now()
    lab.start('a1', role, filled)
    const service = serviceOf(lab.box('a1').computer)
    const wanted = String(text).replace('%HASH', hash)
    await lab.until(() => service.journal.some(({ message }) => message === wanted), 30_000)
    const recordedText = readLogMessages(`03-agent-join/log-${label}.txt`).map((line) =>
      line.replaceAll('951f4668b69f868260f5f08a5685801d9006a1a671679d383382beb01cb0c1db', hash),
    )
    compared('03-agent-join', recordedText.includes(wanted), true, `${label}: the text was recorded`)
    const attempt = attempts.find((one) => one.label === label)
    compared('03-agent-join', service.lastExit ?? null, attempt?.exit_code ?? null, `${label}: exit code`)
    if (exit !== undefined && afterS !== undefined)
      near('03-agent-join', since(lab, startMs), afterS, 0.2, `${label}: seconds`)
  }
})

test('03: agents that are let in, and one with another password that is not', { skip }, async () => {
  for (const token of [AGENT_PASSWORD, '%K10::node:a6e47000a6e47000a6e47000a6e47000']) {
    const lab = createLab()
    lab.start('s1', 'server', FIRST)
    await lab.until(() => lab.isReady('s1'))
    const hash = authorityHash(lab.cluster().bootstrap.files.get('server-ca.crt') ?? '', lab.clock.now())
    const startMs = lab.clock.now()
    const flags = { server: 'https://10.67.0.1:6443', token: token.replace('%K10', `K10${hash}`) }
    lab.start('a1', 'agent', flags)
    await lab.until(() => lab.isReady('a1'))
    within('03-agent-join', since(lab, startMs), [4.4, 9.5], 'agent Ready')
    await lab.pass(30_000)
    const recorded = shapeOf({
      apiVersion: 'v1',
      kind: 'Node',
      ...readJson<object>('03-agent-join/node-b-agent-token-full.json'),
    } as KubeObject)
    const own = shapeOf(lab.node('a1') as KubeObject)
    for (const key of ['labels', 'finalizers', 'spec', 'taints', 'conditions', 'addresses'])
      compared('03-agent-join', own[key], recorded[key], `agent: ${key}`)
    const box = lab.box('a1')
    switchOff(lab.world, box)
    box.machine.files.remove('/etc/rancher/node')
    switchOn(lab.world, box)
    await lab.until(() => lab.journal('a1').some((line) => line.includes('Node password rejected')), 300_000)
    const said = lab.journal('a1').find((line) => line.includes('Node password rejected')) ?? ''
    const texts = readLogMessages('03-agent-join/log-n2-wiped-same-name-node-kept.txt').map((line) =>
      line.replace('$DATA', '/var/lib/rancher/k3s'),
    )
    compared('03-agent-join', texts.includes(said.replace('info: ', '')), true, 'password rejected')
    compared('03-agent-join', (await lab.call('DELETE', '/api/v1/nodes/a1')).status, 200, 'delete Node')
    await lab.pass(400)
    compared(
      '03-agent-join',
      (await lab.call('GET', '/api/v1/namespaces/kube-system/secrets/a1.node-password.k3s')).status,
      404,
      'secret gone in 0.4 s',
    )
    await lab.until(() => lab.isReady('a1'))
  }
})

test('05 and 05b: a name that is taken, removal by annotation and by deletion', { skip }, async () => {
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

test('06: a live server that is removed stays up with a hanging API, and rejoins at a restart', { skip }, async () => {
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

test('07: without a majority probes answer 500, calls hang, and the leader of the controllers ends itself', {
  skip,
}, async () => {
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

test('08: snapshots, and how a reset ends', { skip }, async () => {
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

test('09: joins with different flags are refused, each by its recorded name', { skip }, async () => {
  const attempts = readLines<{ label: string; extra: string[]; exit_code: number; lines: string[] }>(
    '09-config-mismatch/attempts.jsonl',
  )
  assert.ok(attempts.length >= 10)
  for (const { label, extra, exit_code: code, lines } of attempts) {
    const lab = createLab()
    lab.start('s1', 'server', FIRST)
    await lab.until(() => lab.isReady('s1'))
    const flags: Record<string, unknown> = {
      server: JOIN.server,
      token: JOIN.token,
      'agent-token': JOIN['agent-token'],
      disable: ['traefik'],
    }
    for (let at = 0; at < extra.length; at++) {
      const next = extra[at + 1]
      const valued = next !== undefined && !next.startsWith('--')
      flags[(extra[at] ?? '').slice(2)] = valued ? next : true
      if (valued) at += 1
    }
    lab.start('s2', 'server', flags)
    const service = serviceOf(lab.box('s2').computer)
    await lab.until(() => service.lastExit !== undefined, 10_000)
    compared('09-config-mismatch', service.lastExit, code, `${label}: exit code`)
    const own = service.journal
      .filter(({ level }) => level === 'warning' || level === 'fatal')
      .map(({ level, message }) => `level=${level} msg="${message}"`)
    compared('09-config-mismatch', own, lines, `${label}: what it says`)
  }
})

test('12: a stop is quick, its Node is missed after the lease, and a restart brings it back', { skip }, async () => {
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

/** Messages of a recorded log, without their times and levels. */
function readLogMessages(path: string): readonly string[] {
  return readText(path)
    .split('\n')
    .flatMap((line) => {
      const match = /msg="(.*)"$/.exec(line)
      return match === null ? [] : [(match[1] ?? '').replaceAll('\\"', '"')]
    })
}

function readText(path: string): string {
  return readLines<string>(path, (line) => line).join('\n')
}

test('04: files that were there before the first start make the cluster that was meant', { skip }, async () => {
  const runs = readLines<Record<string, unknown>>('04-custom-ca/runs.jsonl')
  assert.ok(runs.length >= 4)
  const own = createLab(20)
  const made = completeAuthorities(own.world, new Map())
  const begin = async (keep: (path: string) => boolean) => {
    const lab = createLab(21)
    const { machine } = lab.box('s1')
    for (const [path, text] of made) if (keep(path)) machine.files.write(`${SERVER_TLS}/${path}`, text)
    lab.start('s1', 'server', { ...FIRST, token: SERVER_PASSWORD })
    await lab.until(() => serviceOf(lab.box('s1').computer).state === 'running')
    return lab
  }
  const hash = authorityHash(made.get('server-ca.crt') ?? '', own.clock.now())
  const both = await begin((path) => /^(server|client)-ca\./.test(path))
  compared(
    '04-custom-ca',
    both.box('s1').machine.files.text(`${SERVER_TLS}/server-ca.crt`),
    made.get('server-ca.crt'),
    'files untouched',
  )
  compared(
    '04-custom-ca',
    both.box('s1').machine.files.text('/var/lib/rancher/k3s/server/token'),
    `K10${hash}::server:${SERVER_PASSWORD}\n`,
    'K10 of the file',
  )
  const admin = adminOf(made, both.clock.now())
  const wire = kubernetesWire(both.world, {
    endpoint: 'https://10.67.0.1:6443',
    caPem: made.get('server-ca.crt') ?? '',
    ...admin,
  })
  const answer = await both.clock.runUntil(wire.send({ method: 'GET', path: '/readyz', headers: {} }))
  compared('04-custom-ca', answer.status, 200, 'an admin certificate that we signed')
  const alone = await begin((path) => path.startsWith('server-ca.'))
  compared(
    '04-custom-ca',
    alone.box('s1').machine.files.text(`${SERVER_TLS}/server-ca.crt`),
    made.get('server-ca.crt'),
    'server-ca alone',
  )
  const half = await begin((path) => path === 'server-ca.crt')
  compared(
    '04-custom-ca',
    half.box('s1').machine.files.text(`${SERVER_TLS}/server-ca.crt`) !== made.get('server-ca.crt'),
    true,
    'a certificate without its key is overwritten',
  )
})

test('07b: a survivor that waits alone, and one that comes back, write again', { skip }, async () => {
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
