import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { exampleResource } from '../testing/vm-example.ts'
import { readHeld } from './held.ts'
import { judgeCertificate, judgeUnreachable } from './judge-certificate.ts'
import { bridgesOf, judgeBridges, judgePlaces, readZones } from './judge-estate.ts'
import { judgeClocks, judgeToken, judgeUnauthorized, judgeVersion } from './judge-login.ts'

const NOW_MS = Date.UTC(2026, 0, 1)
const DAY_MS = 86_400_000
const ORIGIN = { file: 'proxmox.yaml', line: 3, column: 1 }
const A = Array(32).fill('AA').join(':')
const B = Array(32).fill('BB').join(':')
const WHO = { user: 'croft@pve', token: 'croft' }

describe('a way that is closed says which part of it', () => {
  const cases: readonly [string, string, RegExp][] = [
    ['ENOTFOUND', 'name-unknown', /name pve\.test cannot be resolved/],
    ['EAI_AGAIN', 'name-unknown', /cannot be resolved/],
    ['ECONNREFUSED', 'refused', /nothing listens on port 8006/],
    ['ETIMEDOUT', 'timeout', /does not answer on port 8006/],
    ['EHOSTUNREACH', 'timeout', /does not answer/],
    ['EPROTO', 'not-tls', /does not speak TLS/],
    ['ECONNRESET', 'unreachable', /cannot be reached: why/],
  ]
  for (const [code, expected, found] of cases) {
    test(code, () => {
      const check = judgeUnreachable('https://pve.test:8006', code, 'why')
      assert.deepEqual([check.code, check.level], [expected, 'wrong'])
      assert.match(check.found, found)
    })
  }
  test('a wrong port is told the right one', () => {
    assert.match(
      judgeUnreachable('https://pve.test', 'ECONNREFUSED', '').fix?.[0] ?? '',
      /endpoint: https:\/\/pve\.test:8006/,
    )
  })
})

describe('[S-04] the certificate', () => {
  const shown = (more = {}) => ({ fingerprint: A, notAfterMs: NOW_MS + 400 * DAY_MS, ...more })
  const judge = (certificate: ReturnType<typeof shown>, pinned?: string) =>
    judgeCertificate(certificate, pinned, ORIGIN, NOW_MS).map(
      ({ level, code, authentication }) => `${level} ${code}${authentication ? ' ends here' : ''}`,
    )
  const cases: readonly [string, string[], string[]][] = [
    ['the pinned one', judge(shown(), A), ['ok pinned']],
    ['the pinned one, written in small letters', judge(shown(), A.toLowerCase()), ['ok pinned']],
    ['another one', judge(shown(), B), ['wrong wrong-certificate ends here']],
    [
      'not pinned and not trusted',
      judge(shown({ distrust: 'SELF_SIGNED' })),
      ['wrong untrusted-certificate ends here'],
    ],
    ['not pinned and trusted', judge(shown()), ['warning not-pinned']],
    ['expired', judge(shown({ notAfterMs: NOW_MS - 1 }), A), ['ok pinned', 'wrong certificate-expired']],
    [
      'about to expire',
      judge(shown({ notAfterMs: NOW_MS + 5 * DAY_MS }), A),
      ['ok pinned', 'warning certificate-expires'],
    ],
  ]
  for (const [what, found, expected] of cases) test(what, () => assert.deepEqual(found, expected))
  test('a wrong one shows both', () => {
    const [check] = judgeCertificate(shown(), B, ORIGIN, NOW_MS)
    assert.deepEqual(check?.details, [`shown:  ${A}`, `pinned: ${B}`])
    assert.match(check?.fix?.[1] ?? '', new RegExp(`proxmox\\.yaml:3:1.*fingerprint: "${A}"`))
  })
  test('one that is not pinned shows the line to write', () => {
    const [check] = judgeCertificate(shown({ distrust: 'SELF_SIGNED' }), undefined, ORIGIN, NOW_MS)
    assert.match(check?.fix?.[1] ?? '', new RegExp(`fingerprint: "${A}"`))
  })
})

describe('[A30] [R47] clocks', () => {
  test('agreeing', () =>
    assert.deepEqual(
      judgeClocks([
        { whose: 'a', seconds: 3 },
        { whose: 'b', seconds: -2 },
      ]).map(({ level }) => level),
      ['ok'],
    ))
  test('unknown', () => assert.deepEqual(judgeClocks([]), []))
  for (const [seconds, level] of [
    [29, 'ok'],
    [30, 'warning'],
    [-299, 'warning'],
    [300, 'wrong'],
    [-552, 'wrong'],
  ] as const)
    test(`${seconds} s is ${level}`, () => assert.equal(judgeClocks([{ whose: 'a', seconds }])[0]?.level, level))
  test('says how far, and whose', () =>
    assert.equal(
      judgeClocks([{ whose: 'pve1', seconds: -552 }])[0]?.found,
      'clock skew 552 s: the clock of pve1 is behind the one here',
    ))
})

