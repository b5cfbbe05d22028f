import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createDatacentre } from '../../../../sim/datacentre.ts'
import { serveDatacentre } from '../../../../sim/serve.ts'
import { createVirtualClock } from '../../../../sim/virtual-clock.ts'
import { simWire } from '../../../../sim/wire.ts'
import { seededRandom } from '../../../lib/random.ts'
import { lookAtCertificate } from '../../../lib/tls-certificate.ts'
import { type Wire, WireFailure, type WireRequest, type WireResponse } from '../../../lib/wire.ts'
import type { Connection } from '../../../model/estate.ts'
import type { Survey } from '../../../model/resource.ts'
import { Secret } from '../../../model/secret.ts'
import type { DriverDeps, PeerCertificate } from '../../port.ts'
import { exampleResource } from '../testing/vm-example.ts'
import { examine } from './examine.ts'
import { judgeUnfinished } from './orphans.ts'

const NOW_MS = 1_760_000_000_000
const A = Array(32).fill('AA').join(':')

function connectionOf(more: Partial<Connection> = {}): Connection {
  return {
    name: 'default',
    driver: 'proxmox',
    endpoint: 'https://pve.test:8006',
    token: { env: 'T' },
    estate: 'default',
    ids: { from: 300, to: 399 },
    limits: { perHost: 3, perStorage: 1, reads: 4 },
    origin: { file: 'proxmox.yaml', line: 1, column: 1 },
    ...more,
  }
}

interface Scene {
  readonly token?: string
  readonly shown?: PeerCertificate | WireFailure
  readonly connection?: Partial<Connection>
  readonly answer?: (request: WireRequest) => WireResponse | undefined
}

/** One examination of a simulated datacentre; every request is recorded. */
async function look(scene: Scene = {}, prepare: (datacentre: ReturnType<typeof createDatacentre>) => void = () => {}) {
  const clock = createVirtualClock(NOW_MS)
  const datacentre = createDatacentre({ clock, random: seededRandom(1), preset: 'homelab' })
  prepare(datacentre)
  const inner = simWire(datacentre)
  const requests: WireRequest[] = []
  const wire: Wire = {
    send(request, signal) {
      requests.push(request)
      const answer = scene.answer?.(request)
      return answer === undefined ? inner.send(request, signal) : Promise.resolve(answer)
    },
    close: () => inner.close(),
  }
  const { shown } = scene
  const deps: DriverDeps = {
    clock,
    random: seededRandom(2),
    openWire: () => wire,
    resolveSecret: async () => new Secret(scene.token ?? datacentre.token),
    ...(shown === undefined
      ? {}
      : { lookAtCertificate: () => (shown instanceof WireFailure ? Promise.reject(shown) : Promise.resolve(shown)) }),
  }
  const resource = exampleResource({
    host: 'fun-bedbug',
    disks: [{ slot: 'scsi0', storage: 'local', sizeGb: 8 }],
    nics: [{ slot: 'net0', bridge: 'vmbr0', model: 'virtio' }],
  })
  const { signal } = new AbortController()
  const checks = await clock.runUntil(examine(connectionOf(scene.connection), [resource], deps, signal))
  return { checks, requests, told: checks.map(({ level, code }) => `${level} ${code}`) }
}

const unauthorized = (date: number): WireResponse => ({
  status: 401,
  reason: 'Authentication failed!',
  headers: { date: new Date(date).toUTCString() },
  body: '',
})

describe('an examination', () => {
  test('of a healthy connection with a token of root', async () => {
    const { told, requests } = await look()
    assert.deepEqual(told, [
      'ok reached',
      'ok version',
      'ok clock',
      'warning token-never-expires',
      'ok privileges',
      'warning token-too-broad',
      'ok hosts',
      'ok storages',
      'ok networks',
    ])
    assert.ok(
      requests.every(({ method }) => method === 'GET'),
      'it writes nothing',
    )
  })

  test('[A30] says the clock skew of 552 s and not 401', async () => {
    const { checks, requests } = await look({ answer: () => unauthorized(NOW_MS + 552_000) })
    assert.match(checks.at(-1)?.found ?? '', /^clock skew 552 s/)
    assert.doesNotMatch(JSON.stringify(checks), /401/)
    assert.equal(requests.length, 1, '[R47] a refused token is not tried again')
  })

  test('a token with a wrong secret', async () => {
    const { told, checks } = await look({ token: 'root@pam!croft=not-the-right-secret' })
    assert.deepEqual(told, ['ok reached', 'wrong token-refused'])
    assert.doesNotMatch(JSON.stringify(checks), /not-the-right-secret/)
  })

  test('[S-17] a host that repeats the token does not make us show it', async () => {
    const answer = () => ({ status: 401, reason: 'bad \u001b[31m root@pam!x=my-secret-value', headers: {}, body: '' })
    const { checks } = await look({ token: 'root@pam!x=my-secret-value', answer })
    assert.doesNotMatch(JSON.stringify(checks), /my-secret-value|\\u001b/)
  })

  test('something that is not Proxmox', async () => {
    const answer = () => ({ status: 200, reason: 'OK', headers: {}, body: '<html>' })
    assert.deepEqual((await look({ answer })).told, ['wrong not-proxmox'])
  })

  test('a token that does not look like one is not sent', async () => {
    for (const token of ['secret', 'root@pam!croft=', 'root@pam!croft=a\nb']) {
      const { told, requests } = await look({ token })
      assert.deepEqual([told, requests.length], [['wrong token-missing'], 0])
    }
  })

  test('[S-04] a wrong or unknown certificate ends it before a byte is sent', async () => {
    const shown = { fingerprint: A, notAfterMs: NOW_MS * 2, distrust: 'SELF_SIGNED' }
    const wrong = await look({ shown, connection: { fingerprint: A.replaceAll('A', 'B') } })
    assert.deepEqual([wrong.told, wrong.requests.length], [['wrong wrong-certificate'], 0])
    const unknown = await look({ shown })
    assert.deepEqual([unknown.told, unknown.requests.length], [['wrong untrusted-certificate'], 0])
    const right = await look({ shown, connection: { fingerprint: A } })
    assert.deepEqual(right.told.slice(0, 3), ['ok reached', 'ok pinned', 'ok version'])
  })

  test('nobody there', async () => {
    const { told, requests } = await look({ shown: new WireFailure('no', 'ECONNREFUSED', 'refused') })
    assert.deepEqual([told, requests.length], [['wrong refused'], 0])
  })

  test('a clock of one host that is off, though the front door is right', async () => {
    const answer = ({ path }: WireRequest) =>
      path.endsWith('/nodes/fun-bedbug/time')
        ? { status: 200, reason: 'OK', headers: {}, body: JSON.stringify({ data: { time: NOW_MS / 1000 - 552 } }) }
        : undefined
    const { checks } = await look({ answer })
    const clock = checks.filter(({ about }) => about === 'clock')
    assert.deepEqual(
      clock.map(({ level, found }) => [level, found]),
      [['wrong', 'clock skew 552 s: the clock of fun-bedbug is behind the one here']],
    )
  })
})

