import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Facts about K3s beside the repository; undefined in a user's clone, where the tests that need them are skipped. */
export function sharedK3s(name: string): string | undefined {
  const path = join(import.meta.dirname, '../../../../shared/k3s', name)
  return existsSync(path) || process.env.CI !== undefined ? path : undefined
}
