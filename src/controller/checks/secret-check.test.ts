import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { estateFrom, filesOf, SIX } from '../../../test/simulation/manifests.ts'
import { Secret } from '../../model/secret.ts'
import { openVault } from '../../source/secrets/secret-vault.ts'
import { sopsYaml } from '../../source/testing/sops-writer.ts'
import { missingSecrets, withoutMissing } from './secret-check.ts'

test('[S-25] what needs a secret that cannot be opened is not written to, and is not taken for gone; the others go on', async () => {
  const files = filesOf(SIX.slice(0, 2))
  const name = 'machines/server-1.yaml'
  files[name] = (files[name] ?? '').replace(
    '[{username: ubuntu}]',
    '[{username: ubuntu, passwordSecretRef: {name: users, key: ubuntu, namespace: default}}]',
  )
  const estate = estateFrom(files)
  const missing = await missingSecrets(estate, async (reference) => {
    if ('secretRef' in reference) throw new Error('secrets/users.yaml: none of our age keys opens it')
    return new Secret('x')
  })
  assert.deepEqual(missing, [
    { key: 'EnvironmentVM/server-1', message: 'secrets/users.yaml: none of our age keys opens it' },
  ])
  const rest = withoutMissing(estate, missing)
  assert.ok(rest.unreadable.includes('EnvironmentVM/server-1'))
  assert.deepEqual(
    rest.resources.filter((one) => one.desired.type === 'vm').map((one) => one.key),
    ['EnvironmentVM/server-2'],
  )
  assert.equal(rest.problems.at(-1)?.origin.file, name)
  const all = withoutMissing(estate, [{ connection: 'default', message: 'no token' }])
  assert.equal(all.resources.length, 0)
  assert.equal(all.unreadable.length, estate.resources.length)
})

test('a Secret of the repository is found by its name and key, in stringData and in data; one in plain text is refused', async () => {
  const mine = await generateIdentity()
  const recipients = [await identityToRecipient(mine)]
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'users', namespace: 'infra' },
    stringData: { ubuntu: 'canary' },
    data: { coded: Buffer.from('coded canary').toString('base64') },
  }
  const texts: Readonly<Record<string, string>> = {
    'secrets/users.yaml': await sopsYaml(secret, { recipients, encryptedRegex: '^(data|stringData)$' }),
    'plain.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: plain}\nstringData: {a: canary}\n',
    'values.yaml': await sopsYaml({ proxmox: { token: 'canary' } }, { recipients }),
  }
  const ignored = ['secrets/users.yaml', 'plain.yaml'].map((file) => ({
    file,
    line: 1,
    apiVersion: 'v1',
    kind: 'Secret',
  }))
  const vault = openVault(
    { ignored },
    async (file) => texts[file],
    async () => [mine],
  )
  assert.equal((await vault.find({ secretRef: { name: 'users', key: 'ubuntu' } }))?.reveal(), 'canary')
  assert.equal(
    (await vault.find({ secretRef: { name: 'users', namespace: 'infra', key: 'coded' } }))?.reveal(),
    'coded canary',
  )
  assert.equal(await vault.find({ secretRef: { name: 'users', namespace: 'other', key: 'ubuntu' } }), undefined)
  assert.equal((await vault.find({ sops: { file: 'values.yaml', key: 'proxmox.token' } }))?.reveal(), 'canary')
  await assert.rejects(
    vault.find({ sops: { file: 'values.yaml', key: 'proxmox.other' } }),
    /there is no proxmox.other in it/,
  )
  await assert.rejects(vault.find({ sops: { file: '../values.yaml', key: 'x' } }), /there is no file/)
  await assert.rejects(
    vault.find({ secretRef: { name: 'plain', key: 'a' } }),
    /plain.yaml: it is not encrypted with sops/,
  )
})
