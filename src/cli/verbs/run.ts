import { readFileSync } from 'node:fs'
import path from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createAdopter } from '../../controller/adopter.ts'
import { createChecks } from '../../controller/checks.ts'
import { ConfigError, type ControllerConfig, type Overrides, readConfig } from '../../controller/config.ts'
import { createController, type RunningController } from '../../controller/controller.ts'
import { sendToForge } from '../../controller/forge-send.ts'
import { linkingRevision } from '../../controller/link-revision.ts'
import { metricsText } from '../../controller/metrics.ts'
import { createNotifier } from '../../controller/notifier.ts'
import { hookedSources, openSources, previewedSources, writableSources } from '../../controller/open-sources.ts'
import { createOrders } from '../../controller/orders.ts'
import { openOutbox } from '../../controller/outbox.ts'
import { createPreviews } from '../../controller/previews.ts'
import { missingSecrets, withoutMissing } from '../../controller/secret-check.ts'
import { SECRET_PRINTS } from '../../controller/secret-prints.ts'
import type { DriverDeps } from '../../drivers/port.ts'
import { findKind } from '../../kinds/registry.ts'
import { systemClock } from '../../lib/clock.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Estate } from '../../model/estate.ts'
import type { CroftEvent } from '../../model/event.ts'
import { referencesIn } from '../../model/secret.ts'
import { link, linking } from '../../plan/link.ts'
import type { RunningServer } from '../../server/options.ts'
import { createWorkerReader } from '../../source/apart/reader.ts'
import { openVault, type SecretVault, type VaultReference } from '../../source/secret-vault.ts'
import { createWebhookDoor } from '../../source/webhook.ts'
import type { Store } from '../../store/port.ts'
import { sourceKeys } from '../age-identities.ts'
import { closing } from '../closing.ts'
import { takeSnapshot } from '../clusters/snapshot-now.ts'
import { credentialFiles } from '../credentials.ts'
import { asKnown } from '../estate-files.ts'
import { CliError, UsageError } from '../exit.ts'
import { oidcOf } from '../oidc-options.ts'
import { cleanLines } from '../render/clean.ts'
import { eventJson } from '../render/events.ts'
import { PLAN_MARK, planMarkdown } from '../render/plan-markdown.ts'
import type { Runtime } from '../runtime.ts'
import { shownPlan } from '../saved-plan.ts'
import { ensureSecretKey, noticeSecrets } from '../secret-key.ts'
import { openState, sourcesIdentity, stateFile } from '../state.ts'
import { noteEstate } from '../state-folder.ts'
import type { Verb } from '../verb.ts'

const WAIT_FOR_LOCK_MS = 1_000
const PREVIEWED = 'controller/previewed'

