import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { EXIT } from './cli/exit.ts'
import { runCli } from './cli/run.ts'
import type {
  EngineOptions,
  Enrolment,
  FollowedRepository,
  LoadedEstate,
  ObservedConnection,
  RunningSimulator,
  Runtime,
  SimulatorOptions,
  Terminal,
} from './cli/runtime.ts'
import type { Rehearsed } from './controller/rehearse.ts'
import type { Driver, DriverDeps } from './drivers/port.ts'
import type { PowerDriver } from './drivers/power-port.ts'
import type { ClusterTools } from './engine/clusters/sessions.ts'
import type { Engine } from './engine/engine.ts'
import { type Clock, systemClock } from './lib/clock.ts'
import { LIMITS } from './lib/limits.ts'
import type { ClusterLook } from './model/cluster-look.ts'
import type { ClusterSecrets } from './model/cluster-secrets.ts'
import type { Estate } from './model/estate.ts'
import type { ResourceRecord } from './model/record.ts'
import type { Datacentre } from './sim/datacentre.ts'
import type { Revision } from './source/revision.ts'
import type { SecretVault } from './source/secret-vault.ts'
import type { Store } from './store/port.ts'

/** The only file that knows every implementation. Each is imported when something asks for it, not before. */
function createRuntime(signal: AbortSignal): Runtime {
  const err = terminal(process.stderr)
  const warn = (message: string) => err.write(`Warning: ${message}\n`)
  return {
    version: packageVersion(),
    out: terminal(process.stdout),
    err,
    env: process.env,
    cwd: process.cwd(),
    interactive: process.stdin.isTTY === true && process.stderr.isTTY === true,
    clock: systemClock,
    random: { next: () => Math.random() },
    signal,
    example: fileURLToPath(new URL('../examples/homelab', import.meta.url)),
    ask: (question) => ask(question, signal),
    askSecret: (question) => askSecret(question, signal),
    sendDatagram: async (address, port, bytes) =>
      (await import('./lib/datagram.ts')).sendDatagram(address, port, bytes),
    enrolment: openEnrolment,
    kinds: async () => (await import('./kinds/registry.ts')).KINDS,
    jsonSchema: jsonSchemaOf,
    load,
    loadAt,
    follow,
    openStore: async (file) => (await import('./store/sqlite.ts')).openSqliteStore(file, { warn }),
    lockState: async (file) => {
      const { mkdirSync } = await import('node:fs')
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      const owner = { pid: process.pid, host: hostname(), sinceMs: Date.now() }
      return (await import('./store/sqlite-lock.ts')).lockDatabase(file, owner)
    },
    takeSchemaBack: async (file) => (await import('./store/sqlite-down.ts')).takeSchemaBack(file),
    parseYaml: async (text) => (await import('yaml')).parse(text) as unknown,
    openMemoryStore: async () => (await import('./store/memory.ts')).createMemoryStore(),
    openEngine: (store, options) => openEngine(store, options, warn),
    openClusters: async (options) => openClusters(options, await driverDepsFor(options, warn)),
    openDrivers: async (options) => ({ drivers: await loadDrivers(), deps: await driverDepsFor(options, warn) }),
    rehearse: (estate, observed, records, looks) => rehearseOnTwin(estate, observed, records, looks ?? [], signal),
    startSimulator,
  }
}

async function load(directory: string): Promise<LoadedEstate> {
  const [{ readTree }, { cacheDirectory }] = await Promise.all([
    import('./source/read-tree.ts'),
    import('./cli/state.ts'),
  ])
  const cacheDir = cacheDirectory(process.env)
  return linked(await readTree(directory, cacheDir === undefined ? {} : { cacheDir }))
}

async function loadAt(directory: string, ref: string): Promise<LoadedEstate> {
  const [{ readCommit, resolveCommit }, { runGit }] = await Promise.all([
    import('./source/git.ts'),
    import('./source/git-run.ts'),
  ])
  const below = (await runGit({ directory, arguments: ['rev-parse', '--show-prefix'] })).toString('utf8').trim()
  const commit = await resolveCommit(directory, ref)
  return linked(await readCommit(directory, commit, below === '' ? {} : { path: below }))
}

