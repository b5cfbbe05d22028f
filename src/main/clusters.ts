import { statSync } from 'node:fs'
import path from 'node:path'
import type { EngineOptions } from '../cli/runtime.ts'
import type { DriverDeps } from '../drivers/port.ts'
import type { ClusterTools } from '../engine/clusters/sessions.ts'
import { LIMITS } from '../lib/limits.ts'
import { addressOf, askFollowing, egressFromHere, lookupElsewhere, type PermittedPlace } from '../lib/outgoing.ts'
import { readIfThere } from '../lib/read-if-there.ts'
import { whyFetchFailed } from '../lib/why-fetch-failed.ts'

/** Opens access to K3s clusters: their APIs, the boxes under them, and the vault with their identities. */
export async function openClusters(options: EngineOptions, driverDeps: DriverDeps): Promise<ClusterTools> {
  const [
    { createK3sDriver },
    { openAgeVault, escrowFile },
    { openTlsWire },
    { proxyFor },
    { vaultDirectory },
    { randomBytes },
  ] = await Promise.all([
    import('../drivers/k3s/driver.ts'),
    import('../vault/age-vault.ts'),
    import('../lib/tls-wire.ts'),
    import('../lib/tunnel.ts'),
    import('../state/state-file.ts'),
    import('node:crypto'),
  ])
  const env = options.env ?? process.env
  const timeouts = { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs }
  return {
    driver: createK3sDriver(),
    deps: {
      clock: driverDeps.clock,
      vault:
        options.clusterVault ??
        openAgeVault({
          directory: vaultDirectory(env, options.directory, options.state),
          env,
          escrow: (cluster) => (options.fileOfEstate ?? fileIn(options.directory))(escrowFile(cluster)),
        }),
      randomBytes: (count) => randomBytes(count),
      openKubernetes({ endpoint, caPem, certificatePem, key, egress, ...named }) {
        const { proxy = proxyFor(endpoint, env) } = named
        // The proxy of croft's own environment is the administrator's.
        const isHeld = egress !== undefined && named.proxy !== undefined
        return openTlsWire({
          endpoint,
          authority: caPem,
          client: { certificate: certificatePem, key: key.reveal() },
          maxSockets: LIMITS.clusterSockets,
          timeouts,
          ...(proxy === undefined ? {} : { proxy }),
          ...(egress === undefined ? {} : { lookup: lookupElsewhere }),
          ...(isHeld
            ? {
                proxyAddress: (host: string, port: number) => addressOf(host, port, { egress: egressFromHere(egress) }),
              }
            : {}),
        })
      },
      resolveSecret: driverDeps.resolveSecret,
      fetchText,
      listBucket: async (...asked) => (await import('./s3-bucket.ts')).listBucket(...asked),
    },
    ...(driverDeps.openShell === undefined ? {} : { openShell: driverDeps.openShell }),
  }
}

/** A file of the estate. If a configuration takes the place of a directory, a file of one of its sources. */
function fileIn(place: string): (file: string) => Promise<string | undefined> {
  return async (file) => {
    if (statSync(place, { throwIfNoEntry: false })?.isFile() !== true)
      return (await readIfThere(path.join(place, file)))?.toString('utf8')
    const { sourcesAt } = await import('./configured-sources.ts')
    return (await sourcesAt(place)).revision.read?.(file)
  }
}

/** A small text file of the place that releases come from. Not a byte more is taken than such a file has. */
async function fetchText(place: PermittedPlace, signal: AbortSignal): Promise<string> {
  const { bytes } = await askFollowing(place, { mostBytes: LIMITS.checksumFileBytes, signal }).catch(
    (error: unknown): never => {
      throw new Error(whyFetchFailed(error))
    },
  )
  return Buffer.from(bytes).toString('utf8')
}