/** The controller: follows Git, keeps everything as it says, serves the page, until it is told to stop. */
export const run: Verb = async (runtime, [source], options) => {
  const config = await configOf(runtime, source, options)
  const file = stateFile(runtime.env, sourcesIdentity(config.sources), config.state)
  const release = await lockOrStop(runtime, file, options.wait === true)
  await using _ = { [Symbol.asyncDispose]: async () => release() }
  await using store = closing(await openState(runtime, file))
  const epoch = await store.it.beginEpoch()
  const records = await store.it.records()
  noteEstate(file, sourcesIdentity(config.sources))
  const told = new Set<string>()
  const tellOnce = (text: string) => {
    if (!told.has(text)) runtime.err.write(`${text}\n`)
    told.add(text)
  }
  const data = path.dirname(file)
  const keys = sourceKeys(runtime.env, config)
  let vault: SecretVault | undefined
  let fileOfEstate = async (_file: string): Promise<string | undefined> => undefined
  let needsSecrets = false
  // The database is named, so that what makes clusters themselves is found beside it by every command.
  const secrets = {
    directory: runtime.cwd,
    state: file,
    vault: async (reference: VaultReference) => vault?.find(reference),
    fileOfEstate: (name: string) => fileOfEstate(name),
  }
  await using engine = closing(await runtime.openEngine(store.it, { ...secrets, epoch }))
  const { deps } = await runtime.openDrivers(secrets)
  const withNewSecrets = async (estate: Estate) => {
    const noticed = await noticeSecrets(estate, store.it, ensureSecretKey(file), deps.resolveSecret)
    if (noticed.changed) await store.it.putValue(epoch, SECRET_PRINTS, JSON.stringify(noticed.prints))
    return noticed
  }
  // What it takes to read what others wrote is measured by the real clock.
  const reader = () => createWorkerReader({ clock: systemClock })
  const { clock } = runtime
  const sourceDeps = { data, cwd: runtime.cwd, resolveSecret: deps.resolveSecret, reader, clock }
  const controller: RunningController = await createController({
    clock: runtime.clock,
    store: store.it,
    epoch,
    engine: engine.it,
    sources: openSources(config.sources, sourceDeps),
    *link(revision) {
      const estate = yield* linkingRevision(revision)
      return config.sources.length === 1
        ? asKnown({ declarations: revision.declarations, estate }, records, tellOnce)
        : estate
    },
    checks: createChecks(runtime.clock, engine.it.askCheck),
    order: createOrders({
      clock: runtime.clock,
      store: store.it,
      estate: () => controller.seen()?.estate,
      snapshot: (cluster) => takeSnapshot(runtime, secrets, engine.it, controller, cluster),
    }),
    notifier: (remembered) => {
      const warn = (message: string) => runtime.err.write(`Warning: ${cleanLines(message)}\n`)
      return createNotifier(
        runtime.clock,
        runtime.random,
        openOutbox(runtime.clock, deps.resolveSecret),
        remembered,
        warn,
      )
    },
    onCalm: giveMemoryBack,
    previews: createPreviews({
      clock: runtime.clock,
      sources: previewedSources(config.sources, sourceDeps),
      send: sendToForge,
      reader: reader(),
      resolveSecret: deps.resolveSecret,
      link: (revision) => linking(revision, { findKind, problemAt: revision.problemAt }),
      async plan([base, head], signal) {
        // An engine of its own: what a request would like must not reach what the passes remember.
        await using apart = closing(await runtime.openEngine(store.it, { ...secrets, epoch, charts: 'known' }))
        return [await apart.it.plan(base, signal), await apart.it.plan(head, signal)]
      },
      render: planMarkdown,
      mark: PLAN_MARK,
      remember: () => store.it.getValue(PREVIEWED),
      keep: (text) => store.it.putValue(epoch, PREVIEWED, text),
    }),
    async planWaiting(estate, revision, signal, { bounded }) {
      const read = async (name: string) => revision.read?.(name)
      const own = openVault(revision, read, keys)
      const places = {
        ...secrets,
        vault: async (reference: VaultReference) => own.find(reference),
        fileOfEstate: read,
      }
      // Who is held to a grant sends croft nowhere: charts of its own are not fetched before a person approved them.
      const charts = bounded ? 'known' : 'from-anywhere'
      await using apart = closing(await runtime.openEngine(store.it, { ...places, epoch, charts }))
      return shownPlan(await apart.it.plan(estate, signal))
    },
    adopt: createAdopter({
      clock: runtime.clock,
      data,
      writable: writableSources(config.sources, sourceDeps),
      link: (revision) => link(revision, { findKind }),
    }),
    async prepare(estate, revision) {
      const read = async (file: string) => revision.read?.(file)
      fileOfEstate = read
      vault = openVault(revision, read, keys)
      needsSecrets = estate.resources.some(({ desired }) => referencesIn(desired).length > 0)
      const complete = withoutMissing(estate, await missingSecrets(estate, deps.resolveSecret))
      return needsSecrets ? (await withNewSecrets(complete)).estate : complete
    },
    async refresh(estate) {
      if (!needsSecrets) return undefined
      const noticed = await withNewSecrets(estate)
      return noticed.changed ? noticed.estate : undefined
    },
  })
  const watchdog = await runtime.startWatchdog?.()
  using _dog = { [Symbol.dispose]: () => watchdog?.stop() }
  narrate(runtime, controller, options.log === 'json')
  const hooks = createWebhookDoor(await hookedSources(config.sources, deps.resolveSecret))
  await using server = await serve(runtime, config, controller, store.it, hooks, deps.resolveSecret)
  if (server.url !== undefined) runtime.err.write(`The page is at ${server.url}\n`)
  await controller.run(runtime.signal)
  return 'stopped'
}

async function configOf(
  runtime: Runtime,
  source: string | undefined,
  options: Readonly<Record<string, unknown>>,
): Promise<ControllerConfig> {
  const named = (options.config as string | undefined) ?? runtime.env.CROFT_CONFIG
  const text = (name: string) => (typeof options[name] === 'string' ? { [name]: options[name] } : {})
  const flags: Overrides = {
    ...(source === undefined ? {} : { source }),
    ...text('state'),
    ...text('listen'),
    ...text('branch'),
    ...text('path'),
    ...text('poll'),
  }
  try {
    return readConfig(
      named === undefined || named === '' ? undefined : await readYaml(runtime, named),
      runtime.env,
      flags,
    )
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const where = named === undefined ? '' : ` in ${named}`
    throw new UsageError(`The configuration${where} cannot be used:\n${error.message}\nCorrect it, or see docs/run.md.`)
  }
}

