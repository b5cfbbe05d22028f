import { readFile } from 'node:fs/promises'
import { ageLibrary } from '../lib/age-library.ts'
import { createOnce } from '../lib/atomic-file.ts'
import { readIfThere } from '../lib/read-if-there.ts'
import { AgeKeyUnusable } from '../model/cluster.ts'
import { Secret } from '../model/secret.ts'

/** The keys of the vault. */
export interface VaultIdentity {
  /** All that may open it; the first is the one it is written for. */
  readonly identities: readonly Secret[]
  readonly recipients: readonly string[]
  /** Their source, for messages. */
  readonly from: string
}

/** The key is not where it is looked for: the directory was renamed or copied, HOME is another, or the key is lost. */
export class NoAgeKey extends Error {
  readonly next: string

  constructor(keyFile: string) {
    super('there is no age key here to open it')
    this.next = `set SOPS_AGE_KEY_FILE to your copy of the key, or put the copy at ${keyFile} (after a rename, or with another HOME, the key is still where it was: vault/age-key.txt in the old state folder)`
  }
}

const KEY = /^AGE-SECRET-KEY-1[0-9A-Z]+$/

/**
 * The keys that SOPS users have already (SOPS_AGE_KEY, SOPS_AGE_KEY_FILE), or one of our own that is made on first use.
 * A variable that is set and holds no key is an error: another key in its place would split the vault in two.
 */
export async function vaultIdentity(
  env: Readonly<Record<string, string | undefined>>,
  keyFile: string,
  missing: 'make' | 'only-read',
): Promise<VaultIdentity> {
  if (env.SOPS_AGE_KEY !== undefined && env.SOPS_AGE_KEY !== '') {
    return identityFrom(env.SOPS_AGE_KEY, 'SOPS_AGE_KEY')
  }
  if (env.SOPS_AGE_KEY_FILE !== undefined && env.SOPS_AGE_KEY_FILE !== '') {
    const file = env.SOPS_AGE_KEY_FILE
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      throw new AgeKeyUnusable(`SOPS_AGE_KEY_FILE names ${file}, which cannot be read (${error.code})`)
    })
    return identityFrom(text, file)
  }
  const there = (await readIfThere(keyFile))?.toString('utf8')
  if (there !== undefined) return identityFrom(there, keyFile)
  if (missing === 'only-read') {
    throw new NoAgeKey(keyFile)
  }
  const made = await ageLibrary().generateIdentity()
  const note = '# croft: opens the records of clusters. Without it they are lost; keep a copy in a safe place.\n'
  await createOnce(keyFile, `${note}${made}\n`)
  // Another process may have been faster: then its key counts.
  return identityFrom(await readFile(keyFile, 'utf8'), keyFile)
}

async function identityFrom(text: string, from: string): Promise<VaultIdentity> {
  const keys = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
  if (keys.length === 0 || keys.some((key) => !KEY.test(key))) {
    throw new AgeKeyUnusable(`${from} holds no age key (AGE-SECRET-KEY-1…)`)
  }
  return {
    identities: keys.map((key) => new Secret(key)),
    recipients: await Promise.all(keys.map((key) => ageLibrary().identityToRecipient(key))),
    from,
  }
}
