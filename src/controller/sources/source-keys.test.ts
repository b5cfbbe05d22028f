import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { openVault } from '../../source/secrets/secret-vault.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { sopsYaml } from '../../source/testing/sops-writer.ts'
import { readConfig } from '../config.ts'
import { grantOf } from './grant-schema.ts'
import { mergeRevisions } from './merge.ts'
import { createSourceKeys } from './source-keys.ts'

const [admins, labs] = [await generateIdentity(), await generateIdentity()]
const [toAdmin, toLab] = [await identityToRecipient(admins), await identityToRecipient(labs)]
const KEYS: Readonly<Record<string, readonly string[]>> = { '/lab.txt': [labs], '/copy.txt': [admins] }

const token = (recipients: readonly string[], value: string) => sopsYaml({ token: value }, { recipients })
const users = (recipients: readonly string[], value: string) =>
  sopsYaml(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'users' }, stringData: { ubuntu: value } },
    { recipients, encryptedRegex: '^stringData$' },
  )

/** A source `lab`, with or without a grant, beside the administrator's. */
function vaultOf(
  lab: { readonly age?: string; readonly grant?: object },
  files: Readonly<Record<string, string>>,
  admin: Readonly<Record<string, string>>,
) {
  const { sources } = readConfig(
    {
      sources: [
        { name: 'lab', directory: '/x', ...lab },
        { name: 'admin', directory: '/y' },
      ],
    },
    {},
    {},
  )
  const revision = mergeRevisions(
    sources.map(({ name, grant }) => {
      const texts = name === 'lab' ? files : admin
      return {
        source: name,
        revision: { ...readTexts(texts), read: async (file: string) => texts[file] },
        ...(grant === undefined ? {} : { grant: grantOf(name, grant) }),
      }
    }),
  )
  const keys = createSourceKeys(sources, { common: async () => [admins], in: async (file) => KEYS[file] ?? [] })
  return openVault(revision, async (file) => revision.read?.(file), keys)
}

const GRANT = { grant: { kinds: ['Machine'] } }
const asked = { sops: { file: 'lab:secrets.yaml', key: 'token' } } as const
const byName = { secretRef: { name: 'users', key: 'ubuntu', source: 'lab' } } as const

test('[S-31] a file that is copied from another repository stays closed, whichever way it is named', async () => {
  const stolen = {
    'secrets.yaml': await token([toAdmin], 'canary-of-admin'),
    'users.yaml': await users([toAdmin], 'canary-of-admin'),
  }
  for (const [keys, why] of [
    [{}, /no age key of its own.*set age of this source/],
    [{ age: '/lab.txt' }, /none of our age keys opens it/],
    [{ age: '/copy.txt' }, /also decrypts files of others/],
  ] as const) {
    const vault = vaultOf({ ...GRANT, ...keys }, stolen, stolen)
    for (const reference of [asked, byName])
      await assert.rejects(vault.find(reference), (error: Error) => {
        assert.match(error.message, why)
        assert.ok(!error.message.includes('canary'))
        return true
      })
  }
})

test('[S-31] its own files open with its own key, and nobody else opens them', async () => {
  const own = { 'secrets.yaml': await token([toLab], 'of-lab'), 'users.yaml': await users([toLab], 'of-lab') }
  const admin = { 'secrets.yaml': await token([toAdmin], 'of-admin'), 'stolen.yaml': own['secrets.yaml'] }
  const vault = vaultOf({ ...GRANT, age: '/lab.txt' }, own, admin)
  assert.equal((await vault.find(asked))?.reveal(), 'of-lab')
  assert.equal((await vault.find(byName))?.reveal(), 'of-lab')
  assert.equal((await vault.find({ sops: { file: 'admin:secrets.yaml', key: 'token' } }))?.reveal(), 'of-admin')
  await assert.rejects(vault.find({ sops: { file: 'admin:stolen.yaml', key: 'token' } }), /none of our age keys/)
})

test('a source without a grant has the common keys, or its own where it names them', async () => {
  const files = { 'secrets.yaml': await token([toAdmin], 'common'), 'own.yaml': await token([toLab], 'own') }
  const common = vaultOf({}, files, {})
  assert.equal((await common.find(asked))?.reveal(), 'common')
  const apart = vaultOf({ age: '/lab.txt' }, files, {})
  await assert.rejects(apart.find(asked), /none of our age keys/)
  assert.equal((await apart.find({ sops: { file: 'lab:own.yaml', key: 'token' } }))?.reveal(), 'own')
})
