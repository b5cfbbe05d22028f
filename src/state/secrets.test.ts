import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { resolveSecret } from './secrets.ts'

const CANARY = 'root@pam!croft=canary-9f8e7d'

test('[S-17] a secret is found where its reference says and cannot be printed', async () => {
  const secret = await resolveSecret(
    { env: 'TOKEN' },
    { env: { TOKEN: ` ${CANARY}\n` }, directory: '/', warn: (message: string) => assert.fail(message) },
  )
  assert.equal(secret.word(), CANARY)
  assert.doesNotMatch(`${String(secret)}${JSON.stringify({ secret })}${inspect({ secret })}`, /canary/)
})

test('a missing variable is named, with what to do', async () => {
  await assert.rejects(
    resolveSecret({ env: 'TOKEN' }, { env: {}, directory: '/', warn: (message: string) => assert.fail(message) }),
    /The environment variable TOKEN is not set\. Set it/,
  )
})

test('a secret file is read from below the directory; others who may read it are a warning', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'croft-secret-'))
  try {
    const file = path.join(directory, 'token')
    writeFileSync(file, `${CANARY}\n`)
    chmodSync(file, 0o644)
    const warnings: string[] = []
    const sources = { env: {}, directory, warn: (message: string) => void warnings.push(message) }
    const found = await resolveSecret({ file: 'token' }, sources)
    assert.equal(found.word(), CANARY)
    assert.equal(found.reveal(), `${CANARY}\n`, 'the content of a file needs its last line end')
    assert.deepEqual(warnings, ['the secret file token can be read by others; run: chmod 600 token'])
    chmodSync(file, 0o600)
    await resolveSecret({ file: 'token' }, sources)
    assert.equal(warnings.length, 1)
    const home = { ...sources, env: { HOME: directory }, directory: '/' }
    assert.equal((await resolveSecret({ file: '~/token' }, home)).word(), CANARY)
    await assert.rejects(
      resolveSecret({ file: 'nothing' }, sources),
      /The secret file nothing cannot be read \(ENOENT\)/,
    )
    await assert.rejects(resolveSecret({ file: '.' }, sources), /is not a secret file/)
    writeFileSync(file, '')
    await assert.rejects(resolveSecret({ file: 'token' }, sources), /is empty/)
  } finally {
    rmSync(directory, { recursive: true })
  }
})

test('a Kubernetes secret outside a cluster is refused with the way out', async () => {
  const reference = { secretRef: { name: 'proxmox', key: 'token' } }
  await assert.rejects(
    resolveSecret(reference, { env: {}, directory: '/', warn: (message: string) => assert.fail(message) }),
    /no Secret proxmox with the key token.*declare a Proxmox connection/,
  )
})