async function linked(read: Revision): Promise<LoadedEstate> {
  const [{ link }, { findKind }, { withFetched }] = await Promise.all([
    import('./plan/link.ts'),
    import('./kinds/registry.ts'),
    import('./source/fetched.ts'),
  ])
  const revision = await withFetched(read, new Map())
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  return { declarations: revision.declarations, estate, files: revision.files, ignored: revision.ignored.length }
}

async function follow(remote: string, mirror: string): Promise<FollowedRepository> {
  const { followRepository } = await import('./source/repository.ts')
  const followed = followRepository({ remote, mirror, ref: 'main', allowLocal: true })
  return {
    async look(signal) {
      const seen = await followed.look(signal)
      return seen.is === 'new' ? linked(seen.revision) : undefined
    },
  }
}

async function jsonSchemaOf(name: string | undefined): Promise<unknown> {
  const [{ jsonSchema }, { kindNamed }] = await Promise.all([
    import('./kinds/json-schema.ts'),
    import('./kinds/registry.ts'),
  ])
  return jsonSchema(name === undefined ? undefined : kindNamed(name))
}

type Warn = (message: string) => void

async function openEngine(store: Store, options: EngineOptions, warn: Warn): Promise<Engine> {
  const [{ createEngine }, drivers, plain, { kubernetesWay }] = await Promise.all([
    import('./engine/create.ts'),
    loadDrivers(),
    driverDepsFor(options, warn),
    import('./drivers/k3s/kubernetes-way.ts'),
  ])
  const driverDeps: DriverDeps = {
    ...plain,
    kubernetes({ cluster, name }) {
      if (cluster === undefined) throw new Error(`${name} is no cluster`)
      return kubernetesWay(cluster, async () => (await openClusters(options, plain)).deps)
    },
  }
  return createEngine({
    clock: driverDeps.clock,
    random: driverDeps.random,
    store,
    drivers,
    driverDeps,
    clusters: () => openClusters(options, driverDeps),
    power: () => openPower(driverDeps),
    ...(options.retryStalled === undefined ? {} : { retryStalled: options.retryStalled }),
    ...(options.epoch === undefined ? {} : { epoch: options.epoch }),
  })
}

/** How K3s clusters are reached: their APIs, the boxes under them, and the vault that holds what makes them themselves. */
async function openClusters(options: EngineOptions, driverDeps: DriverDeps): Promise<ClusterTools> {
  const [{ createK3sDriver }, { openAgeVault }, { openTlsWire }, { proxyFor }, { vaultDirectory }, { randomBytes }] =
    await Promise.all([
      import('./drivers/k3s/driver.ts'),
      import('./vault/age-vault.ts'),
      import('./lib/tls-wire.ts'),
      import('./lib/tunnel.ts'),
      import('./cli/state.ts'),
      import('node:crypto'),
    ])
  const env = options.env ?? process.env
  const timeouts = { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs }
  return {
    driver: createK3sDriver(),
    deps: {
      clock: driverDeps.clock,
      vault: openAgeVault({ directory: vaultDirectory(env, options.directory, options.state), env }),
      randomBytes: (count) => randomBytes(count),
      openKubernetes({ endpoint, caPem, certificatePem, key, proxy = proxyFor(endpoint, env) }) {
        return openTlsWire({
          endpoint,
          authority: caPem,
          client: { certificate: certificatePem, key: key.reveal() },
          maxSockets: LIMITS.clusterSockets,
          timeouts,
          ...(proxy === undefined ? {} : { proxy }),
        })
      },
      resolveSecret: driverDeps.resolveSecret,
      fetchText: (url, signal) => fetchText(url, signal),
      ask: async (probe, signal) => {
        const { networkProbes } = await import('./controller/probes.ts')
        return networkProbes(driverDeps.resolveSecret)(probe, signal)
      },
    },
    ...(driverDeps.openShell === undefined ? {} : { openShell: driverDeps.openShell }),
  }
}

