import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type KubeObject, tree } from '../kubernetes/object.ts'
import { kubernetesWire } from '../kubernetes/wire.ts'
import { switchOff, switchOn } from '../metal/box.ts'
import { AGENT_PASSWORD, adminOf, createLab, FIRST, JOIN, SERVER_PASSWORD } from '../testing/k3s-lab.ts'
import {
  compared,
  near,
  readJson,
  readLines,
  readLogMessages,
  shapeOf,
  since,
  summary,
  within,
} from '../testing/k3s-recordings.ts'
import { authorityHash, completeAuthorities, SERVER_TLS } from './authorities.ts'
import { serviceOf } from './service.ts'

after(() => {
  for (const line of summary()) console.log(line)
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

test('01: the first server, its Node and its HTTP answers over time', async () => {
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

test('02 and 05b: joins at once and alone, members over time', async () => {
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

test('03: every token that is refused, in the words and with the exit codes that were recorded', async () => {
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

test('03: agents that are let in, and one with another password that is not', async () => {
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

test('09: joins with different flags are refused, each by its recorded name', async () => {
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

test('04: files that were there before the first start make the cluster that was meant', async () => {
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
