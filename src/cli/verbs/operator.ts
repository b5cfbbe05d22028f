import { readFileSync } from 'node:fs'
import path from 'node:path'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import { patience } from '../../kubernetes/patience.ts'
import { defined } from '../../lib/defined.ts'
import { showOrigin } from '../../model/declaration.ts'
import type { NamespaceGrants } from '../../operator/grants.ts'
import { NameTaken } from '../../operator/leases.ts'
import { createOperation } from '../../operator/operate.ts'
import { secretPlace } from '../../operator/secret-place.ts'
import type { VaultReference } from '../../source/secrets/secret-vault.ts'
import { openNamedCluster, textOption } from '../clusters/named-cluster.ts'
import { closing } from '../load.ts'
import { eventLine } from '../render/events.ts'
import { cleanLines } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, UsageError, type Verb } from '../verb.ts'

/** croft with the objects of a cluster as its source: each of several replicas works on its share of them. */
export const run: Verb = async (runtime, _args, options) => {
  const access = await openNamedCluster(runtime, textOption(options.kubeconfig), textOption(options.context))
  await using wire = closing(access.wire)
  const client = createKubernetesClient(wire.it)
  const home = textOption(options.namespace) ?? access.namespace ?? 'croft-system'
  const holder = textOption(options.name) ?? runtime.env.POD_NAME ?? runtime.env.HOSTNAME ?? 'croft'
  const { clock, random } = runtime
  const grants = await grantsIn(runtime, textOption(options.grants), home)
  const warned = new Set<string>()
  const warn = (message: string) => {
    if (warned.size < 1_000 && !warned.has(message)) runtime.err.write(`Warning: ${cleanLines(message)}\n`)
    warned.add(message)
  }
  const over = new AbortController()
  const signal = AbortSignal.any([runtime.signal, over.signal])
  const wait = patience({ clock, random, signal, warn })
  const open = runtime.openKubernetesStore
  const composer = await runtime.openComposer?.()
  if (open === undefined || composer === undefined) throw new CliError('This croft has no store for clusters.')
  const vault = async (reference: VaultReference) => {
    if (!('secretRef' in reference)) return undefined
    const place = secretPlace(reference.secretRef, home)
    if ('refused' in place) throw new CliError(`${place.refused}.`)
    return operation.source.secret(place)
  }
  const state = runtime.env.CROFT_STATE
  const clusterVault = await runtime.openKubernetesVault?.({ client, namespace: home, wait })
  const secrets = {
    directory: runtime.cwd,
    vault,
    ...defined({ state, clusterVault }),
  }
  const { deps } = await runtime.openDrivers(secrets)
  const operation = createOperation({
    client,
    wire: wire.it,
    clock,
    random,
    home,
    grants,
    name: holder,
    wait,
    openStore: (place) => open({ client, namespace: home, random, wait, ...place }),
    openEngine: (store, epoch) => runtime.openEngine(store, { ...secrets, epoch, otherClocks: true }),
    resolveSecret: deps.resolveSecret,
    ownApis: options.ownApis === true,
    composer,
    onEvents(events) {
      for (const event of events) runtime.out.write(`${eventLine(event)}\n`)
    },
    note: (message) => runtime.err.write(`${cleanLines(message)}.\n`),
    warn,
    ...defined({ onCalm: runtime.giveMemoryBack }),
  })
  // A replica that waits for its turn is ready for it.
  await using _health = closing(await healthAt(textOption(options.health), () => operation.source.synced()))
  runtime.err.write(`${holder} takes its share of the shards in ${home}; it reads the kinds of the cluster first.\n`)
  try {
    await operation.run(signal)
  } catch (error) {
    if (error instanceof NameTaken) throw new CliError(`${error.message}.`)
    // After the end, ignore errors of calls that still waited for the API.
    if (!runtime.signal.aborted) throw error
  } finally {
    over.abort()
  }
  return 'stopped'
}

async function grantsIn(runtime: Runtime, file: string | undefined, home: string): Promise<NamespaceGrants> {
  if (file === undefined) return new Map()
  const { readGrants } = await import('../../operator/grants.ts')
  let text: string
  try {
    text = readFileSync(path.resolve(runtime.cwd, file), 'utf8')
  } catch (error) {
    throw new CliError(`--grants: ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}.`)
  }
  const read = readGrants(text, file, home)
  if (!('problems' in read)) return read
  const lines = read.problems.map(
    ({ origin, message, hint }) => `${showOrigin(origin)}: ${message}${hint === undefined ? '' : ` (${hint})`}`,
  )
  throw new UsageError(`The grants cannot be used:\n${lines.join('\n')}\nCorrect them, or see docs/operator.md.`)
}

async function healthAt(address: string | undefined, isReady: () => boolean) {
  if (address === undefined) return { close: async () => {} }
  const { serveHealth } = await import('../../operator/health.ts')
  try {
    return await serveHealth(address, isReady)
  } catch (error) {
    throw new CliError(`--health: ${error instanceof Error ? error.message : String(error)}.`)
  }
}