/** What switches hosts: magic packets, management controllers, and the UPS that says how long there is still power. */
async function openPower(driverDeps: DriverDeps): Promise<PowerDriver> {
  const [{ createPowerDriver }, { exchangeLines }, { sendDatagram }, { openTlsWire }] = await Promise.all([
    import('./drivers/power/driver.ts'),
    import('./drivers/power/line-exchange.ts'),
    import('./lib/datagram.ts'),
    import('./lib/tls-wire.ts'),
  ])
  const timeouts = { connectMs: LIMITS.connectTimeoutMs, requestMs: LIMITS.requestTimeoutMs }
  return createPowerDriver({
    clock: driverDeps.clock,
    sendDatagram,
    exchangeLines,
    openBmc: ({ address, port, fingerprint }) =>
      openTlsWire({
        endpoint: `https://${address.includes(':') ? `[${address}]` : address}:${port}`,
        maxSockets: 2,
        timeouts,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      }),
    resolveSecret: driverDeps.resolveSecret,
    ...(driverDeps.openShell === undefined ? {} : { openShell: driverDeps.openShell }),
  })
}

/** A small text file of the place that releases come from. */
async function fetchText(url: string, signal: AbortSignal): Promise<string> {
  const timeout = AbortSignal.timeout(LIMITS.requestTimeoutMs)
  const response = await fetch(url, { signal: AbortSignal.any([signal, timeout]), redirect: 'follow' })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const text = await response.text()
  if (text.length > LIMITS.checksumFileBytes) throw new Error(`${url} is larger than a file of checksums`)
  return text
}

async function loadDrivers(): Promise<readonly Driver[]> {
  const [{ proxmoxDriver }, { libvirtDriver }, { sshDriver }, { kubernetesDriver }] = await Promise.all([
    import('./drivers/proxmox/driver.ts'),
    import('./drivers/libvirt/driver.ts'),
    import('./drivers/ssh/driver.ts'),
    import('./drivers/kubernetes/driver.ts'),
  ])
  return [proxmoxDriver, libvirtDriver, sshDriver, kubernetesDriver]
}

async function driverDepsFor(options: EngineOptions, warn: Warn): Promise<DriverDeps> {
  const [{ openTlsWire }, { resolveSecret }, { createShells }] = await Promise.all([
    import('./lib/tls-wire.ts'),
    import('./cli/secrets.ts'),
    import('./ssh/open.ts'),
  ])
  const env = options.env ?? process.env
  const vault = options.vault ?? directoryVault(options.directory, env)
  const sources = { env, directory: options.directory, warn, vault }
  const random = { next: () => Math.random() }
  // Connections to other computers live in real time, whatever clock the engine runs on.
  const shells = createShells({
    env: sources.env,
    clock: systemClock,
    random,
    resolveSecret: (reference) => resolveSecret(reference, sources),
  })
  return {
    clock: options.clock ?? systemClock,
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
    lookAtCertificate: async ({ endpoint }, signal) =>
      (await import('./lib/tls-certificate.ts')).lookAtCertificate(endpoint, {
        timeoutMs: LIMITS.connectTimeoutMs,
        signal,
      }),
  }
}

/** Encrypted files of a directory, read when the first of them is asked for. */
function directoryVault(
  directory: string,
  env: NonNullable<EngineOptions['env']>,
): NonNullable<EngineOptions['vault']> {
  let opening: Promise<SecretVault> | undefined
  return async (reference) => {
    opening ??= openDirectoryVault(directory, env)
    return (await opening).find(reference)
  }
}

async function openDirectoryVault(directory: string, env: NonNullable<EngineOptions['env']>): Promise<SecretVault> {
  const [{ readTree }, { openVault }, { ageIdentities }] = await Promise.all([
    import('./source/read-tree.ts'),
    import('./source/secret-vault.ts'),
    import('./cli/age-identities.ts'),
  ])
  const revision = await readTree(directory)
  return openVault(
    revision,
    async (file) => revision.read?.(file),
    () => ageIdentities(env),
  )
}

