import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { Secret } from '../model/secret.ts'
import { existingTools } from './existing-clusters.ts'

const scratch = mkdtempSync(path.join(tmpdir(), 'croft-existing-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const program = path.join(scratch, 'aws')
writeFileSync(
  program,
  `#!/bin/sh
env > ${scratch}/env
echo "$@" > ${scratch}/args
[ "$1" = fail ] && { echo "no session" >&2; exit 3; }
echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"k8s-aws-v1.abc"}}'
`,
)
chmodSync(program, 0o755)
symlinkSync(program, path.join(scratch, 'link'))

const deps = { clock: systemClock, resolveSecret: async () => new Secret('x') }
const signal = AbortSignal.any([])
const V1 = 'client.authentication.k8s.io/v1'
const env = { PATH: `${scratch}:/usr/bin:/bin`, HOME: scratch, AWS_REGION: 'eu-west-1', PROXMOX_TOKEN: 'correct-horse' }

const run = async (more: Record<string, string>, command = 'aws', args: readonly string[] = ['eks', 'get-token']) =>
  (await existingTools({ ...env, ...more }, deps)).runProgram(
    { apiVersion: V1, command, args, env: { AWS_PROFILE: 'prod' } },
    signal,
  )

test('a program runs only where the administrator lists it, by its real path', async () => {
  for (const allowed of [{}, { CROFT_KUBECONFIG_PROGRAMS: '/usr/bin/true' }, { CROFT_KUBECONFIG_PROGRAMS: 'aws' }]) {
    const refused = await run(allowed)
    assert.match('problem' in refused ? refused.problem : '', /croft runs only what CROFT_KUBECONFIG_PROGRAMS lists/)
  }
  const allowed = await run({ CROFT_KUBECONFIG_PROGRAMS: `/usr/bin/true:${path.join(scratch, 'link')}` })
  assert.ok(!('problem' in allowed), JSON.stringify(allowed))
  assert.equal(allowed.token?.reveal(), 'k8s-aws-v1.abc')
  assert.equal(readFileSync(path.join(scratch, 'args'), 'utf8'), 'eks get-token\n')
})

test('it gets what its cloud reads and nothing else of our environment', async () => {
  await run({ CROFT_KUBECONFIG_PROGRAMS: program })
  const given = readFileSync(path.join(scratch, 'env'), 'utf8')
  assert.match(given, /^AWS_REGION=eu-west-1$/m)
  assert.match(given, /^AWS_PROFILE=prod$/m)
  assert.match(given, /^KUBERNETES_EXEC_INFO=\{.*"interactive":false/m)
  assert.doesNotMatch(given, /correct-horse|PROXMOX_TOKEN|CROFT_/)
})

test('one that fails, or is not there, says so', async () => {
  const failed = await run({ CROFT_KUBECONFIG_PROGRAMS: program }, 'aws', ['fail'])
  assert.match('problem' in failed ? failed.problem : '', /gave no credentials: it ended with 3: no session/)
  const gone = await run({ CROFT_KUBECONFIG_PROGRAMS: program }, 'no-such-plugin')
  assert.match('problem' in gone ? gone.problem : '', /names no-such-plugin, which is not here/)
  const relative = await run({ CROFT_KUBECONFIG_PROGRAMS: program }, './aws')
  assert.match('problem' in relative ? relative.problem : '', /which is not here/)
})

test('files beside a kubeconfig are found from where it is', async () => {
  writeFileSync(path.join(scratch, 'ca.crt'), 'CA')
  const tools = await existingTools(env, deps)
  assert.equal(await tools.readFile('ca.crt', { file: '~/config' }), 'CA')
  assert.equal(await tools.readFile('ca.crt', { env: 'KUBECONFIG_TEXT' }), undefined)
  assert.equal(await tools.readFile('nothing', { file: '~/config' }), undefined)
})

test('outside a pod there is no way as a pod', async () => {
  const inside = await (await existingTools({}, deps)).openInside()
  assert.match('problem' in inside ? inside.problem : '', /this is not a pod of a cluster/)
})
