import { createKubernetesClient } from '../../kubernetes/client.ts'
import { patience } from '../../kubernetes/patience.ts'
import { createClusterSource } from '../../operator/cluster-source.ts'
import { acquireLease, type HeldLease } from '../../operator/lease.ts'
import { createOperator } from '../../operator/operator.ts'
import type { VaultReference } from '../../source/secret-vault.ts'
import { cleanLines } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { closing } from '../state.ts'
import { CliError, type Options, type Verb } from '../verb.ts'

const STORE = 'croft-state'
const LEASE = 'croft-operator'

/** croft with the objects of a cluster as its source: one of several replicas works, the others wait. */
export const run: Verb = async (runtime, _args, options) => {
  const access = await opened(runtime, options)
  await using wire = closing(access.wire)
  const client = createKubernetesClient(wire.it)
  const home = text(options.namespace) ?? access.namespace ?? 'croft-system'
  const holder = text(options.name) ?? runtime.env.POD_NAME ?? runtime.env.HOSTNAME ?? 'croft'
  const { clock, random } = runtime
  const warned = new Set<string>()
  const warn = (message: string) => {
    if (warned.size < 1_000 && !warned.has(message)) runtime.err.write(`Warning: ${cleanLines(message)}\n`)
    warned.add(message)
  }
  let poke = () => {}
  const over = new AbortController()
  const signal = AbortSignal.any([runtime.signal, over.signal])
  const wait = patience({ clock, random, signal, warn })
  const source = createClusterSource({ client, wire: wire.it, clock, random, home, wait, onChange: () => poke(), warn })
  let leads = false
  const address = text(options.health)
  // A replica that waits for its turn is ready for it.
  await using _health = closing(await healthAt(address, () => !leads || source.synced()))
  runtime.err.write(`Waiting for the Lease ${home}/${LEASE} as ${holder}.\n`)
  const lease = await acquireLease({ client, clock, namespace: home, name: LEASE, holder }, runtime.signal)
  if (lease === undefined) return 'stopped'
  leads = true
  runtime.err.write(`${holder} holds the Lease ${home}/${LEASE}.\n`)

  if (runtime.openKubernetesStore === undefined) throw new CliError('This croft has no store for clusters.')
  await using store = closing(await runtime.openKubernetesStore({ client, namespace: home, name: STORE, random, wait }))
  const epoch = await store.it.beginEpoch()
  const vault = async (reference: VaultReference) => {
    if (!('secretRef' in reference)) return undefined
    const { name, key, namespace = home } = reference.secretRef
    return source.secret({ name, key, namespace })
  }
  const state = runtime.env.CROFT_STATE
  const secrets = { directory: runtime.cwd, vault, ...(state === undefined ? {} : { state }) }
  await using engine = closing(await runtime.openEngine(store.it, { ...secrets, epoch }))
  const { deps } = await runtime.openDrivers(secrets)
  const operator = await createOperator({
    clock,
    store: store.it,
    epoch,
    engine: engine.it,
    source,
    resolveSecret: deps.resolveSecret,
    back: { client, home, name: holder, warn },
  })
  poke = () => operator.poke('cluster')
  operator.subscribe((_view, events) => {
    for (const { atMs, key, reason, message } of events)
      runtime.out.write(`${cleanLines(`${new Date(atMs).toISOString()} ${key ?? '-'} ${reason}: ${message}`)}\n`)
  })
  return await lead(runtime, lease, over, () => Promise.all([source.run(signal), operator.run(signal)]))
}

/** Works for as long as the Lease is ours. Whoever loses it ends: a new process begins a new epoch. */
async function lead(runtime: Runtime, lease: HeldLease, over: AbortController, work: () => Promise<unknown>) {
  const keeping = lease.keep(AbortSignal.any([runtime.signal, over.signal])).then(() => over.abort())
  try {
    await work()
  } catch (error) {
    // What waited for the API when the end came has nothing more to say.
    if (!runtime.signal.aborted && !over.signal.aborted) throw error
  } finally {
    over.abort()
    await keeping
  }
  if (!runtime.signal.aborted)
    throw new CliError('The Lease was lost: another replica works now. Start this one again to wait for it.')
  await lease.release()
  return 'stopped' as const
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

async function opened(runtime: Runtime, options: Options) {
  const kubeconfig = text(options.kubeconfig)
  const context = text(options.context)
  const access = await runtime.openCluster?.({
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  })
  if (access === undefined) throw new CliError('This croft knows no clusters.')
  if ('problem' in access) throw new CliError(`The cluster cannot be reached: ${access.problem}.`)
  return access
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
