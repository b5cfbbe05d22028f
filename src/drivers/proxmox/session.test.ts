import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { inspect } from 'node:util'
import { readIso } from '../../../sim/world/read-iso.ts'
import { systemClock } from '../../lib/clock.ts'
import { seededRandom } from '../../lib/random.ts'
import { WireFailure, type WireRequest, type WireResponse } from '../../lib/wire.ts'
import { Sealed, Secret } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { SeedDocument } from '../../model/vm.ts'
import { ObservationFailed, type Session } from '../port.ts'
import { openSession } from './session.ts'
import { EXAMPLE_CONNECTION, exampleObserved } from './testing/vm-example.ts'

const TOKEN = 'root@pam!croft=SECRET-CANARY'
const SIGNAL = new AbortController().signal
const STEP: Step = {
  verb: 'configure',
  summary: 'set cores of VM 114 on pve1',
  lane: 'rest',
  host: 'pve1',
  queues: [],
  call: { method: 'PUT', path: '/nodes/pve1/qemu/114/config', params: { cores: '4', net0: 'virtio,bridge=vmbr0' } },
  disruption: 'none',
}

type WireAnswer = Partial<WireResponse>
type Answer = WireAnswer | Error

/** A session whose wire has prepared answers by path, and records its requests. */
function scripted(
  answer: (request: WireRequest, count: number) => Answer | Promise<Answer>,
  secrets: () => string = () => TOKEN,
) {
  const requests: WireRequest[] = []
  let resolved = 0
  const session: Session = openSession(EXAMPLE_CONNECTION, {
    clock: { ...systemClock, now: () => Date.UTC(2026, 0, 1) },
    random: seededRandom(1),
    openWire: () => ({
      async send(request) {
        requests.push(request)
        const given = await answer(request, requests.length)
        if (given instanceof Error) throw given
        return { status: 200, reason: 'OK', headers: {}, body: '{"data":null}', ...given }
      },
      close: () => Promise.resolve(),
    }),
    resolveSecret: (reference) => {
      resolved++
      return Promise.resolve(new Secret('env' in reference && reference.env === 'PW' ? 'PW-CANARY+=x' : secrets()))
    },
  })
  return { session, requests, resolved: () => resolved }
}

const data = (value: unknown): Answer => ({ body: JSON.stringify({ data: value }) })
const refused = (status: number, reason: string, body: object = { data: null }): Answer => ({
  status,
  reason,
  body: JSON.stringify(body),
})
const path = (request: WireRequest) => request.path.replace('/api2/json', '')