describe('[A30] [R47] a refused token is diagnosed', () => {
  test('clock skew 552 s, and not 401', () => {
    const check = judgeUnauthorized('Authentication failed!', WHO, { whose: 'pve1', seconds: 552 })
    assert.match(check.found, /^clock skew 552 s/)
    assert.doesNotMatch(JSON.stringify(check), /401|Authentication/)
    assert.deepEqual([check.level, check.authentication], ['wrong', true])
  })
  const cases: readonly [string, string][] = [
    ['Authentication failed!', 'token-refused'],
    ['', 'token-refused'],
    ['token expired', 'token-expired'],
    ["no such token 'croft' for user 'croft@pve'", 'token-unknown'],
    ["user 'croft@pve' is disabled", 'token-unknown'],
    ['invalid token value!', 'token-secret'],
  ]
  for (const [said, code] of cases) {
    test(said === '' ? 'nothing said' : said, () => {
      const check = judgeUnauthorized(said, WHO, { whose: 'pve1', seconds: 2 })
      assert.equal(check.code, code)
      assert.ok(check.authentication && (check.fix?.length ?? 0) > 0)
    })
  }
})

describe('a token that is taken', () => {
  const seconds = (days: number) => Math.floor((NOW_MS + days * DAY_MS) / 1000)
  for (const [what, facts, code] of [
    ['nothing can be read', {}, 'token'],
    ['never ends', { expireSeconds: 0 }, 'token-never-expires'],
    ['ends soon', { expireSeconds: seconds(5) }, 'token-expires'],
    ['ends much later', { expireSeconds: seconds(200) }, 'token'],
  ] as const)
    test(what, () => assert.equal(judgeToken(WHO, facts, NOW_MS).code, code))
})

describe('versions', () => {
  for (const [version, level] of [
    ['9.2.11', 'ok'],
    ['8.4.1', 'ok'],
    ['7.4-3', 'warning'],
    ['10.0.1', 'warning'],
    ['', 'warning'],
  ] as const)
    test(version || 'none', () => assert.equal(judgeVersion(version).level, level))
})

describe('hosts and storages', () => {
  const survey = (more = {}) => ({
    connection: 'c',
    atMs: 0,
    hosts: [{ name: 'pve1', online: true }],
    storages: [{ host: 'pve1', name: 'local', content: ['images', 'import'], available: true, shared: false }],
    resources: [],
    tasks: [],
    ...more,
  })
  const one = exampleResource({ host: 'pve1', disks: [{ slot: 'scsi0', storage: 'local', sizeGb: 8 }] })
  const judge = (seen: ReturnType<typeof survey>) =>
    judgePlaces([one], seen).map(({ level, code }) => `${level} ${code}`)
  test('all there', () => assert.deepEqual(judge(survey()), ['ok hosts', 'ok storages']))
  test('no such host', () =>
    assert.deepEqual(judge(survey({ hosts: [{ name: 'x', online: true }] })), ['wrong host-missing']))
  test('host off', () =>
    assert.deepEqual(judge(survey({ hosts: [{ name: 'pve1', online: false }] })), ['wrong host-missing']))
  test('no such storage', () => assert.deepEqual(judge(survey({ storages: [] })), ['wrong storage-unfit']))
  test('wrong content', () => {
    const storages = [{ host: 'pve1', name: 'local', content: ['iso'], available: true, shared: false }]
    assert.deepEqual(judge(survey({ storages })), ['wrong storage-unfit'])
  })
})

describe('bridges', () => {
  const nics = [{ slot: 'net0', bridge: 'vmbr9', model: 'virtio' }]
  const wanted = bridgesOf([exampleResource({ host: 'pve1', nics })])
  const may = readHeld({ '/sdn/zones/localnetwork/vmbr9': { 'SDN.Use': 1 } })
  const judge = (rows: unknown, held = may, zones: ReadonlyMap<string, string> = new Map()) =>
    judgeBridges(wanted, new Map([['pve1', rows]]), zones, held).map(({ level, code }) => `${level} ${code}`)
  const cases: readonly [string, string[], string[]][] = [
    ['there', judge([{ iface: 'vmbr9', type: 'bridge' }]), ['ok networks']],
    ['an Open vSwitch one', judge([{ iface: 'vmbr9', type: 'OVSBridge' }]), ['ok networks']],
    ['a network of a zone', judge([], may, readZones([{ vnet: 'vmbr9', zone: 'lan' }])), ['ok networks']],
    ['only a card of that name', judge([{ iface: 'vmbr9', type: 'eth' }]), ['wrong bridge-missing']],
    ['not there', judge([{ iface: 'vmbr0', type: 'bridge' }]), ['wrong bridge-missing']],
    ['not shown to whoever may not use it', judge([], new Map()), ['warning bridge-unseen']],
    ['not answered', judge(undefined), []],
  ]
  for (const [what, found, expected] of cases) test(what, () => assert.deepEqual(found, expected))
})
