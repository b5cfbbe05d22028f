import type { EngineOptions } from '../cli/runtime.ts'
import type { Driver, DriverDeps } from '../drivers/port.ts'
import { systemClock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { SecretVault } from '../source/secrets/secret-vault.ts'
import { programClock } from './clock.ts'
import { cagedExpressions } from './expressions.ts'

export type Warn = (message: string) => void

export async function loadDrivers(): Promise<readonly Driver[]> {
  const [{ proxmoxDriver }, { libvirtDriver }, { sshDriver }, { kubernetesDriver }] = await Promise.all([
    import('../drivers/proxmox/driver.ts'),
    import('../drivers/libvirt/driver.ts'),
    import('../drivers/ssh/driver.ts'),
    import('../drivers/kubernetes/driver.ts'),
  ])
  return [proxmoxDriver, libvirtDriver, sshDriver, kubernetesDriver]
}

export async function driverDepsFor(options: EngineOptions, warn: Warn): Promise<DriverDeps> {
  const [{ openTlsWire }, { resolveSecret }, { createShells }] = await Promise.all([
    import('../lib/tls-wire.ts'),
    import('../state/secrets.ts'),
    import('../ssh/open.ts'),
  ])
  const env = options.env ?? process.env
  const vault = options.vault ?? directoryVault(options.directory, env)
  const sources = { env, directory: options.directory, warn, vault }
  const random = { next: () => Math.random() }
  // Connections to other computers use real time, on any clock of the engine.
  const shells = createShells({
    env: sources.env,
    clock: systemClock,
    random,
    resolveSecret: (reference) => resolveSecret(reference, sources),
  })
  return {
    clock: options.clock ?? programClock,
    random,
    openShell: (target) => shells.open(target),
    openWire: ({ endpoint, fingerprint, limits }) =>
      openTlsWire({
        endpoint,
        ...(fingerprint === undefined ? {} : { fingerprint }),
        maxSockets: limits.reads,
        timeouts: { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs },
      }),
    resolveSecret: (reference) => resolveSecret(reference, sources),
    expressions: cagedExpressions,
    lookAtCertificate: async ({ endpoint }, signal) =>
      (await import('../lib/tls-certificate.ts')).lookAtCertificate(endpoint, {
        timeoutMs: LIMITS.connectTimeoutMs,
        signal,
      }),
  }
}

/** Opens encrypted files of a directory on first use. */
function directoryVault(
  directory: string,
  env: NonNullable<EngineOptions['env']>,
): NonNullable<EngineOptions['vault']> {
  let opening: Promise<SecretVault> | undefined
  return async (reference) => {
    opening ??= openDirectoryVault(directory, env)
    return (await opening).locate(reference)
  }
}

async function openDirectoryVault(directory: string, env: NonNullable<EngineOptions['env']>): Promise<SecretVault> {
  const [{ sourcesAt }, { openVault }, { ageIdentities, sourceKeys }] = await Promise.all([
    import('./configured-sources.ts'),
    import('../source/secrets/secret-vault.ts'),
    import('../state/secrets.ts'),
  ])
  const { revision, config } = await sourcesAt(directory)
  return openVault(
    revision,
    async (file) => revision.read?.(file),
    config === undefined ? () => ageIdentities(env) : sourceKeys(env, config),
  )
}
