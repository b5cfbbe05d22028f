import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import {
  keyIdOf,
  notePrints,
  printSecrets,
  readPrints,
  SECRET_PRINTS,
  type SecretPrints,
  withPrints,
} from '../controller/checks/secret-prints.ts'
import { secretsOf } from '../model/desired-secrets.ts'
import type { Estate } from '../model/estate.ts'
import { Secret, type SecretReference } from '../model/secret.ts'
import type { Store } from '../store/port.ts'

const BYTES = 32

interface SecretResolver {
  resolveSecret(reference: SecretReference): Promise<Secret>
}

/** Reads the key that hashes secrets, from a file beside the database, which never contains it. Undefined: none yet. */
export function readSecretKey(stateFile: string): Secret | undefined {
  try {
    const text = readFileSync(keyFile(stateFile), 'utf8').trim()
    return /^[0-9a-f]{64}$/.test(text) ? new Secret(text) : undefined
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Returns the key, and creates a missing one: readable only by us, and on disk before it is used. */
export function ensureSecretKey(stateFile: string): Secret {
  const file = keyFile(stateFile)
  const known = readSecretKey(stateFile)
  if (known !== undefined) return known
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  const text = randomBytes(BYTES).toString('hex')
  const handle = openSync(file, 'w', 0o600)
  try {
    writeSync(handle, `${text}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  return new Secret(text)
}

/** Returns the estate with changed secrets marked on their resources, and the hashes to store. */
export async function noticeSecrets(
  estate: Estate,
  store: Pick<Store, 'getValue'>,
  key: Secret,
  resolve: (reference: SecretReference) => Promise<Secret>,
): Promise<{ readonly estate: Estate; readonly prints: SecretPrints; readonly changed: boolean }> {
  const before = readPrints(await store.getValue(SECRET_PRINTS))
  const declared = new Set([...estate.resources.map((resource) => resource.key), ...estate.unreadable])
  const prints = notePrints(before, await printSecrets(estate, resolve, key), declared, keyIdOf(key))
  const empty = before === undefined && Object.keys(prints.of).length === 0
  return { estate: withPrints(estate, prints), prints, changed: prints !== before && !empty }
}

/** Marks resources with changed secrets, for a command. Only `keep` stores the new hashes. */
export async function newSecrets(
  runtime: { openDrivers(of: { readonly directory: string }): Promise<{ readonly deps: SecretResolver }> },
  directory: string,
  estate: Estate,
  store: Store,
  stateFile: string,
): Promise<{ readonly estate: Estate; keep(): Promise<void> }> {
  if (!estate.resources.some(({ desired }) => secretsOf(desired).length > 0)) return { estate, keep: async () => {} }
  const { deps } = await runtime.openDrivers({ directory })
  const notice = (key: Secret) => noticeSecrets(estate, store, key, deps.resolveSecret)
  const known = readSecretKey(stateFile)
  const noticed = known === undefined ? undefined : await notice(known)
  return {
    estate: noticed?.estate ?? estate,
    async keep() {
      const { changed, prints } = noticed ?? (await notice(ensureSecretKey(stateFile)))
      if (changed) await store.putValue(await store.beginEpoch(), SECRET_PRINTS, JSON.stringify(prints))
    },
  }
}

function keyFile(stateFile: string): string {
  return path.join(path.dirname(stateFile), 'secret-prints.key')
}