/** A twin of each connection, the real engine and drivers, and a store that knows what the real one knows. */
async function rehearseOnTwin(
  estate: Estate,
  observed: readonly ObservedConnection[],
  records: readonly ResourceRecord[],
  looks: readonly ClusterLook[],
  signal: AbortSignal,
): Promise<Rehearsed> {
  const [
    { createVirtualClock },
    { createTwin },
    { simWire },
    { seededRandom },
    { createMemoryStore },
    { createEngine },
  ] = await Promise.all([
    import('./sim/virtual-clock.ts'),
    import('./sim/twin.ts'),
    import('./sim/wire.ts'),
    import('./lib/random.ts'),
    import('./store/memory.ts'),
    import('./engine/create.ts'),
  ])
  const [{ rehearse }, { Secret }, { firstAct, secondAct, withoutNodes }] = await Promise.all([
    import('./controller/rehearse.ts'),
    import('./model/secret.ts'),
    import('./controller/rehearse-clusters.ts'),
  ])
  const clock = createVirtualClock(Date.now())
  const random = seededRandom(1)
  const twins = new Map(
    observed.map(({ connection, survey, close }) => [
      connection,
      createTwin(withoutNodes(survey, estate, looks), close, { clock, random }),
    ]),
  )
  const twinOf = (name: string) => {
    const twin = twins.get(name)
    if (twin === undefined) throw new Error(`${name} has no twin`)
    return twin
  }
  const store = createMemoryStore()
  const epoch = await store.beginEpoch()
  const before = firstAct(estate, looks)
  await store.putRecords(
    epoch,
    records.filter(({ key }) => !before.keys.has(key)),
  )
  if (records.length > 0) await store.markComplete(epoch)
  const engine = createEngine({
    clock,
    random,
    store,
    epoch,
    drivers: await loadDrivers(),
    driverDeps: {
      clock,
      random,
      openWire: ({ name }) => simWire(twinOf(name)),
      // The twin asks for its own token; other secrets are never sent anywhere real.
      resolveSecret: async () => new Secret([...twins.values()][0]?.token ?? ''),
    },
    clusters: () => twinClusters([...twins.values()], clock),
  })
  // A machine may get another name on the way: it is told by the one that it has now.
  const names = new Map(
    observed.flatMap(({ survey }) =>
      withoutNodes(survey, estate, looks).sightings.map((one) => [Number(one.externalId), one.name ?? one.externalId]),
    ),
  )
  const running = () =>
    [...twins.values()].flatMap(({ world }) =>
      [...world.guests.values()]
        .filter(({ run }) => run.status === 'running')
        .map(({ vmid, config }) => names.get(vmid) ?? config.get('name') ?? String(vmid)),
    )
  const runUntil = <T>(promise: Promise<T>) => clock.runUntil(promise, { maxMs: 2 * LIMITS.rehearsalMs })
  // What runs inside of nodes cannot be seen from outside, so clusters that stand are formed anew in the twin first.
  if (before.estate !== undefined)
    for (let round = 0; round < 2; round++) {
      await runUntil(engine.settle(before.estate, { signal, deadlineMs: LIMITS.rehearsalMs }))
      // What has just joined takes its time to be steady; a rehearsal begins where nothing moves.
      await runUntil(clock.sleep(LIMITS.rehearsalRestMs, signal))
    }
  const etcd = await import('./sim/k3s/etcd.ts')
  const voters = () =>
    [...twins.values()].flatMap(({ world }) =>
      [...world.k3s.clusters.values()].flatMap((cluster) =>
        etcd
          .voters(cluster)
          .map((member) => ({ node: member.name.replace(/-[0-9a-f]{8}$/, ''), up: etcd.isConnected(member) })),
      ),
    )
  return rehearse(engine, { clock, runUntil, running, voters }, secondAct(estate), signal)
}

