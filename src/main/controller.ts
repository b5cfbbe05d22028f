import path from 'node:path'
import { kubeconfigEntry } from '../cli/clusters/opened.ts'
import { takeSnapshot } from '../cli/clusters/snapshot-now.ts'
import { asKnown } from '../cli/estate-files.ts'
import { closing } from '../cli/load.ts'
import { PLAN_MARK, planMarkdown } from '../cli/render/plan-markdown.ts'
import { cleanLines } from '../cli/render/text.ts'
import type { ControllerPlace, OpenedController, Runtime } from '../cli/runtime.ts'
import { shownPlan } from '../cli/saved-plan.ts'
import { createChecks } from '../controller/checks/checks.ts'
import { missingSecrets, withoutMissing } from '../controller/checks/secret-check.ts'
import { SECRET_PRINTS } from '../controller/checks/secret-prints.ts'
import { createConsoles } from '../controller/consoles.ts'
import { createController, type RunningController } from '../controller/controller.ts'
import { openHistory } from '../controller/history/history.ts'
import { createNotifier } from '../controller/notices/notifier.ts'
import { openOutbox } from '../controller/notices/outbox.ts'
import { createPreviews } from '../controller/previews/previews.ts'
import { linkingRevision } from '../controller/sources/link-revision.ts'
import { hookedSources, openSources, previewedSources, writableSources } from '../controller/sources/open-sources.ts'
import { createAdopter } from '../controller/wishes/adopter.ts'
import { sendToForge } from '../controller/wishes/forge-send.ts'
import { createRequests } from '../controller/wishes/requests.ts'
import { createWorkloads } from '../drivers/kubernetes/workloads.ts'
import { findKind } from '../kinds/registry.ts'
import { renderKubeconfig } from '../kubernetes/kubeconfig.ts'
import { systemClock } from '../lib/clock.ts'
import { secretsOf } from '../model/desired-secrets.ts'
import type { Estate } from '../model/estate.ts'
import { link, linking } from '../plan/link.ts'
import { createWorkerReader } from '../source/apart/reader.ts'
import { createWebhookDoor } from '../source/git/webhook.ts'
import { openVault, type SecretVault, type VaultReference } from '../source/secrets/secret-vault.ts'
import { ensureSecretKey, noticeSecrets } from '../state/secret-key.ts'
import { sourceKeys } from '../state/secrets.ts'
import { sourcesIdentity } from '../state/state-file.ts'
import { noteEstate } from '../state/state-folder.ts'
import { chartsToKeep } from './charts.ts'
import { giveMemoryBack } from './give-memory-back.ts'
import { servePage } from './page.ts'

const PREVIEWED = 'controller/previewed'