async function readYaml(runtime: Runtime, name: string): Promise<unknown> {
  try {
    const text = readFileSync(path.resolve(runtime.cwd, name), 'utf8')
    return await runtime.parseYaml(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(`The configuration ${name} cannot be read: ${why}. Correct it, or name another with --config.`)
  }
}

async function lockOrStop(runtime: Runtime, file: string, wait: boolean): Promise<() => void> {
  let told = false
  for (;;) {
    const locked = await runtime.lockState(file)
    if (locked.got) return () => locked.release()
    const who =
      locked.owner === undefined
        ? 'another croft'
        : `another croft (process ${locked.owner.pid} on ${locked.owner.host})`
    if (!wait)
      throw new CliError(`${who} is at work on ${file}. Stop it, name another database with --state, or use --wait.`)
    if (!told) runtime.err.write(`Waiting: ${who} is at work on ${file}.\n`)
    told = true
    await runtime.clock.sleep(WAIT_FOR_LOCK_MS, runtime.signal)
    if (runtime.signal.aborted) throw new CliError('Stopped while waiting.')
  }
}

/** What happens, one line each: the journal of the system keeps it. */
function narrate(runtime: Runtime, controller: RunningController, json: boolean): void {
  controller.subscribe((_view, events) => {
    const lines = events.map((event) => (json ? JSON.stringify(eventJson(event)) : told(event)))
    if (lines.length > 0) runtime.out.write(`${lines.join('\n')}\n`)
  })
}

function told({ atMs, key, type, reason, message, commit }: CroftEvent): string {
  const at = commit === undefined || !/^[0-9a-f]{40}/.test(commit) ? '' : ` (${commit.slice(0, 7)})`
  const line = `${new Date(atMs).toISOString()} ${type === 'Warning' ? 'warning ' : ''}${key ?? '-'} ${reason}: ${message}${at}`
  return cleanLines(line).replaceAll('\n', ' ')
}

async function serve(
  runtime: Runtime,
  config: ControllerConfig,
  controller: RunningController,
  store: Store,
  webhook: ReturnType<typeof createWebhookDoor>,
  resolveSecret: DriverDeps['resolveSecret'],
): Promise<AsyncDisposable & { readonly url?: string }> {
  if (config.listen === 'off') return { [Symbol.asyncDispose]: async () => {} }
  const { startServer } = await import('../../server/start.ts')
  const stalls = monitorEventLoopDelay({ resolution: LIMITS.stallResolutionMs })
  stalls.enable()
  const at = config.listen.lastIndexOf(':')
  const host = config.listen.slice(0, at).replace(/^\[|\]$/g, '')
  if (!/^(?:localhost|127\.|::1$)/.test(host) && config.publicUrl?.startsWith('https:') !== true)
    runtime.err.write(
      `Warning: the page at ${config.listen} is served without TLS to others: passwords and tokens can be read on the way. Put a proxy with TLS before it and set publicUrl, or listen on 127.0.0.1.\n`,
    )
  const listening: RunningServer = await startServer({
    controller,
    clock: runtime.clock,
    version: runtime.version,
    host,
    port: Number(config.listen.slice(at + 1)),
    names: config.names,
    trustedProxies: config.trustedProxies,
    signedInOnly: config.reading === 'signed-in',
    needsSecondFactor: config.secondFactor === 'required',
    webhook,
    metrics: () => {
      // Nanoseconds.
      const stallMs = stalls.max / 1e6
      return metricsText(controller.view(), controller.counters(), runtime.version, runtime.clock.now(), stallMs)
    },
    warn: (message) => runtime.err.write(`Warning: ${message}\n`),
    audit: ({ atMs, actor, what, about, result, message }) => {
      const entry = { atMs, actor: actor.name, from: actor.from, what, subject: about, outcome: result, message }
      // A full disk ends the controller by its own writes, in good order; here it must only not end the process.
      store.appendAudit(entry).catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error)
        runtime.err.write(`Warning: the audit log could not be written: ${cleanLines(why)}\n`)
      })
    },
    ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
    usersFile: config.users ?? credentialFiles(runtime.env).users,
    tokensFile: config.tokens ?? credentialFiles(runtime.env).tokens,
    ...(config.oidc === undefined ? {} : { oidc: oidcOf(config, config.oidc, resolveSecret) }),
  }).catch((error: unknown): never => {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(
      `The page cannot be served at ${config.listen}: ${why}. Choose another address with --listen, or --listen off.`,
    )
  })
  return {
    url: listening.url,
    async [Symbol.asyncDispose]() {
      stalls.disable()
      await listening.close()
    },
  }
}

/**
 * Work on many machines leaves a large heap behind, which Node keeps for as long as nothing presses it. Whoever leaves
 * croft running for months would rather have the memory.
 */
function giveMemoryBack(): void {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
