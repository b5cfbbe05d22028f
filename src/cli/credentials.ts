import { homedir } from 'node:os'
import path from 'node:path'
import { CliError } from './exit.ts'
import type { Environment } from './runtime.ts'

/** Where the users of the page and the API tokens are, unless the configuration names other files. */
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
  // The XDG rule: a relative path there is to be ignored.
  if (set !== undefined && path.isAbsolute(set)) return set
  const home = env.HOME ?? homedir()
  if (home === '') throw new CliError('Neither XDG_CONFIG_HOME nor HOME is set. Set one, or name the file with --file.')
  return path.join(home, '.config')
}
