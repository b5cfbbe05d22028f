import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const CROFT = fileURLToPath(new URL('../../bin/croft', import.meta.url))
const home = mkdtempSync(path.join(tmpdir(), 'croft-bin-'))
const tmp = path.join(home, 'tmp')
mkdirSync(tmp)
process.once('exit', () => rmSync(home, { recursive: true, force: true }))

function croft(...args: readonly string[]) {
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: tmp }
  return spawnSync(process.execPath, [CROFT, ...args], { encoding: 'utf8', env, cwd: home, timeout: 300_000 })
}

test('croft --help names every verb on stdout and exits 0', () => {
  const { status, stdout, stderr } = croft('--help')
  assert.equal(status, 0)
  assert.equal(stderr, '')
  for (const verb of 'validate plan apply get describe events delete schema explain sim demo version completion'.split(
    ' ',
  )) {
    assert.match(stdout, new RegExp(`^  ${verb} `, 'm'))
  }
})

test('an unknown command exits 64', () => {
  const { status, stdout, stderr } = croft('aply', '.')
  assert.equal(status, 64)
  assert.equal(stdout, '')
  assert.match(stderr, /Did you mean apply\?/)
})

test('[S-12] validate reports every error with its place and exits 1; plan does nothing and exits 1', () => {
  const directory = path.join(home, 'bad')
  mkdirSync(directory)
  writeFileSync(
    path.join(directory, 'connection.yaml'),
    `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:1
  fingerprnt: "AA"
  token: {env: TOKEN}
`,
  )
  const validated = croft('validate', 'bad')
  assert.equal(validated.status, 1)
  assert.match(validated.stderr, /Error\[[a-z-]+\]: .*\n {2}--> bad\/connection\.yaml:6:\d+/)
  assert.match(validated.stderr, /did you mean fingerprint\?/i)
  const planned = croft('plan', 'bad')
  assert.equal(planned.status, 1)
  assert.equal(planned.stdout, '')
})

test('[S-17] plan against a port where nobody listens exits 1, says so and shows no token', () => {
  const directory = path.join(home, 'far')
  mkdirSync(directory)
  const fingerprint = Array.from({ length: 32 }, () => 'AA').join(':')
  writeFileSync(path.join(directory, 'token'), 'root@pam!croft=canary-1234\n', { mode: 0o600 })
  writeFileSync(
    path.join(directory, 'all.yaml'),
    `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec:
  endpoint: https://127.0.0.1:1
  fingerprint: "${fingerprint}"
  token: {file: ${path.join(directory, 'token')}}
`,
  )
  assert.equal(croft('validate', 'far').status, 0)
  const { status, stdout, stderr } = croft('plan', 'far')
  assert.equal(status, 1, stderr)
  assert.match(stdout, /Connection default: unreachable/)
  assert.doesNotMatch(stdout + stderr, /canary/)
})

test('the tour reaches its end by itself and leaves nothing behind', () => {
  const { status, stdout, stderr } = croft('demo', '--once', '--speed', '40')
  assert.equal(status, 0, `${stdout}\n${stderr}`)
  assert.match(stdout, /in the datacentre: its agent is up/)
  assert.match(
    stdout,
    /No changes\. All 4 declared resources are as declared\.\nThe datacentre saw \d+ calls .* and 0 writes\./,
  )
  assert.match(stdout, /EnvironmentVM\/k3s-vm-fun-bedbug +True +True +Running/)
  assert.match(stdout, /The tour reached its end/)
  assert.deepEqual(
    readdirSync(tmp).filter((name) => name.startsWith('croft')),
    [],
  )
})
