import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { sopsYaml } from '../../src/source/testing/sops-writer.ts'
import { endAll, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const secret = (name: string, stringData: Readonly<Record<string, string>>) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'crossplane-system' },
  stringData,
})

test('a ProviderConfig with its encrypted Secret connects; in plain text, insecure or without a token it is refused with the reason', async () => {
  const cwd = scratch()
  const estate = path.join(cwd, 'estate')
  mkdirSync(estate)
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const env = { HOME: path.join(cwd, 'home'), SOPS_AGE_KEY: identity }
  const said: string[] = []
  const croft = async (...words: string[]) => {
    const state = ['--state', path.join(cwd, 'state.db')]
    const { code, stdout, stderr } = await start([...words, ...(words[0] === 'doctor' ? [] : state), 'estate'], {
      cwd,
      env,
      longestMs: 100_000,
    }).ended
    said.push(stdout, stderr)
    return { code, text: stdout + stderr }
  }
  const write = (name: string, text: string) => writeFileSync(path.join(estate, name), text)
  const encrypted = (data: Readonly<Record<string, unknown>>) =>
    sopsYaml(secret('proxmox-credentials', { credentials: JSON.stringify(data) }), {
      recipients: [recipient],
      encryptedRegex: '^(data|stringData)$',
    })
  const config = (annotations: string) => `apiVersion: proxmoxbpg.crossplane.io/v1beta1
kind: ProviderConfig
metadata: {name: default, annotations: {${annotations}}}
spec:
  credentials:
    source: Secret
    secretRef: {name: proxmox-credentials, namespace: crossplane-system, key: credentials}
`
  const login = { endpoint: `${simulator.endpoint}/`, api_token: simulator.token, insecure: 'true' }
  write('vm.yaml', webVm())
  write('config.yaml', config(''))

  const without = await croft('plan')
  assert.notEqual(without.code, 0)
  assert.match(without.text, /proxmox-credentials/)

  write('secret.yaml', `${JSON.stringify(secret('proxmox-credentials', { credentials: JSON.stringify(login) }))}\n`)
  const plain = await croft('plan')
  assert.notEqual(plain.code, 0)
  assert.match(plain.text, /not encrypted/)

  write('secret.yaml', await encrypted(login))
  const insecure = await croft('plan')
  assert.notEqual(insecure.code, 0)
  assert.match(insecure.text, /croft\.dev\/fingerprint/)

  write('config.yaml', config(`croft.dev/fingerprint: "${simulator.fingerprint}"`))
  write('secret.yaml', await encrypted({ endpoint: login.endpoint, username: 'root@pam', password: 'canary-hunter2' }))
  assert.match((await croft('plan')).text, /make an API token/)

  write('secret.yaml', await encrypted(login))
  const planned = await croft('plan')
  assert.equal(planned.code, 2, planned.text)
  const applied = await croft('apply', '--yes', '--timeout', '240s')
  assert.equal(applied.code, 0, applied.text)
  assert.equal((await croft('plan')).code, 0)
  const doctor = await croft('doctor')
  assert.match(doctor.text, /answers/, doctor.text)

  // The same token for a Proxmox object.
  rmSync(path.join(estate, 'config.yaml'))
  write(
    'proxmox.yaml',
    `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: home}
spec:
  endpoint: ${simulator.endpoint}
  fingerprint: "${simulator.fingerprint}"
  token: {secretRef: {name: token, namespace: crossplane-system, key: value}}
`,
  )
  write(
    'secret.yaml',
    await sopsYaml(secret('token', { value: simulator.token }), {
      recipients: [recipient],
      encryptedRegex: '^(data|stringData)$',
    }),
  )
  const byToken = await croft('plan')
  assert.equal(byToken.code, 0, byToken.text)

  const value = simulator.token.split('=')[1] ?? ''
  assert.ok(value.length > 8)
  for (const text of said)
    for (const one of [value, 'canary-hunter2'])
      for (const form of [one, Buffer.from(one).toString('base64')]) assert.ok(!text.includes(form), 'a secret got out')
})
