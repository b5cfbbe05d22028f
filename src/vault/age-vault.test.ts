import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { generateIdentity } from 'age-encryption'
import { type ClusterSecrets, RecordClosed } from '../model/cluster.ts'
import { Secret } from '../model/secret.ts'
import { openAgeVault } from './age-vault.ts'

let directory: string
beforeEach(() => {
  directory = path.join(mkdtempSync(path.join(tmpdir(), 'croft-vault-')), 'vault')
})
afterEach(() => rmSync(path.dirname(directory), { recursive: true, force: true }))

const CANARY = 'canary-c0ffee-password'
const SECRETS: ClusterSecrets = {
  cluster: 'homelab',
  caHash: 'a'.repeat(64),
  firstServer: 's1',
  formed: false,
  recordedMs: 1,
  files: new Map([['server-ca.key', new Secret(`${CANARY}-key`)]]),
  password: new Secret(CANARY),
  agentPassword: new Secret(`${CANARY}-agent`),
  formerPasswords: [new Secret(`${CANARY}-old`)],
}

function revealed(secrets: ClusterSecrets | undefined): unknown {
  if (secrets === undefined) return undefined
  return {
    ...secrets,
    files: [...secrets.files].map(([name, content]) => [name, content.reveal()]),
    password: secrets.password.reveal(),
    agentPassword: secrets.agentPassword?.reveal(),
    formerPasswords: secrets.formerPasswords.map((one) => one.reveal()),
  }
}

