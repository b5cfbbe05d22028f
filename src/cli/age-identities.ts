import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { ControllerConfig } from '../controller/config.ts'
import { createSourceKeys } from '../controller/source-keys.ts'
import { type AgeIdentities, identitiesIn } from '../source/sops-file.ts'
import type { Environment } from './runtime.ts'

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

/** Which keys open a file of a configuration's sources: each source has its own, or those of whoever runs croft. */
export function sourceKeys(
  env: Environment,
  { sources, age }: Pick<ControllerConfig, 'sources' | 'age'>,
): ReturnType<typeof createSourceKeys> {
  return createSourceKeys(sources, { common: () => ageIdentities(env, age), in: identitiesInFile })
}

async function identitiesInFile(file: string): Promise<AgeIdentities> {
  return identitiesIn(await readFile(file, 'utf8').catch(() => ''))
}