/** Puts the controller together: sources, engine, checks, notices, previews, and the page. */
export async function openController(
  runtime: Runtime,
  { config, file, store }: ControllerPlace,
): Promise<OpenedController> {
  const epoch = await store.beginEpoch()
  const records = await store.records()
  noteEstate(file, sourcesIdentity(config.sources))
  const warned = new Set<string>()
  const tellOnce = (text: string) => {
    if (!warned.has(text)) runtime.err.write(`${text}\n`)
    warned.add(text)
  }
  const data = path.dirname(file)
  const keys = sourceKeys(runtime.env, config)
  let vault: SecretVault | undefined
  let fileOfEstate = async (_file: string): Promise<string | undefined> => undefined
  let needsSecrets = false
  // Named, so that every command finds the CAs and tokens of clusters in the folder of the database.
  const secrets = {
    directory: runtime.cwd,
    state: file,
    vault: async (reference: VaultReference) => vault?.locate(reference),
    fileOfEstate: (name: string) => fileOfEstate(name),
  }
  // Closed with the controller, or here when it cannot be put together.
  await using opened = new AsyncDisposableStack()
  const engine = opened.use(closing(await runtime.openEngine(store, { ...secrets, epoch }))).it
  const { drivers, deps } = await runtime.openDrivers(secrets)
  const withNewSecrets = async (estate: Estate) => {
    const noticed = await noticeSecrets(estate, store, ensureSecretKey(file), deps.resolveSecret)
    if (noticed.changed) await store.putValue(epoch, SECRET_PRINTS, JSON.stringify(noticed.prints))
    return noticed
  }
  // Limits on untrusted files use the real clock.
  const reader = () => createWorkerReader({ clock: systemClock })
  const { clock } = runtime
  const workloads = createWorkloads({
    clock,
    estate: () => controller.seen()?.estate,
    way: (connection) => engine.kubernetes?.(connection),
  })
  opened.defer(() => workloads.close())
  const chart = chartsToKeep(process.env)
  const sourceDeps = { data, cwd: runtime.cwd, resolveSecret: deps.resolveSecret, reader, clock, chart }
  const controller: RunningController = await createController({
    clock: runtime.clock,
    store: store,
    epoch,
    engine: engine,
    sources: openSources(config.sources, sourceDeps),
    *link(revision) {
      const estate = yield* linkingRevision(revision)
      return config.sources.length === 1
        ? asKnown({ declarations: revision.declarations, estate }, records, tellOnce)
        : estate
    },
    checks: createChecks(runtime.clock, engine.askCheck),
    request: createRequests({
      clock: runtime.clock,
      store: store,
      estate: () => controller.seen()?.estate,
      snapshot: (cluster) => takeSnapshot(runtime, secrets, engine, controller, cluster),
    }),
    notifier: (memory) =>
      createNotifier({
        clock: runtime.clock,
        random: runtime.random,
        outbox: openOutbox(runtime.clock, deps.resolveSecret),
        memory,
        warn: (message) => {
          runtime.err.write(`Warning: ${cleanLines(message)}\n`)
        },
      }),
    history: await openHistory(clock, store, epoch),
    workloads,
    kubeconfigs: {
      make: async (name, lifeMs) => {
        const cluster = controller.seen()?.estate.clusters?.find((one) => one.name === name)
        const entry = cluster && (await kubeconfigEntry(runtime, secrets, cluster, lifeMs))
        return entry && { yaml: renderKubeconfig(entry), untilMs: entry.untilMs }
      },
    },
    consoles: createConsoles({ estate: () => controller.seen()?.estate, drivers, deps }),
    onCalm: giveMemoryBack,
    previews: createPreviews({
      clock: runtime.clock,
      sources: previewedSources(config.sources, sourceDeps),
      send: sendToForge,
      reader: reader(),
      resolveSecret: deps.resolveSecret,
      link: (revision) => linking(revision, { findKind, problemAt: revision.problemAt }),
      async plan([base, head], signal) {
        // Use a separate engine: the plan of a pull request must not reach the memory of the passes.
        await using apart = closing(await runtime.openEngine(store, { ...secrets, epoch, charts: 'known' }))
        return [await apart.it.plan(base, signal), await apart.it.plan(head, signal)]
      },
      render: planMarkdown,
      mark: PLAN_MARK,
      remember: () => store.getValue(PREVIEWED),
      keep: (text) => store.putValue(epoch, PREVIEWED, text),
    }),
    async planWaiting(estate, revision, signal, { bounded }) {
      const read = async (name: string) => revision.read?.(name)
      const own = openVault(revision, read, keys)
      const places = {
        ...secrets,
        vault: async (reference: VaultReference) => own.locate(reference),
        fileOfEstate: read,
      }
      // A source with a grant sends croft nowhere: its charts are not fetched before a person has approved them.
      const charts = bounded ? 'known' : 'from-anywhere'
      await using apart = closing(await runtime.openEngine(store, { ...places, epoch, charts }))
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
      needsSecrets = estate.resources.some(({ desired }) => secretsOf(desired).length > 0)
      const complete = withoutMissing(estate, await missingSecrets(estate, deps.resolveSecret))
      return needsSecrets ? (await withNewSecrets(complete)).estate : complete
    },
    async refresh(estate) {
      if (!needsSecrets) return undefined
      const noticed = await withNewSecrets(estate)
      return noticed.changed ? noticed.estate : undefined
    },
  })
  const parts = opened.move()
  return {
    controller,
    async servePage() {
      const hooks = createWebhookDoor(await hookedSources(config.sources, deps.resolveSecret))
      return servePage(runtime, config, controller, store, hooks, deps.resolveSecret)
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  }
}
