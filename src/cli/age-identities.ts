import { readFile } from 'node:fs/promises'
import path from 'node:path'
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
  for (const file of files) {
    if (file === undefined || file === '') continue
    found.push(...identitiesIn(await readFile(file, 'utf8').catch(() => '')))
  }
  return [...new Set(found)]
}