/** The ways to clusters that are simulated in twins. */
async function twinClusters(twins: readonly Datacentre[], clock: Clock): Promise<ClusterTools> {
  const [
    { createK3sDriver },
    { kubernetesWire },
    { serverAt },
    { hostOf },
    { releaseChecksum },
    { Secret },
    { randomBytes },
  ] = await Promise.all([
    import('./drivers/k3s/driver.ts'),
    import('./sim/kubernetes/wire.ts'),
    import('./sim/k3s/network.ts'),
    import('./sim/k3s/network.ts'),
    import('./sim/k3s/install.ts'),
    import('./model/secret.ts'),
    import('node:crypto'),
  ])
  const kept = new Map<string, ClusterSecrets>()
  return {
    driver: createK3sDriver(),
    deps: {
      clock,
      vault: {
        read: async (name) => kept.get(name),
        write: async (secrets) => void kept.set(secrets.cluster, secrets),
      },
      randomBytes: (count) => randomBytes(count),
      openKubernetes(target) {
        const host = hostOf(target.endpoint)
        const wireTo = () => {
          const twin = twins.find(({ world }) => serverAt(world, host) !== undefined) ?? twins[0]
          if (twin === undefined) throw new Error('there is no twin')
          return kubernetesWire(twin.world, target)
        }
        return { send: (request, stop) => wireTo().send(request, stop), close: async () => {} }
      },
      resolveSecret: async () => new Secret(''),
      async fetchText(url) {
        const version = decodeURIComponent(/\/(v[^/]+)\/sha256sum-/.exec(url)?.[1] ?? '')
        return ['k3s', 'k3s-arm64'].map((name) => `${releaseChecksum(version)}  ${name}\n`).join('')
      },
    },
  }
}

async function startSimulator(options: SimulatorOptions): Promise<RunningSimulator> {
  return (await import('./sim/serve.ts')).startSimulator(options)
}

function terminal(stream: NodeJS.WriteStream): Terminal {
  return {
    write: (text) => void stream.write(text),
    isTty: stream.isTTY === true,
    get columns() {
      // A terminal that does not know its width says 0.
      return stream.columns || 80
    },
  }
}

/** Undefined when the person ended the input or pressed Ctrl-C instead of answering. */
async function ask(question: string, signal: AbortSignal): Promise<string | undefined> {
  const { createInterface } = await import('node:readline/promises')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await lines.question(question, { signal })).trim()
  } catch {
    return undefined
  } finally {
    lines.close()
  }
}

/** The terminal shows nothing of what is typed. Undefined where nobody is at one. */
async function askSecret(question: string, signal: AbortSignal): Promise<string | undefined> {
  if (process.stdin.isTTY !== true) return undefined
  const { createInterface } = await import('node:readline/promises')
  const { Writable } = await import('node:stream')
  process.stderr.write(question)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: true })
  try {
    return await lines.question('', { signal })
  } catch {
    return undefined
  } finally {
    lines.close()
    process.stderr.write('\n')
  }
}

async function openEnrolment(): Promise<Enrolment> {
  const { ensureKey, installKey, shownHostKeys } = await import('./ssh/enrol.ts')
  const tools = { env: process.env, clock: systemClock }
  return {
    shownHostKeys: (address, port) => shownHostKeys(address, port, tools),
    ensureKey,
    installKey: (target, publicKey, password) => installKey(target, publicKey, password, tools),
  }
}

function packageVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The first asks everything to end in good order; a second one means it.
    if (stop.signal.aborted) process.exit(name === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted)
    stop.abort(name)
  })
}
// The launcher is gone without a word: whoever killed it meant us. Otherwise a second run would meet a first.
if (process.channel !== undefined) {
  process.once('disconnect', () => process.exit(EXIT.failed))
  process.channel.unref()
}
for (const stream of [process.stdout, process.stderr]) {
  // `croft get | head` closes our output: that is no error.
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed))
}
process.on('unhandledRejection', (error) => {
  const debug = process.env.CROFT_LOG === 'debug' && error instanceof Error
  process.stderr.write(`Error: ${debug ? error.stack : error instanceof Error ? error.message : String(error)}\n`)
  process.stderr.write('This was not expected. Run it again with CROFT_LOG=debug to see where it happened.\n')
  process.exit(EXIT.failed)
})
const code = await runCli(process.argv.slice(2), createRuntime(stop.signal))
// A pipe takes 64 KiB at a time: ending now would cut off the rest of a large plan.
await Promise.all(
  [process.stdout, process.stderr].map((stream) => new Promise<void>((done) => stream.write('', () => done()))),
)
process.exit(code)
