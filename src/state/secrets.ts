import { open, readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ControllerConfig } from '../controller/config.ts'
import { createSourceKeys } from '../controller/sources/source-keys.ts'
import { CliError } from '../lib/exit.ts'
import { Secret, type SecretReference, type ServerReference } from '../model/secret.ts'
import type { VaultReference } from '../source/secrets/secret-vault.ts'
import { type AgeIdentities, identitiesIn } from '../source/secrets/sops-file.ts'
import { homeIn } from './home.ts'
import { fromSecretServer } from './secret-servers.ts'
import type { Environment } from './state-file.ts'

const MAX_SECRET_BYTES = 64 * 1024

export interface SecretSources {
  readonly env: Environment
  /** Relative file references are found from here. */
  readonly directory: string
  warn(message: string): void
  /** Secrets in encrypted files of the repository, or on a server. Undefined: unknown name. */
  vault?(reference: VaultReference): Promise<Secret | ServerReference | undefined>
}

/** Resolves a secret reference. Errors name the place and never its content. */
export async function resolveSecret(reference: SecretReference, sources: SecretSources): Promise<Secret> {
  if ('env' in reference) return fromEnvironment(reference.env, sources.env)
  if ('file' in reference) return fromFile(reference.file, sources)
  if ('vault' in reference || 'onePassword' in reference) return fromSecretServer(reference, sources)
  const kept = await sources.vault?.(reference)
  if (kept instanceof Secret) return kept
  if (kept !== undefined) return fromSecretServer(kept, sources)
  if ('sops' in reference) {
    throw new CliError(
      `The secret ${reference.sops.key} is in the encrypted file ${reference.sops.file}, and this command reads no repository. Name the directory or repository that holds it.`,
    )
  }
  const { name, key } = reference.secretRef
  throw new CliError(
    `There is no Secret ${name} with the key ${key} in an encrypted file of the repository. ` +
      'Commit one that sops has encrypted; for the token of a ProviderConfig you can instead declare a Proxmox ' +
      'connection of the same name with token: {env: …} or token: {file: …}.',
  )
}

function fromEnvironment(name: string, env: Environment): Secret {
  const value = env[name]
  if (value === undefined || value.trim() === '') {
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
    const value = await handle.readFile('utf8')
    if (value.trim() === '') throw new CliError(`The secret file ${file} is empty. Write the secret into it.`)
    return new Secret(value)
  } finally {
    await handle.close()
  }
}

/** The age keys that sops itself would use, found in the same places and in the same order. */
export async function ageIdentities(env: Environment, keyFile?: string): Promise<AgeIdentities> {
  const inline = identitiesIn(env.SOPS_AGE_KEY ?? '')
  const config = env.XDG_CONFIG_HOME ?? (env.HOME === undefined ? undefined : path.join(env.HOME, '.config'))
  const files = [
    keyFile,
    env.SOPS_AGE_KEY_FILE,
    config === undefined ? undefined : path.join(config, 'sops', 'age', 'keys.txt'),
  ]
  const found = [...inline]
  for (const file of files) if (file !== undefined && file !== '') found.push(...(await identitiesInFile(file)))
  return [...new Set(found)]
}

/** Chooses the keys for a file of the sources: each source has its own, or the operator's. */
export function sourceKeys(
  env: Environment,
  { sources, age }: Pick<ControllerConfig, 'sources' | 'age'>,
): ReturnType<typeof createSourceKeys> {
  return createSourceKeys(sources, { common: () => ageIdentities(env, age), in: identitiesInFile })
}

async function identitiesInFile(file: string): Promise<AgeIdentities> {
  return identitiesIn(await readFile(file, 'utf8').catch(() => ''))
}

/** Returns the files of the page's users and of API tokens. Default, if the configuration names none. */
export function credentialFiles(env: Environment): { readonly users: string; readonly tokens: string } {
  const inHome = (name: string) => path.join(configHome(env), 'croft', name)
  return {
    users: named(env.CROFT_USERS) ?? inHome('users.json'),
    tokens: named(env.CROFT_TOKENS) ?? inHome('tokens.json'),
  }
}

function named(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : path.resolve(text)
}

function configHome(env: Environment): string {
  const set = env.XDG_CONFIG_HOME
  // XDG: ignore a relative path.
  if (set !== undefined && path.isAbsolute(set)) return set
  const home = homeIn(env)
  if (home === '') throw new CliError('Neither XDG_CONFIG_HOME nor HOME is set. Set one, or name the file with --file.')
  return path.join(home, '.config')
}