async function refusalOf(facts: Promise<unknown>) {
  const error = await facts.then(
    () => assert.fail('answered'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof ObservationFailed, String(error))
  return error.refusal
}

describe('writes', () => {
  it('go out once, form-encoded, with the token', async () => {
    const { session, requests } = scripted(() => ({}))
    assert.deepEqual(await session.perform(STEP, SIGNAL), { result: 'done' })
    assert.deepEqual(requests, [
      {
        method: 'PUT',
        path: '/api2/json/nodes/pve1/qemu/114/config',
        headers: {
          authorization: `PVEAPIToken=${TOKEN}`,
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'cores=4&net0=virtio%2Cbridge%3Dvmbr0',
      },
    ])
  })

  it('a removal carries its parameters in the query and has no body', async () => {
    const { session, requests } = scripted(() =>
      data('UPID:pve1:00000102:0004F35D:6AF9041E:qmdestroy:114:root@pam!croft:'),
    )
    const outcome = await session.perform(
      { ...STEP, call: { method: 'DELETE', path: '/nodes/pve1/qemu/114', params: { purge: '1' } } },
      SIGNAL,
    )
    assert.equal(outcome.result, 'started')
    assert.equal(requests[0]?.path, '/api2/json/nodes/pve1/qemu/114?purge=1')
    assert.equal(requests[0]?.body, undefined)
    assert.equal(requests[0]?.headers['content-type'], undefined)
  })

  for (const [why, answer, result, reason] of [
    ['nobody listens', new WireFailure('no', 'ECONNREFUSED', 'refused'), 'not-sent', undefined],
    ['connection reset', new WireFailure('maybe', 'ECONNRESET', 'reset'), 'unclear', undefined],
    ['some other error', new Error('what'), 'unclear', undefined],
    ['595', refused(595, 'Connection refused'), 'not-sent', undefined],
    ['596', { status: 596, reason: 'Connection timed out', body: '' }, 'unclear', undefined],
    ['599', { status: 599, reason: 'Too many redirections', body: '' }, 'unclear', undefined],
    ['500 from a proxy', { status: 500, reason: 'Internal Server Error', body: '<html>' }, 'unclear', undefined],
    ['500 without a word', { status: 500, reason: 'Internal Server Error', body: '' }, 'unclear', undefined],
    ['500 after a timeout', { status: 500, reason: 'read timeout', body: '' }, 'unclear', undefined],
    ['504', { status: 504, reason: 'Gateway Timeout', body: '<html>' }, 'unclear', undefined],
    ['HTML', { body: '<html>ok</html>' }, 'unclear', undefined],
    ['truncated', { body: '{"data":"UPID:pve1' }, 'unclear', undefined],
    ['empty', { body: '' }, 'unclear', undefined],
    ['no data', { body: '{"other":1}' }, 'unclear', undefined],
    ['old version: only the reason line', refused(500, 'VM is locked (backup)'), 'refused', 'Locked'],
    [
      'HTTP/2 proxy: only the message',
      refused(500, '', { data: null, message: 'VM is locked (backup)\n' }),
      'refused',
      'Locked',
    ],
    [
      'lock timeout is no proxy timeout',
      refused(500, "can't lock file '/var/lock/qemu-server/lock-114.conf' - got timeout"),
      'refused',
      'LockTimeout',
    ],
    ['old version, empty body', { status: 500, reason: 'VM is locked (backup)', body: '' }, 'refused', 'Locked'],
    [
      'parameters',
      refused(400, 'Parameter verification failed.', { data: null, errors: { cores: 'too few\n' } }),
      'refused',
      'InvalidParameter',
    ],
  ] as const) {
    it(`${why}: ${result}${reason === undefined ? '' : ` ${reason}`}`, async () => {
      const outcome = await scripted(() => answer).session.perform(STEP, SIGNAL)
      assert.equal(outcome.result, result)
      if (outcome.result === 'refused') assert.equal(outcome.refusal.reason, reason)
    })
  }

  it('[S-17] a secret is revealed in the one request that needs it, and nowhere else', async () => {
    const step: Step = {
      ...STEP,
      call: { ...STEP.call, params: { cipassword: '{"env":"PW"}' } },
      secretParams: ['cipassword'],
    }
    const echo = `got PW-CANARY+=x and SECRET-CANARY and ${TOKEN}`
    const { session, requests } = scripted(() =>
      refused(400, `Parameter ${echo}`, { data: null, message: echo, errors: { cipassword: echo } }),
    )
    const outcome = await session.perform(step, SIGNAL)
    assert.equal(requests[0]?.body, 'cipassword=PW-CANARY%2B%3Dx')
    assert.equal(outcome.result, 'refused')
    assert.doesNotMatch(JSON.stringify(outcome), /CANARY/)
  })

  it('a secret that cannot be read stops the step before anything is sent', async () => {
    const { session, requests } = scripted(() => ({}))
    const step: Step = {
      ...STEP,
      call: { ...STEP.call, params: { cipassword: 'no reference' } },
      secretParams: ['cipassword'],
    }
    const outcome = await session.perform(step, SIGNAL)
    assert.equal(outcome.result === 'refused' && outcome.refusal.reason, 'SecretMissing')
    assert.equal(requests.length, 0)
  })

  it('[S-16] foreign text is cleaned before it can reach a terminal', async () => {
    const outcome = await scripted(() => refused(500, 'oops \u001b[31mred\u001b[0m \u0007')).session.perform(
      STEP,
      SIGNAL,
    )
    assert.equal(
      outcome.result === 'refused' && outcome.refusal.message,
      'could not set cores of VM 114 on pve1: oops red',
    )
  })
})

describe('looks', () => {
  it('a running guest is read through what is pending, a stopped one through its configuration', async () => {
    const { session, requests } = scripted((request) =>
      path(request).endsWith('/pending')
        ? data([
            { key: 'cores', value: 1, pending: 2 },
            { key: 'vcpus', value: 3, delete: 1 },
            { key: 'memory', value: '512' },
            { key: 'digest', value: 'd2' },
            { key: 7 },
            null,
          ])
        : data({ cores: 1, digest: 'd3' }),
    )
    const running = await session.observe(exampleObserved(), {}, SIGNAL)
    assert.deepEqual({ ...running?.close?.config }, { cores: 2, memory: '512', digest: 'd2' })
    assert.deepEqual(running?.close?.pending, ['cores', 'vcpus'])
    assert.equal(running?.close?.digest, 'd2')
    const stopped = await session.observe(exampleObserved({}, { power: 'stopped' }), {}, SIGNAL)
    assert.equal(stopped?.close?.digest, 'd3')
    assert.equal(stopped?.close?.pending, undefined)
    assert.deepEqual(requests.map(path), ['/nodes/pve1/qemu/114/pending', '/nodes/pve1/qemu/114/config'])
  })

  it('power and agent are asked only when wanted; inner addresses are left out', async () => {
    const { session, requests } = scripted((request) => {
      if (path(request).endsWith('/current')) return data({ status: 'running', qmpstatus: 'running', uptime: 9 })
      if (!path(request).endsWith('interfaces')) return data([])
      const address = (value: string) => ({ 'ip-address': value, 'ip-address-type': 'ipv4' })
      return data({
        result: [
          { name: 'lo', 'ip-addresses': [address('127.0.0.1')] },
          {
            name: 'ens18',
            'ip-addresses': [address('192.168.4.20'), address('fe80::1'), address('fd00::5'), { 'ip-address': 7 }],
          },
          { name: 'cni0', 'ip-addresses': [address('10.42.0.1')] },
          { name: 'flannel.1', 'ip-addresses': [address('10.42.0.0')] },
          { name: 'veth12', 'ip-addresses': 'nonsense' },
        ],
      })
    })
    const seen = await session.observe(exampleObserved(), { power: true, agent: true }, SIGNAL)
    assert.deepEqual([seen?.close?.power, seen?.close?.agent, seen?.uptimeSeconds], ['running', 'up', 9])
    assert.deepEqual(seen?.close?.addresses, ['192.168.4.20', 'fd00::5'])
    assert.equal(requests.length, 4)
  })

  for (const [why, answer, expected] of [
    ['agent down', refused(500, 'QEMU guest agent is not running'), 'down'],
    ['agent deaf', refused(500, "VM 114 qga command 'guest-network-get-interfaces' failed - got timeout"), 'down'],
    ['broken pipe', { status: 596, reason: 'Broken pipe', body: '' }, 'down'],
    ['not allowed to ask', refused(403, 'Permission check failed (/vms/114, VM.GuestAgent.Audit)'), undefined],
    ['nonsense', data('x'), 'down'],
  ] as const) {
    it(`${why}: ${expected ?? 'unknown'}`, async () => {
      const { session } = scripted((request) => (path(request).endsWith('interfaces') ? answer : data([])))
      assert.equal((await session.observe(exampleObserved(), { agent: true }, SIGNAL))?.close?.agent, expected)
    })
  }

  it('a guest that is paused is not taken for one that runs', async () => {
    const { session } = scripted((request) =>
      path(request).endsWith('/current') ? data({ status: 'running', qmpstatus: 'paused' }) : data([]),
    )
    assert.equal((await session.observe(exampleObserved(), { power: true }, SIGNAL))?.close?.power, 'paused')
  })

  it('a guest that is not there is undefined; one that we may not see is not', async () => {
    const gone = scripted(() => refused(500, "Configuration file 'nodes/pve1/qemu-server/114.conf' does not exist"))
    assert.equal(await gone.session.observe(exampleObserved(), {}, SIGNAL), undefined)
    const hidden = scripted(() => refused(403, 'Permission check failed (/vms/114, VM.Audit)'))
    assert.equal((await refusalOf(hidden.session.observe(exampleObserved(), {}, SIGNAL))).reason, 'PermissionDenied')
  })

  for (const [why, answer, reason, wide] of [
    ['nobody listens', new WireFailure('no', 'ECONNREFUSED', 'refused'), 'Unreachable', true],
    [
      '[S-04] another certificate',
      new WireFailure('no', 'ERR_CERT_FINGERPRINT', 'AA instead of BB'),
      'WrongCertificate',
      true,
    ],
    ['596 at the front door', { status: 596, body: '' }, 'HostUnreachable', true],
    ['HTML', { body: '<html>' }, 'UnreadableAnswer', undefined],
    ['401', { status: 401, reason: 'Authentication failed!', body: '' }, 'Unauthorized', true],
  ] as const) {
    it(`survey, ${why}: ${reason}`, async () => {
      const refusal = await refusalOf(scripted(() => answer).session.survey(SIGNAL))
      assert.deepEqual([refusal.reason, refusal.connectionWide], [reason, wide])
    })
  }

  it('[A30] a refused login with clocks apart says so', async () => {
    const late = new Date(Date.UTC(2026, 0, 1) + 552_000).toUTCString()
    const { session } = scripted(() => ({
      status: 401,
      reason: 'Authentication failed!',
      headers: { date: late },
      body: '',
    }))
    assert.match((await refusalOf(session.survey(SIGNAL))).message, /clock skew 552 s/)
  })

  it('[F-10] the token is read once, and again only after it was refused', async () => {
    let token = TOKEN
    const { session, requests, resolved } = scripted(
      (request) => (request.headers.authorization?.includes('NEW') ? data([]) : { status: 401, body: '' }),
      () => token,
    )
    await refusalOf(session.survey(SIGNAL))
    token = 'root@pam!croft=NEW-SECRET'
    await session.survey(SIGNAL)
    await session.survey(SIGNAL)
    assert.equal(resolved(), 2)
    assert.equal(requests.length, 6)
  })

  for (const bad of ['', 'abc', 'root@pam!x=a\r\nHost: evil', 'root@pam=x']) {
    it(`[S-17] a token like ${JSON.stringify(bad)} is refused before anything is sent`, async () => {
      const { session, requests } = scripted(
        () => data([]),
        () => bad,
      )
      const refusal = await refusalOf(session.survey(SIGNAL))
      assert.deepEqual([refusal.reason, refusal.connectionWide], ['TokenMissing', true])
      assert.equal(requests.length, 0)
      const outcome = await session.perform(STEP, SIGNAL)
      assert.equal(outcome.result, 'refused')
    })
  }

  it('never has more reads under way than the connection allows', async () => {
    let now = 0
    let most = 0
    const { session } = scripted(async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now--
      return data([])
    })
    await Promise.all(Array.from({ length: 20 }, () => session.observe(exampleObserved(), {}, SIGNAL)))
    assert.equal(most, EXAMPLE_CONNECTION.limits.reads)
  })

  it('[F-16] one read tells how a task ended, and what its failure means', async () => {
    const upid = 'UPID:pve2:00000102:0004F35D:6AF9041E:qmstart:114:root@pam!croft:'
    const { session, requests } = scripted(() =>
      data({ upid, status: 'stopped', exitstatus: "bridge 'vmbr9' does not exist" }),
    )
    const task = await session.taskOutcome(upid, SIGNAL)
    assert.deepEqual(
      [task?.state, task?.refusal?.reason, task?.refusal?.meaning],
      ['failed', 'BridgeMissing', 'stalled'],
    )
    assert.equal(requests.length, 1)
    assert.match(requests[0]?.path ?? '', /^\/api2\/json\/nodes\/pve2\/tasks\/UPID/)
    const warned = scripted(() => data({ upid, status: 'stopped', exitstatus: 'WARNINGS: 1' }))
    assert.equal((await warned.session.taskOutcome(upid, SIGNAL))?.state, 'succeeded')
    assert.equal(await session.taskOutcome('no task at all', SIGNAL), undefined)
  })

  it('files of a storage are listed in one call, disks and backups left out', async () => {
    const { session, requests } = scripted(() =>
      data([
        { volid: 'local:import/a.qcow2', content: 'import', size: 5 },
        { volid: 'local:114/vm-114-disk-0.raw', content: 'images' },
        { volid: 7, content: 'iso', size: -1 },
        { content: 'iso' },
      ]),
    )
    const files = await session.list('files/pve1/local', SIGNAL)
    assert.deepEqual(
      files.map((file) => [file.externalId, file.close?.config.size]),
      [
        ['local:import/a.qcow2', 5],
        ['7', undefined],
      ],
    )
    assert.deepEqual(requests.map(path), ['/nodes/pve1/storage/local/content'])
  })
})

describe('an upload', () => {
  const document = {
    userData: { write_files: [{ path: '/t', content: { valueFrom: { env: 'PW' } } }] },
    metaData: { 'instance-id': 'croft-1' },
  } as unknown as SeedDocument
  const upload = { fileName: 'croft-1.iso', bytes: 59_392, hash: 'h', document: new Sealed(document) }
  const step: Step = {
    ...STEP,
    verb: 'upload',
    call: {
      method: 'POST',
      path: '/nodes/pve1/storage/local/upload',
      params: { content: 'iso', filename: 'croft-1.iso' },
    },
    upload,
  }

  it('is a form whose file comes last, with the secrets in it', async () => {
    const { session, requests } = scripted(() => ({
      body: '{"data":"UPID:pve1:00000218:0004FA3A:6AF9042F:imgcopy::a@pve:"}',
    }))
    const outcome = await session.perform(step, SIGNAL)
    assert.equal(outcome.result, 'started')
    const [request] = requests
    const type = request?.headers['content-type'] ?? ''
    const boundary = /^multipart\/form-data; boundary=([a-z0-9-]+)$/.exec(type)?.[1] ?? ''
    const parts = Buffer.from(request?.body as Uint8Array)
      .toString('latin1')
      .split(`--${boundary}`)
    assert.deepEqual(
      parts.slice(1, -1).map((part) => /name="(\w+)"/.exec(part)?.[1]),
      ['content', 'filename'],
    )
    assert.equal(parts.at(-1), '--\r\n')
    const file = parts[2]?.slice(parts[2].indexOf('\r\n\r\n') + 4, -2) ?? ''
    const files = readIso(Buffer.from(file, 'latin1'))?.files
    assert.match(new TextDecoder().decode(files?.get('user-data')), /PW-CANARY\+=x/)
  })

  it('prints its document nowhere', () => {
    for (const text of [JSON.stringify(step), inspect(step, { depth: 9 }), String(step.upload?.document)]) {
      assert.ok(!text.includes('write_files'), text)
      assert.match(text, /\*\*\*/)
    }
  })

  it('is refused without a call when a secret is missing, and what Proxmox says back is masked', async () => {
    const failing = scripted(
      () => ({}),
      () => {
        throw new Error('X is not set')
      },
    )
    const other: Step = {
      ...step,
      upload: {
        ...upload,
        document: new Sealed({
          ...document,
          userData: { password: { valueFrom: { env: 'X' } } },
        } as unknown as SeedDocument),
      },
    }
    const refused = await failing.session.perform(other, SIGNAL)
    assert.deepEqual(failing.requests, [])
    assert.ok(refused.result === 'refused' && refused.refusal.reason === 'SecretMissing')
    const echoing = scripted(() => ({ status: 500, reason: 'bad file PW-CANARY+=x' }))
    assert.doesNotMatch(JSON.stringify(await echoing.session.perform(step, SIGNAL)), /CANARY/)
  })
})

describe('a guest whose seed is on its way', () => {
  const line = 'croft: owner=Machine/web-1 seed=none seeding=0123456789ab@local id=114 uid=0123456789abcdef'
  const image = 'local:iso/croft-0123456789abcdef-0123456789ab.iso'
  const config = { description: line, tags: 'croft;croft-0123456789abcdef', agent: '1' }
  const answers = (ide2: string, content: WireAnswer): ((request: WireRequest) => WireAnswer) => {
    const pending = Object.entries({ ...config, ide2 }).map(([key, value]) => ({ key, value }))
    return ({ path }) => {
      if (path.endsWith('/pending')) return { body: JSON.stringify({ data: pending }) }
      if (path.endsWith('/status/current')) return { body: '{"data":{"status":"running","uptime":7}}' }
      if (path.endsWith('/agent/network-get-interfaces'))
        return { status: 500, reason: 'QEMU guest agent is not running' }
      return content
    }
  }
  const listed = {
    body: JSON.stringify({
      data: [
        { volid: image, size: 10 },
        { volid: 'local:iso/other.iso', size: 1 },
      ],
    }),
  }

  it('is asked for its images, and while one is inserted for power, uptime and agent too', async () => {
    const inserted = scripted(answers(`${image},media=cdrom`, listed))
    const seen = await inserted.session.observe(exampleObserved(), {}, SIGNAL)
    assert.deepEqual(seen?.close?.seedImages, [{ id: image, bytes: 10 }])
    assert.deepEqual([seen?.close?.power, seen?.uptimeSeconds, seen?.close?.agent], ['running', 7, 'down'])
    const empty = scripted(answers('none,media=cdrom', listed))
    const later = await empty.session.observe(exampleObserved(), {}, SIGNAL)
    assert.equal(later?.close?.power, undefined)
    assert.equal(empty.requests.length, 2)
  })

  it('is not taken for gone when its storage cannot be read, and has no images when the storage is gone', async () => {
    const unread = scripted(answers('none', { status: 404, reason: 'no such thing' }))
    await assert.rejects(unread.session.observe(exampleObserved(), {}, SIGNAL), ObservationFailed)
    const gone = scripted(answers('none', { status: 500, reason: "storage 'local' does not exist" }))
    assert.deepEqual((await gone.session.observe(exampleObserved(), {}, SIGNAL))?.close?.seedImages, [])
  })
})
