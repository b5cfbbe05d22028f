import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../../source/testing/fixture.ts'
import { runCli } from '../run.ts'
import { fakeRuntime } from '../testing/fake-runtime.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKAaOJ8Ks8dgpFhFv1y1HHCNOL3Bxq2Gm8TfqJZiT7sO'
const home = mkdtempSync(path.join(tmpdir(), 'croft-ansible-'))
process.once('exit', () => rmSync(home, { recursive: true, force: true }))
const inventory = path.join(home, 'inventory')
mkdirSync(path.join(inventory, 'group_vars'), { recursive: true })
mkdirSync(path.join(home, 'infra'))
writeFileSync(
  path.join(inventory, 'hosts.ini'),
  '[server]\ncow ansible_host=192.168.14.2\n[agent]\nsheep ansible_host=192.168.14.3\n',
)
writeFileSync(
  path.join(inventory, 'group_vars', 'all'),
  'k3s_version: v1.34.3+k3s1\nansible_user: k3s\ntoken: hunter2\nextra_server_args: --disable traefik\n',
)
writeFileSync(path.join(inventory, 'known_hosts'), `192.168.14.2 ${KEY}\n192.168.14.3 ${KEY}\n`)

test('the directory of an inventory is imported whole, and croft validate accepts what it became', async () => {
  const runtime = fakeRuntime({ cwd: home })
  const code = await runCli(['import', 'k3s-ansible', 'inventory', '--write', 'infra/barn.yaml'], runtime)
  assert.equal(code, 2, runtime.written.err)
  assert.match(runtime.written.err, /^Not carried over: the variable token: it is secret/m)
  assert.match(runtime.written.err, /Imported from inventory: 3 objects\. 1 item not carried over/)
  assert.doesNotMatch(runtime.written.err, /hunter2|Error/)
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home }
  const validated = spawnSync(process.execPath, [path.join(ROOT, 'bin/croft'), 'validate', 'infra'], {
    cwd: home,
    encoding: 'utf8',
    env,
    timeout: 300_000,
  })
  assert.equal(validated.status, 0, validated.stderr)
})

test('[S-55] a link to a device under the name of an inventory is not followed', async () => {
  const place = path.join(home, 'linked')
  mkdirSync(place)
  // It is endless: without an early refusal, this test would not end.
  symlinkSync('/dev/zero', path.join(place, 'hosts.ini'))
  const runtime = fakeRuntime({ cwd: home })
  assert.equal(await runCli(['import', 'k3s-ansible', 'linked'], runtime), 1)
  assert.match(runtime.written.err, /linked cannot be imported: no inventory with hosts is among the files/)
})

test('a place that has nothing of a format is told so, and what the format reads', async () => {
  const place = path.join(home, 'other')
  mkdirSync(place)
  writeFileSync(path.join(place, 'compose.yaml'), 'services: {}\n')
  const runtime = fakeRuntime({ cwd: home })
  assert.equal(await runCli(['import', 'argocd', 'other'], runtime), 1)
  assert.match(runtime.written.err, /other has nothing to import: croft import argocd reads a repository of Argo CD: /)
})
