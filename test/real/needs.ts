import { spawnSync } from 'node:child_process'
import { ensurePackages, LIBVIRT_PACKAGES } from '../../scripts/packages.ts'

/** Why the real test cannot run here; undefined when it can. Installs what is missing where that is allowed. */
export function cannotRun(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it needs Linux on amd64'
  if (process.getuid?.() !== 0) return 'it needs root'
  const namespaces = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', '--mount-proc', 'true'])
  if (namespaces.status !== 0) return 'this kernel lets us make no namespaces'
  const missing = ensurePackages(LIBVIRT_PACKAGES)
  return missing.length === 0 ? undefined : `these packages are missing: ${missing.join(' ')}`
}
