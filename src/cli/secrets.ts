import { open } from 'node:fs/promises'
import path from 'node:path'
import { Secret, type SecretReference } from '../model/secret.ts'
import type { VaultReference } from '../source/secret-vault.ts'
import { CliError } from './exit.ts'
import type { Environment } from './runtime.ts'

const MAX_SECRET_BYTES = 64 * 1024

export interface SecretSources {
  readonly env: Environment
  /** Relative file references are found from here. */
  readonly directory: string
  warn(message: string): void
  /** Secrets in encrypted files of the repository. Undefined: none of that name is there. */
  vault?(reference: VaultReference): Promise<Secret | undefined>
}

/** Looks a secret up where its reference says. Errors name the place and never what is in it. */
export async function resolveSecret(reference: SecretReference, sources: SecretSources): Promise<Secret> {
  if ('env' in reference) return fromEnvironment(reference.env, sources.env)
  if ('file' in reference) return fromFile(reference.file, sources)
  const kept = await sources.vault?.(reference)
  if (kept !== undefined) return kept
  if ('sops' in reference) {
    throw new CliError(
      `The secret ${reference.sops.key} is in the encrypted file ${reference.sops.file}, and this command reads no repository. Name the directory or repository that holds it.`,
    )
  }
  const { name, key } = reference.secretRef
  throw new CliError(
    `The secret ${name} (key ${key}) is a Kubernetes secret, which croft cannot read outside a cluster. ` +
      'Declare a Proxmox connection of the same name with token: {env: …} or token: {file: …}.',
  )
}

function fromEnvironment(name: string, env: Environment): Secret {
  const value = env[name]?.trim()
  if (value === undefined || value === '') {
    throw new CliError(`The environment variable ${name} is not set. Set it to the secret, e.g. export ${name}=…`)
  }
  return new Secret(value)
}

async function fromFile(file: string, sources: SecretSources): Promise<Secret> {
  const home = file.startsWith('~/') ? sources.env.HOME : undefined
  const full = home === undefined ? path.resolve(sources.directory, file) : path.join(home, file.slice(2))
  const handle = await open(full, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `The secret file ${file} cannot be read (${error.code ?? 'error'}). Create it, or correct its path.`,
    )
  })
  try {
    const stat = await handle.stat()
    if (!stat.isFile() || stat.size > MAX_SECRET_BYTES) {
      throw new CliError(`${file} is not a secret file: it must be a plain file of at most 64 KiB. Correct its path.`)
    }
    if ((stat.mode & 0o077) !== 0) {
      sources.warn(`the secret file ${file} can be read by others; run: chmod 600 ${file}`)
    }
    const value = (await handle.readFile('utf8')).trim()
    if (value === '') throw new CliError(`The secret file ${file} is empty. Write the secret into it.`)
    return new Secret(value)
  } finally {
    await handle.close()
  }
}