test('the certificate that a server shows is seen without a request', async () => {
  const clock = createVirtualClock(Date.now())
  const datacentre = createDatacentre({ clock, random: seededRandom(1), preset: 'empty' })
  const served = await serveDatacentre(datacentre, { port: 0 })
  try {
    const shown = await lookAtCertificate(served.endpoint, { timeoutMs: 5000 })
    assert.equal(shown.fingerprint, served.fingerprint)
    assert.ok(shown.distrust !== undefined && shown.notAfterMs > Date.now())
    assert.equal(datacentre.stats().calls, 0)
  } finally {
    await served.close()
  }
  await assert.rejects(lookAtCertificate(served.endpoint, { timeoutMs: 5000 }), { code: 'ECONNREFUSED', sent: 'no' })
})

describe('disks that no guest has', () => {
  const disk = (vmid: number) => ({
    name: `${vmid}/vm-${vmid}-disk-0.raw`,
    content: 'images',
    format: 'raw',
    sizeBytes: 2 ** 30,
    vmid,
    ctimeSeconds: NOW_MS / 1000,
  })
  const lay = (datacentre: ReturnType<typeof createDatacentre>, vmid: number) => {
    const storages = datacentre.world.hosts.get('fun-bedbug')?.volumes
    const files = storages?.get('local') ?? new Map()
    storages?.set('local', files)
    files.set(disk(vmid).name, disk(vmid))
  }

  test('[A20] are shown with the command that frees them', async () => {
    const { checks } = await look({}, (datacentre) => lay(datacentre, 777))
    const found = checks.find(({ code }) => code === 'orphan-volumes')
    assert.equal(found?.found, '1 disk belongs to no guest')
    assert.deepEqual(found?.details, ['local:777/vm-777-disk-0.raw on fun-bedbug, of id 777, 1.0 GiB'])
    assert.match(found?.fix?.[0] ?? '', /^pvesm free local:777\/vm-777-disk-0\.raw /)
  })

  test('those of a guest that cannot be seen are not among them', async () => {
    const { checks } = await look(
      {
        answer: ({ path }) =>
          path.includes('/cluster/nextid')
            ? { status: 400, reason: 'Parameter verification failed.', headers: {}, body: '{}' }
            : undefined,
      },
      (datacentre) => lay(datacentre, 777),
    )
    assert.ok(!checks.some(({ code }) => code === 'orphan-volumes'))
  })
})

describe('guests that were begun and never made', () => {
  type Parts = Partial<Pick<Survey, 'tasks' | 'hosts'>>
  const survey = (lock: string, parts: Parts = {}): Survey => ({
    connection: 'default',
    atMs: NOW_MS,
    hosts: [{ name: 'pve1', online: true }],
    storages: [],
    resources: [{ connection: 'default', type: 'vm', externalId: '300', host: 'pve1', power: 'stopped', lock }],
    tasks: [],
    ...parts,
  })
  const task = (verb: string, subject: string): Parts => ({
    tasks: [{ id: 'UPID', host: 'pve1', verb, subject, user: 'croft', startedMs: 0, state: 'running' }],
  })
  const rows: readonly (readonly [what: string, seen: Survey, found: boolean])[] = [
    ['a creation that nobody works on', survey('create'), true],
    ['a clone that nobody works on', survey('clone'), true],
    ['a creation under way', survey('create', task('qmcreate', '300')), false],
    ['a clone under way, whose task is named after its source', survey('clone', task('qmclone', '9000')), false],
    ['a host that does not answer', survey('create', { hosts: [{ name: 'pve1', online: false }] }), false],
    ['another lock', survey('backup'), false],
  ]
  for (const [what, seen, found] of rows) {
    test(what, () => {
      const [check] = judgeUnfinished(seen)
      assert.equal(check?.code, found ? 'unfinished-guests' : undefined)
      if (!found) return
      assert.deepEqual(check?.details, [`300 on pve1, locked (${seen.resources[0]?.lock})`])
      assert.match(check?.fix?.[0] ?? '', /^qm unlock 300 && qm destroy 300 /)
    })
  }
})
