import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCli } from './cli/run.ts'
import type { Enrolment, Runtime } from './cli/runtime.ts'
import { unlessStopped } from './cli/verb.ts'
import { systemClock } from './lib/clock.ts'
import { programClock } from './main/clock.ts'
import { openClusters } from './main/clusters.ts'
import { driverDepsFor, loadDrivers } from './main/drivers.ts'
import { prepareEnding } from './main/ending.ts'
import { openEngine } from './main/engine.ts'
import { definitions, follow, jsonSchemaOf, load, loadAt } from './main/estate.ts'
import { keyboard } from './main/keyboard.ts'
import { programName } from './main/program-name.ts'
import { ask, askSecret, terminal } from './main/terminal.ts'

/** This file and main/ are the only ones that know every implementation. Each is imported when something asks for it, not before. */
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
    clock: programClock,
    random: { next: () => Math.random() },
    signal,
    example: fileURLToPath(new URL('../examples/homelab', import.meta.url)),
    program: programName(fileURLToPath(new URL('..', import.meta.url)), process.env.PATH),
    ask: (question) => ask(question, signal),
    askSecret: (question) => askSecret(question, signal),
    keyboard,
    sendDatagram: async (address, port, bytes) =>
      (await import('./lib/datagram.ts')).sendDatagram(address, port, bytes),
    startWatchdog,
    enrolment: openEnrolment,
    kinds: async () => (await import('./kinds/registry.ts')).KINDS,
    jsonSchema: jsonSchemaOf,
    definitions,
    load: (directory) => unlessStopped(signal, load(directory)),
    loadAt: (directory, ref, onto) => unlessStopped(signal, loadAt(directory, ref, onto)),
    follow,
    writeFile: async (file, text, { replace = false } = {}) => {
      const { mkdir, writeFile } = await import('node:fs/promises')
      await mkdir(path.dirname(file), { recursive: true })
      try {
        await writeFile(file, text, { flag: replace ? 'w' : 'wx' })
        return true
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
        throw error
      }
    },
    openStore: async (file) => {
      const [{ openSqliteStore }, { movedAway }] = await Promise.all([
        import('./store/sqlite.ts'),
        import('./state/move-mark.ts'),
      ])
      return openSqliteStore(file, { warn, moved: () => movedAway(file) })
    },
    openMovedStore: async (file) => (await import('./store/sqlite.ts')).openSqliteStore(file, { warn }),
    lockState: async (file) => {
      const { mkdirSync } = await import('node:fs')
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
      const owner = { pid: process.pid, host: hostname(), sinceMs: Date.now() }
      return (await import('./store/sqlite-lock.ts')).lockDatabase(file, owner)
    },
    takeSchemaBack: async (file) => (await import('./store/sqlite-down.ts')).takeSchemaBack(file),
    parseYaml: async (text) => (await import('./lib/yaml-library.ts')).yamlLibrary().parse(text) as unknown,
    openMemoryStore: async () => (await import('./store/memory.ts')).createMemoryStore(),
    openCluster: async (place) => (await import('./main/cluster-access.ts')).openCluster(place, process.env),
    openKubernetesStore: async (place) => (await import('./store/kubernetes.ts')).openKubernetesStore(place),
    openKubernetesVault: async (place) => (await import('./vault/kubernetes-vault.ts')).openKubernetesVault(place),
    openComposer: async () => (await import('./main/expressions.ts')).cagedComposer,
    giveMemoryBack: () => void import('./main/give-memory-back.ts').then((it) => it.giveGrownMemoryBack()),
    openEngine: (store, options) => openEngine(store, options, warn),
    openController: async (runtime, place) => (await import('./main/controller.ts')).openController(runtime, place),
    openClusters: async (options) => openClusters(options, await driverDepsFor(options, warn)),
    openDrivers: async (options) => ({ drivers: await loadDrivers(), deps: await driverDepsFor(options, warn) }),
    rehearse: async (estate, observed, records, looks, tell) =>
      (await import('./main/rehearsal.ts')).rehearseOnTwin(
        estate,
        observed,
        records,
        looks ?? [],
        signal,
        tell ?? (() => {}),
      ),
    startSimulator: async (options) => (await import('../sim/serve.ts')).startSimulator(options),
  }
}

async function startWatchdog() {
  const [{ startWatchdog: start }, { runChild }] = await Promise.all([
    import('./main/watchdog.ts'),
    import('./ssh/child.ts'),
  ])
  const limits = { input: [], timeoutMs: 10_000, maxBytes: 10_000, group: false, clock: systemClock }
  return start(process.env, systemClock, async (words, env) => {
    await runChild(['systemd-notify', ...words], { ...limits, env })
  })
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

const ending = prepareEnding()
await ending.answer(await runCli(process.argv.slice(2), createRuntime(ending.signal)))
