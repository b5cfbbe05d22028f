import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import type { Check, Driver, DriverDeps } from '../../drivers/port.ts'
import type { Connection } from '../../model/estate.ts'
import { runCli } from '../run.ts'
import { EMPTY_ESTATE, fakeRuntime } from '../testing/fake-runtime.ts'
import { examinationExit } from '../verbs/doctor.ts'
import { renderExaminations } from './doctor.ts'
import { PLAIN } from './text.ts'

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-doctor-'))
after(() => rmSync(scratch, { recursive: true }))

const ok: Check = { about: 'connection', code: 'reached', level: 'ok', found: 'it answers' }
const warning: Check = {
  about: 'clock',
  code: 'clock-skew',
  level: 'warning',
  found: 'clock skew 31 s',
  fix: ['set it'],
}
const wrong: Check = {
  about: 'hosts',
  code: 'host-missing',
  level: 'wrong',
  found: 'no host \u001b[2Jx',
  details: ['for a'],
}
const refused: Check = { ...wrong, code: 'token-refused', authentication: true }

test('every check has its sign, its details and its fix, and nothing that moves a cursor', () => {
  const text = renderExaminations(
    [{ connection: 'default', endpoint: 'https://pve', checks: [ok, warning, wrong] }],
    PLAIN,
  )
  assert.equal(
    text,
    'default  https://pve\n  ✔ it answers\n  ! clock skew 31 s\n      → set it\n  ✗ no host x\n      for a\n\n1 wrong, 1 warning.\n',
  )
})

test('all well is said in so many words', () => {
  assert.match(renderExaminations([{ connection: 'c', endpoint: 'e', checks: [ok] }], PLAIN), /\n\nAll is well\.\n$/)
})

describe('exit codes', () => {
  for (const [what, checks, code] of [
    ['well', [ok], 0],
    ['warnings only', [ok, warning], 0],
    ['something wrong', [wrong, warning], 1],
    ['not known to each other', [wrong, refused], 4],
  ] as const)
    test(what, () => assert.equal(examinationExit(checks), code))
})

describe('croft doctor', () => {
  const connection = { name: 'default', driver: 'proxmox', endpoint: 'https://pve' } as Connection
  const runtime = (checks: readonly Check[], connections: readonly Connection[] = [connection]) =>
    fakeRuntime({
      load: async () => ({ ...EMPTY_ESTATE, estate: { ...EMPTY_ESTATE.estate, connections } }),
      openDrivers: async () => ({
        deps: {} as DriverDeps,
        drivers: [
          {
            name: 'proxmox',
            doctor: { examine: async () => checks },
            roles: { least: async (_one, _resources, { major }) => [`pveum for ${major}`] },
          } as Partial<Driver> as Driver,
        ],
      }),
    })

  test('prints what was found', async () => {
    const fake = runtime([ok])
    assert.equal(await runCli(['doctor', '/'], fake), 0)
    assert.match(fake.written.out, /✔ it answers/)
  })
  test('a command that fixes it names the directory, as the shell takes it', async () => {
    const broad: Check = { ...warning, fix: ['croft doctor --role   # for less', 'pveum acl list'] }
    const fake = runtime([broad])
    mkdirSync(path.join(scratch, 'my infra'))
    await runCli(['doctor', path.join(scratch, 'my infra')], fake)
    assert.ok(fake.written.out.includes(`→ croft doctor '${scratch}/my infra' --role   # for less\n`), fake.written.out)
    assert.match(fake.written.out, /→ pveum acl list\n/)
  })
  test('as data', async () => {
    const fake = runtime([ok, refused])
    assert.equal(await runCli(['doctor', '/', '-o', 'json'], fake), 4)
    const data = JSON.parse(fake.written.out) as { kind: string; healthy: boolean; connections: { checks: Check[] }[] }
    assert.deepEqual(
      [data.kind, data.healthy, data.connections[0]?.checks[1]?.code],
      ['Examination', false, 'token-refused'],
    )
  })
  test('--role prints commands and asks nobody', async () => {
    const fake = runtime([wrong])
    assert.equal(await runCli(['doctor', '/', '--role', '--pve', '8'], fake), 0)
    assert.equal(fake.written.out, '# For the connection default, as root on one of its hosts:\npveum for 8\n')
  })
  test('--role as data', async () => {
    const fake = runtime([])
    await runCli(['doctor', '/', '--role', '-o', 'json'], fake)
    assert.deepEqual((JSON.parse(fake.written.out) as { roles: unknown }).roles, [
      { connection: 'default', commands: ['pveum for 9'] },
    ])
  })
  test('without a connection there is nothing to look at', async () => {
    const fake = runtime([], [])
    assert.equal(await runCli(['doctor', '/'], fake), 1)
    assert.match(fake.written.err, /No connection is declared/)
  })
})
