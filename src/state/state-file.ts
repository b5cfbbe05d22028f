import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { CliError, UsageError } from '../lib/exit.ts'
import { yamlLibrary } from '../lib/yaml-library.ts'
import type { Store } from '../store/port.ts'
import { homeIn } from './home.ts'
import { movedAway } from './move-mark.ts'
import { hasVault, stateFolder, vaultsOf } from './state-folder.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export type LockedState =
  | { readonly got: true; release(): void }
  | { readonly got: false; readonly owner?: { readonly pid: number; readonly host: string } }

/** The runtime's access to its state. */
export interface StateAccess {
  readonly cwd: string
  readonly clock: Clock
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  openStore(file: string): Promise<Store>
  /** A store that forgets: for commands that must not leave a file behind. */
  openMemoryStore(): Promise<Store>
  /** Makes this process the only controller on a database, until it is released or the process ends. */
  lockState(file: string): Promise<LockedState>
}

/**
 * Returns the path of a directory's history: one database per directory, so that two repositories never share one. For
 * a configuration of `croft run`, it is the controller's.
 */
export function stateFile(env: Environment, place: string, override: string | undefined): string {
  const asked = override ?? env.CROFT_STATE
  if (asked !== undefined && asked !== '') return path.resolve(asked)
  const config = configurationAt(place)
  if (typeof config?.state === 'string' && config.state !== '') return path.resolve(config.state)
  return path.join(stateFolder(stateHome(env), identityOf(place, config)), 'croft.db')
}

function identityOf(place: string, config: ReturnType<typeof configurationAt>): string {
  return config === undefined ? place : sourcesIdentity(config.sources)
}

interface NamedSource {
  readonly name?: string
  readonly url?: string | undefined
  readonly directory?: string | undefined
}

/** Returns the identity of sources. A directory's history is the one that croft get, events and why read. */
export function sourcesIdentity(sources: readonly NamedSource[]): string {
  const [only] = sources
  if (only?.directory !== undefined && sources.length === 1) {
    const resolved = path.resolve(only.directory)
    return existsSync(resolved) ? realpathSync(resolved) : resolved
  }
  return JSON.stringify(sources.map(({ name = 'main', url, directory }) => [name, url ?? directory]))
}

