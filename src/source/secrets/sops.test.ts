import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { sopsDotenv, sopsJson, sopsYaml } from '../testing/sops-writer.ts'
import { SopsFailed } from './sops.ts'
import { identitiesIn, openSopsFile, valueAt } from './sops-file.ts'

const mine = await generateIdentity()
const other = await generateIdentity()
const [me, them] = [await identityToRecipient(mine), await identityToRecipient(other)]

const TREE = {
  token: 'canary-token',
  number: 42,
  ratio: 1.5,
  on: true,
  off: false,
  empty: '',
  nothing: null,
  deep: { list: ['one', 'two', { three: 'drei' }], 'tls.key': 'k' },
  plain_unencrypted: 'seen',
} as const

const refused = (file: string, text: string, pattern: RegExp, keys: readonly string[] = [mine]) =>
  assert.rejects(openSopsFile(file, text, keys), (error: unknown) => {
    assert.ok(error instanceof SopsFailed)
    assert.match(error.message, pattern)
    assert.ok(!error.message.includes('canary'), error.message)
    return true
  })

for (const [name, write] of [
  ['a.yaml', sopsYaml],
  ['a.json', sopsJson],
] as const) {
  test(`${name}: every type of value is opened, in place, with its code checked`, async () => {
    const text = await write(TREE, { recipients: [me], unencryptedSuffix: '_unencrypted' })
    assert.ok(!text.includes('canary'))
    assert.ok(text.includes('seen'))
    const [opened] = await openSopsFile(name, text, [mine])
    assert.deepEqual(JSON.parse(JSON.stringify(opened)), TREE)
  })
}

test('dotenv, and anything else in its binary form', async () => {
  const text = await sopsDotenv({ TOKEN: 'canary', LINES: 'a\nb' }, { recipients: [me] })
  const [opened] = await openSopsFile('a.env', text, [mine])
  assert.deepEqual({ ...(opened as object) }, { TOKEN: 'canary', LINES: 'a\nb' })
  const binary = await sopsJson({ data: 'any bytes' }, { recipients: [me] })
  const [bytes] = await openSopsFile('key.bin', binary, [mine])
  assert.equal(valueAt(bytes ?? null, 'data'), 'any bytes')
})

test('a Kubernetes Secret as people keep it: only data and stringData are encrypted', async () => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'pve', creationTimestamp: null, labels: { n: '1' } },
    stringData: { token: 'canary' },
    port: 8006,
    flag: true,
  }
  const text = await sopsYaml(secret, { recipients: [me], encryptedRegex: '^(data|stringData)$' })
  const [opened] = await openSopsFile('s.yaml', text, [mine])
  assert.deepEqual(JSON.parse(JSON.stringify(opened)), secret)
  await refused('s.yaml', text.replace('8006', '8007'), /its code does not fit/)
  const only = await sopsYaml(secret, {
    recipients: [me],
    encryptedRegex: '^(data|stringData)$',
    macOnlyEncrypted: true,
  })
  const [again] = await openSopsFile('s.yaml', only.replace('8006', '8007'), [mine])
  assert.equal(valueAt(again ?? null, 'stringData.token'), 'canary')
})

test('[S-25] two recipients: each opens it; anybody else does not, and is told for whom it is', async () => {
  const text = await sopsYaml(TREE, { recipients: [them, me] })
  assert.equal(valueAt((await openSopsFile('a.yaml', text, [mine]))[0] ?? null, 'token'), 'canary-token')
  assert.equal(valueAt((await openSopsFile('a.yaml', text, [other]))[0] ?? null, 'token'), 'canary-token')
  await refused(
    'a.yaml',
    text,
    new RegExp(`none of our age keys opens it; it is encrypted to ${them.slice(0, 70)}, ${me.slice(0, 70)}`),
    [await generateIdentity()],
  )
  await refused('a.yaml', text, /no age key is known/, [])
})

test('a file for PGP or the keys of a cloud alone is refused by that name', async () => {
  const text = await sopsYaml(TREE, { recipients: [me] })
  const keys = { pgp: 'PGP', kms: 'AWS KMS', gcp_kms: 'Google Cloud KMS', azure_kv: 'Azure Key Vault' }
  for (const [field, name] of Object.entries(keys))
    await refused('a.yaml', text.replace(/^( *"?)age("?:)/m, `$1${field}$2`), new RegExp(`encrypted to ${name}, which`))
})

test('[S-25] partly plain, swapped, changed, cut, without a code, or not encrypted at all: refused, never read as plain', async () => {
  const text = await sopsYaml({ a: 'canary-1', b: 'canary-2' }, { recipients: [me] })
  const [a = '', b = ''] = text.match(/ENC\[[^\]]*\]/g) ?? []
  await refused('a.yaml', text.replace(a, 'canary in plain'), /a should be encrypted and is not/)
  await refused('a.yaml', text.replace(JSON.stringify(a), '7'), /a should be encrypted and is not/)
  await refused(
    'a.yaml',
    text.replace(a, '§').replace(b, a).replace('§', b),
    /cannot be decrypted: it was changed, or moved/,
  )
  await refused('a.yaml', text.replace(/^a: .*\n/m, ''), /its code does not fit/)
  await refused('a.yaml', text.replace(/mac: .*/, 'mac: ""'), /the code of the file should be encrypted/)
  await refused('a.yaml', text.replace(/ {4}mac: .*\n/, ''), /its sops section cannot be read/)
  await refused(
    'a.yaml',
    text.replace(/lastmodified: .*/, 'lastmodified: "2027-01-01T00:00:00Z"'),
    /the code of the file cannot be decrypted/,
  )
  await refused('a.yaml', text.replace(/tag:([^,]{8})[^,]*,/, 'tag:$1,'), /its tag is cut/)
  await refused('a.yaml', 'a: canary\n', /it is not encrypted with sops/)
  await refused('a.env', 'A=canary\n', /it is not encrypted with sops/)
  await refused('a.yaml', 'a: [canary\n', /cannot be read as YAML/)
  await refused('a.yaml', 'a: '.repeat(100_000), /cannot be read as YAML/)
  await refused('a.yaml', text.replace('sops:', 'sops:\n    shamir_threshold: 2'), /divided among several groups/)
})

test('the keys in a key file are found, whatever else stands in it', () => {
  assert.deepEqual(identitiesIn(`# created: now\n# public key: ${me}\n${mine}\n\n`), [mine])
})