describe('a vault of age files', () => {
  test('gives back what was put in, also to another process, and nothing where nothing was', async () => {
    const vault = openAgeVault({ directory, env: {} })
    assert.equal(await vault.read('homelab'), undefined)
    await vault.write(SECRETS)
    assert.deepEqual(revealed(await openAgeVault({ directory, env: {} }).read('homelab')), revealed(SECRETS))
    await vault.write({ ...SECRETS, formed: true })
    assert.equal((await vault.read('homelab'))?.formed, true)
  })

  test('[S-17] no byte of a secret is on the disk in any form, and nobody else may read the files', async () => {
    await openAgeVault({ directory, env: {} }).write(SECRETS)
    const files = readdirSync(directory)
    assert.deepEqual(files.sort(), ['age-key.txt', 'homelab.cluster.age'])
    for (const file of files) {
      const bytes = readFileSync(path.join(directory, file))
      for (const form of [CANARY, Buffer.from(CANARY).toString('base64'), Buffer.from(CANARY).toString('hex')])
        assert.ok(!bytes.includes(form), file)
      assert.equal(statSync(path.join(directory, file)).mode & 0o077, 0, file)
    }
    assert.equal(statSync(directory).mode & 0o077, 0)
  })

  test('the key may come from where SOPS has it, and then none is made', async () => {
    const key = await generateIdentity()
    await openAgeVault({ directory, env: { SOPS_AGE_KEY: `# mine\n${key}\n` } }).write(SECRETS)
    assert.ok(!existsSync(path.join(directory, 'age-key.txt')))
    const file = path.join(path.dirname(directory), 'keys.txt')
    writeFileSync(file, `${key}\n`)
    assert.equal(
      (await openAgeVault({ directory, env: { SOPS_AGE_KEY_FILE: file } }).read('homelab'))?.password.reveal(),
      CANARY,
    )
  })

  test('[A58] the sealed record is used where the directory was lost, and only there', async () => {
    const env = { SOPS_AGE_KEY: await generateIdentity() }
    const first = openAgeVault({ directory, env })
    assert.equal(await first.sealed.seal('homelab'), undefined)
    await first.write({ ...SECRETS, formed: true })
    const sealed = await first.sealed.seal('homelab')
    assert.ok(sealed !== undefined)
    assert.match(sealed, /^-----BEGIN AGE ENCRYPTED FILE-----\n/)
    assert.ok(!Buffer.from(sealed, 'base64').includes(CANARY) && !sealed.includes(CANARY))
    const escrow = async (cluster: string) => (cluster === 'homelab' ? sealed : undefined)
    await first.write({ ...SECRETS, firstServer: 's2' })
    assert.equal((await openAgeVault({ directory, env, escrow }).read('homelab'))?.firstServer, 's2')
    rmSync(directory, { recursive: true })
    const again = openAgeVault({ directory, env, escrow })
    assert.deepEqual(revealed(await again.read('homelab')), revealed({ ...SECRETS, formed: true }))
    assert.equal(await again.read('other'), undefined)
    // [D-12] To read writes nothing: it is kept here again with the next change.
    assert.ok(!existsSync(directory))
    await again.write({ ...SECRETS, formed: true })
    assert.deepEqual(
      revealed(await openAgeVault({ directory, env }).read('homelab')),
      revealed({ ...SECRETS, formed: true }),
    )
  })

  test('of two copies the one that was written last counts, wherever it is', async () => {
    const env = { SOPS_AGE_KEY: await generateIdentity() }
    const other = path.join(path.dirname(directory), 'other')
    let inGit: string | undefined
    const escrow = async () => inGit
    const laptop = openAgeVault({ directory, env, escrow })
    const server = openAgeVault({ directory: other, env, escrow })
    await laptop.write({ ...SECRETS, formed: true })
    inGit = await laptop.sealed.sealAnew('homelab')
    await server.write({ ...SECRETS, formed: true, firstServer: 's2' })
    // A rotation on the laptop: the server's vault is now stale.
    await laptop.write({ ...SECRETS, formed: true, firstServer: 's2' })
    await laptop.write({ ...SECRETS, formed: true, caHash: 'b'.repeat(64) })
    inGit = (await laptop.sealed.sealAnew('homelab')) ?? inGit
    assert.equal((await server.read('homelab'))?.caHash, 'b'.repeat(64))
    assert.equal(await server.sealed.sealAnew('homelab'), undefined)
    // Its next change is newer than both, so the copy in Git is stale.
    await server.write({ ...SECRETS, formed: true, caHash: 'c'.repeat(64) })
    assert.equal((await server.read('homelab'))?.caHash, 'c'.repeat(64))
    inGit = (await server.sealed.sealAnew('homelab')) ?? inGit
    assert.equal((await laptop.read('homelab'))?.caHash, 'c'.repeat(64))
    // An unreadable copy in Git changes nothing.
    inGit = 'damaged'
    assert.equal((await server.read('homelab'))?.caHash, 'c'.repeat(64))
  })

  test('a record sealed before the cluster was formed says that there may be one: no second cluster is started by it', async () => {
    const env = { SOPS_AGE_KEY: await generateIdentity() }
    const first = openAgeVault({ directory, env })
    await first.write({ ...SECRETS, formed: false })
    assert.equal((await first.read('homelab'))?.formed, false)
    const sealed = await first.sealed.seal('homelab')
    const escrow = async () => sealed
    assert.equal((await openAgeVault({ directory, env, escrow }).read('homelab'))?.formed, false)
    rmSync(directory, { recursive: true })
    assert.equal((await openAgeVault({ directory, env, escrow }).read('homelab'))?.formed, true)
  })

  test('[D-12] to read makes no key and no directory', async () => {
    const vault = openAgeVault({ directory, env: {} })
    assert.equal(await vault.read('homelab'), undefined)
    assert.equal(await vault.sealed.seal('homelab'), undefined)
    assert.ok(!existsSync(directory))
  })

  test('without its key a sealed record says which file it is, where the key may be, and what helps when it is lost', async () => {
    const first = openAgeVault({ directory, env: {} })
    await first.write(SECRETS)
    const sealed = (await first.sealed.seal('homelab')) ?? ''
    const elsewhere = path.join(directory, 'renamed')
    const vault = openAgeVault({ directory: elsewhere, env: {}, escrow: async () => sealed })
    await assert.rejects(vault.read('homelab'), (error: Error) => {
      assert.ok(error instanceof RecordClosed)
      assert.match(error.message, /^escrow\/homelab\.cluster\.age is sealed: there is no age key here to open it: set/)
      assert.match(error.message, /put the copy at \S+renamed\/age-key\.txt \(after a rename.*the old state folder\)/)
      assert.match(
        error.message,
        /lost for good, move escrow\/homelab\.cluster\.age away: croft then reads CA and token/,
      )
      return true
    })
    assert.ok(!existsSync(elsewhere), 'nothing was written')
  })

  test('a sealed record that is none, or for somebody else, is refused by its name', async () => {
    const env = { SOPS_AGE_KEY: await generateIdentity() }
    const read = (text: string) => openAgeVault({ directory, env, escrow: async () => text }).read('homelab')
    await assert.rejects(read('hello'), /escrow\/homelab\.cluster\.age is not a file of age/)
    const other = openAgeVault({ directory, env: { SOPS_AGE_KEY: await generateIdentity() } })
    await other.write(SECRETS)
    const sealed = (await other.sealed.seal('homelab')) ?? ''
    rmSync(directory, { recursive: true })
    await assert.rejects(
      read(sealed),
      /escrow\/homelab\.cluster\.age is sealed: the key of SOPS_AGE_KEY does not open it/,
    )
    assert.ok(!existsSync(directory), 'nothing was written')
  })

  test('another key, a damaged file, half a record and a record of another cluster are refused, never taken for none', async () => {
    const vault = openAgeVault({ directory, env: {} })
    await vault.write(SECRETS)
    const other = openAgeVault({ directory, env: { SOPS_AGE_KEY: await generateIdentity() } })
    await assert.rejects(other.read('homelab'), /the key of SOPS_AGE_KEY does not open it/)
    const file = path.join(directory, 'homelab.cluster.age')
    const whole = readFileSync(file)
    writeFileSync(path.join(directory, 'copy.cluster.age'), whole)
    await assert.rejects(vault.read('copy'), /is the record of homelab, not of copy/)
    writeFileSync(file, whole.subarray(0, whole.length - 20))
    await assert.rejects(vault.read('homelab'), /damaged/)
    writeFileSync(file, '')
    await assert.rejects(vault.read('homelab'), /damaged/)
  })

  test('a variable that holds no key is an error, and its content is not in it', async () => {
    const vault = openAgeVault({ directory, env: { SOPS_AGE_KEY: 'canary-not-a-key' } })
    await assert.rejects(vault.write(SECRETS), (error: Error) => {
      assert.match(error.message, /SOPS_AGE_KEY holds no age key/)
      assert.ok(!error.message.includes('canary'))
      return true
    })
  })

  test('[S-15] a name that is a path is no name of a cluster', async () => {
    const vault = openAgeVault({ directory, env: {} })
    for (const name of ['../x', 'a/b', '', '.', 'A', 'a\u0000b'])
      await assert.rejects(vault.read(name), /not a name of a cluster/)
  })

  test('two that begin at the same moment agree on one key', async () => {
    const vaults = Array.from({ length: 8 }, () => openAgeVault({ directory, env: {} }))
    await Promise.all(vaults.map((vault, index) => vault.write({ ...SECRETS, cluster: `c${index}` })))
    for (const index of vaults.keys()) {
      assert.equal((await openAgeVault({ directory, env: {} }).read(`c${index}`))?.cluster, `c${index}`)
    }
  })
})