/** Returns the database in a configuration file; whether it is a configuration is judged elsewhere. */
function configurationAt(
  place: string,
): { readonly state?: unknown; readonly sources: readonly NamedSource[] } | undefined {
  if (!path.isAbsolute(place) || statSync(place, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  try {
    const read = yamlLibrary().parse(readFileSync(place, 'utf8')) as { state?: unknown; sources?: unknown } | null
    const sources = Array.isArray(read?.sources) ? (read.sources as readonly NamedSource[]) : []
    return { state: read?.state, sources }
  } catch {
    return undefined
  }
}

/**
 * Returns the folder of the encrypted cluster identities: beside the database, so that it survives that. If there is
 * none yet, the one of another checkout of the estate: its clusters and its key are the same.
 */
export function vaultDirectory(env: Environment, realDirectory: string, override: string | undefined): string {
  const asked = env.CROFT_VAULT
  if (asked !== undefined && asked !== '') return path.resolve(asked)
  const vaultBeside = (database: string) => path.join(path.dirname(database), 'vault')
  const first = vaultBeside(stateFile(env, realDirectory, override))
  if (hasVault(first)) return first
  const home = stateHomeIn(env)
  if (home === undefined) return first
  const identity = identityOf(realDirectory, configurationAt(realDirectory))
  const others = [path.join(stateFolder(home, identity), 'vault'), ...vaultsOf(home, identity)]
  return others.find(hasVault) ?? first
}

/** Returns the cache folder for parsed manifests; undefined if there is none. */
export function cacheDirectory(env: Environment): string | undefined {
  const set = env.XDG_CACHE_HOME
  if (set !== undefined && path.isAbsolute(set)) return path.join(set, 'croft')
  return env.HOME === undefined || env.HOME === '' ? undefined : path.join(env.HOME, '.cache', 'croft')
}

export function realDirectory(runtime: Pick<StateAccess, 'cwd'>, directory: string): string {
  const resolved = path.resolve(runtime.cwd, directory)
  try {
    return realpathSync(resolved)
  } catch {
    throw new UsageError(`There is no file or directory ${directory}. Name the directory that holds the manifests.`)
  }
}

/** The prefix of file names in messages: the directory as the user named it. */
export function shownBelow(directory: string, real: string): string {
  return statSync(real, { throwIfNoEntry: false })?.isDirectory() === true ? directory : '.'
}

/** Opens what an earlier run left behind. Reading must not create a database, so without one a forgetful store serves. */
export async function openExisting(
  runtime: Pick<StateAccess, 'openStore' | 'openMemoryStore'>,
  file: string,
): Promise<Store> {
  return isThere(file) ? openedAt(runtime, file) : runtime.openMemoryStore()
}

/** An unreadable folder does not prove that the database is missing, so throw. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    throw unusable(file, error)
  }
}

/** Returns the store with its records read and parsed once: for a caller that looks once and writes nothing. */
export function readOnce(store: Store): Store {
  let records: ReturnType<Store['records']> | undefined
  return { ...store, records: () => (records ??= store.records()) }
}

/** Opens or creates the database. The message of a failure says what to do on this computer. */
export async function openState(runtime: Pick<StateAccess, 'openStore'>, file: string): Promise<Store> {
  const moved = movedAway(file)
  if (moved !== undefined) throw new CliError(`${file}: ${moved}.`)
  return openedAt(runtime, file)
}

async function openedAt(runtime: Pick<StateAccess, 'openStore'>, file: string): Promise<Store> {
  try {
    return await runtime.openStore(file)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    // An error that names the file also says what to do.
    if (why.includes(file) && !(error instanceof Error && 'syscall' in error)) throw new CliError(why)
    throw unusable(file, error)
  }
}

/** Locks a database while a command starts an epoch on it: a controller at work would silently lose its own. */
export async function holdState(
  runtime: Pick<StateAccess, 'lockState'>,
  file: string,
  instead: string,
): Promise<{ close(): Promise<void> }> {
  const locked = await runtime.lockState(file)
  if (locked.got) return { close: async () => locked.release() }
  const who = locked.owner === undefined ? '' : ` (process ${locked.owner.pid} on ${locked.owner.host})`
  throw new CliError(
    `A controller${who} is at work on ${file}, and only one croft may change things at a time. Write ${instead} into Git and it does this, or stop it (systemctl stop croft), run this again, and start it afterwards.`,
  )
}

/** Waits for a croft that is about to exit. */
const GOING = { looks: 150, everyMs: 100 } as const

/**
 * Locks a database for a command that applies everything, as a controller does: beside one it is not needed, and the
 * controller would end with its stale epoch.
 */
export async function holdAlone(
  runtime: Pick<StateAccess, 'lockState' | 'clock' | 'signal'>,
  file: string,
  instead = 'A controller does by itself what Git says: croft get shows how far it is.',
): Promise<{ close(): Promise<void> }> {
  for (let look = 1; ; look++) {
    const locked = await runtime.lockState(file).catch((error: unknown) => {
      throw unusable(file, error)
    })
    if (locked.got) return { close: async () => locked.release() }
    if (look < GOING.looks && !runtime.signal.aborted) {
      await runtime.clock.sleep(GOING.everyMs, runtime.signal)
      continue
    }
    const who = locked.owner === undefined ? '' : ` (process ${locked.owner.pid} on ${locked.owner.host})`
    throw new CliError(
      `Another croft${who} is at work on ${file}, and only one croft may change things at a time. ${instead} Otherwise wait for it to end, or stop it, and run this again.`,
    )
  }
}

function unusable(file: string, error: unknown): CliError {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const why =
    code === 'EACCES' || code === 'EPERM' || code === 'EROFS' ? `you may not read or write it (${message})` : message
  return new CliError(
    `The database ${file} cannot be used: ${why}. Name another file with --state or CROFT_STATE, or another directory with XDG_STATE_HOME.`,
  )
}

function stateHome(env: Environment): string {
  const home = stateHomeIn(env)
  if (home === undefined)
    throw new CliError('Neither XDG_STATE_HOME nor HOME is set. Set one, or name the file with --state.')
  return home
}

function stateHomeIn(env: Environment): string | undefined {
  const set = env.XDG_STATE_HOME
  // XDG: ignore a relative path.
  if (set !== undefined && path.isAbsolute(set)) return set
  const home = homeIn(env)
  return home === '' ? undefined : path.join(home, '.local', 'state')
}
