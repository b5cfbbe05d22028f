import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, describe, test } from 'node:test'
import { ageLibrary } from '../src/lib/age-library.ts'
import { SCHEMA_VERSION } from '../src/store/sqlite-schema.ts'

// A state folder as a croft left it that had made one machine and a cluster on it, and taken a backup; with the manifests that
// it was of. Its keys are of a simulated cluster. What reads them is the whole program.

const ROOT = join(import.meta.dirname, '..')
const root = mkdtempSync(join(tmpdir(), 'croft-state-folder-'))
after(() => rmSync(root, { recursive: true, force: true }))

interface StateFolder {
  readonly file: string
  readonly estate: string
  readonly vault: string
  croft(...words: readonly string[]): { readonly code: number | null; readonly out: string; readonly err: string }
}

function unpacked(name: string): StateFolder {
  const from = join(ROOT, `test/state-folder/schema-${SCHEMA_VERSION}`)
  const state = join(root, name, 'state')
  const [file, vault, estate] = [join(state, 'croft.db'), join(state, 'vault'), join(root, name, 'infra')]
  mkdirSync(vault, { recursive: true, mode: 0o700 })
  cpSync(join(from, 'estate'), estate, { recursive: true })
  for (const one of ['age-key.txt', 'home.cluster.age']) cpSync(join(from, one), join(vault, one))
  const db = new DatabaseSync(file)
  db.exec(readFileSync(join(from, 'croft.sql'), 'utf8'))
  db.close()
  const env = { ...process.env, PROXMOX_TOKEN: 'a@pve!b=c', CROFT_STATE: file, HOME: root }
  const croft = (...words: readonly string[]) => {
    const args = [join(ROOT, 'bin/croft'), ...words, '--dir', estate]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, cwd: root, encoding: 'utf8' })
    return { code: status, out: stdout, err: stderr }
  }
  return { file, estate, vault, croft }
}

describe('a state folder of an earlier croft', () => {
  test('[F-26] today has one: whoever changes the schema keeps the folder of the format before, and adds one', () => {
    assert.ok(existsSync(join(ROOT, `test/state-folder/schema-${SCHEMA_VERSION}/croft.sql`)))
  })

  test('[F-26] its records, events, audit and vault are read by every command that needs them', () => {
    const { croft } = unpacked('read')
    const got = croft('get', '-o', 'name')
    assert.equal(got.code, 0, got.err)
    for (const key of ['Cluster/home', 'Image/noble@fun-bedbug', 'Machine/home-1'])
      assert.match(got.out, new RegExp(key))
    assert.match(croft('events').out, /Ready +Machine\/home-1 /)
    assert.match(croft('events', '--audit').out, /backup of home/)
    assert.match(croft('describe', 'Machine/home-1').out, /Running/)
    const access = croft('cluster', 'kubeconfig', 'home')
    assert.equal(access.code, 0, access.err)
    assert.match(access.out, /server: https:\/\/192\.168\.4\.79:6443/)
    assert.match(croft('cluster', 'escrow', 'home').out, /BEGIN AGE ENCRYPTED FILE/)
  })

  test('[F-26] a database of a newer croft is refused and stays as it is, byte for byte', () => {
    const { file, croft } = unpacked('newer-database')
    const db = new DatabaseSync(file)
    db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}; PRAGMA journal_mode = DELETE`)
    db.close()
    const before = readFileSync(file)
    for (const words of [['get'], ['events'], ['cluster', 'backup', 'home', '--now', '--yes']]) {
      const { code, err } = croft(...words)
      assert.notEqual(code, 0)
      assert.match(err, /written by a newer croft/, words.join(' '))
    }
    assert.deepEqual(readFileSync(file), before)
  })

  test('[F-26] a record of the vault in a format of a newer croft is named and not read, and stays as it is', async () => {
    const { vault, croft } = unpacked('newer-vault')
    const { Decrypter, Encrypter, identityToRecipient } = ageLibrary()
    const key = /AGE-SECRET-KEY-\S+/.exec(readFileSync(join(vault, 'age-key.txt'), 'utf8'))?.[0] ?? ''
    const [decrypter, encrypter] = [new Decrypter(), new Encrypter()]
    decrypter.addIdentity(key)
    encrypter.addRecipient(await identityToRecipient(key))
    const file = join(vault, 'home.cluster.age')
    const record = JSON.parse(await decrypter.decrypt(readFileSync(file), 'text')) as { format: number }
    const sealed = await encrypter.encrypt(JSON.stringify({ ...record, format: record.format + 1 }))
    writeFileSync(file, sealed)
    const { code, err } = croft('cluster', 'kubeconfig', 'home')
    assert.notEqual(code, 0)
    assert.match(err, /another version of croft/)
    assert.deepEqual(readFileSync(file), Buffer.from(sealed))
  })
})
