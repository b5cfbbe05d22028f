import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { COMPILED } from '../compiled.ts'
import { hostsYaml } from './keep.ts'
import type { Lab } from './lab.ts'

export const CROFT = join(import.meta.dirname, '../../bin/croft')

/** The real program as a person runs it, inside the lab. */
export function croft(
  one: Lab,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): SpawnSyncReturns<string> {
  return spawnSync(CROFT, ['host', ...words], { ...personIn(one, env), encoding: 'utf8' })
}

/** Where a person stands, and what is around. */
export function personIn(one: Lab, env: Readonly<Record<string, string>> = {}) {
  return {
    timeout: 200_000,
    cwd: one.directory,
    env: {
      ...COMPILED,
      ...one.env,
      CROFT_STATE: join(one.directory, 'croft.db'),
      XDG_CACHE_HOME: join(one.directory, 'cache'),
      XDG_STATE_HOME: join(one.directory, 'state'),
      ...env,
    },
  }
}

/** The lab's hosts, and a small configuration of the first, as a directory of Git. */
export function declared(one: Lab): string {
  const git = join(one.directory, 'git')
  mkdirSync(git, { recursive: true })
  writeFileSync(join(git, 'hosts.yaml'), hostsYaml(one))
  writeFileSync(
    join(git, 'config.yaml'),
    'apiVersion: croft.dev/v1alpha1\nkind: HostConfig\nmetadata: {name: c}\nspec:\n  hosts: [cow]\n  files:\n    - {path: /etc/motd, content: "new line\\n"}\n',
  )
  return git
}
