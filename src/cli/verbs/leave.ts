import { statSync } from 'node:fs'
import path from 'node:path'
import type { Engine } from '../../engine/engine.ts'
import { BACKUP_UNIT, S3_SECRET } from '../../k3s/backup-flags.ts'
import { KUBE_VIP_FILE } from '../../k3s/kube-vip.ts'
import { renderKubeconfig } from '../../kubernetes/kubeconfig.ts'
import { shellWord } from '../../lib/shell-quoted.ts'
import { showOrigin } from '../../model/declaration.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import { holdAlone, openState } from '../../state/state-file.ts'
import type { Store } from '../../store/port.ts'
import { clusterTools, kubeconfigEntry } from '../clusters/opened.ts'
import { clusterFiles, type HandedFile, importBlocks, withImports } from '../leave/hand-over.ts'
import { type FoundMarks, findMarked, type LeaveTools } from '../leave/look.ts'
import { whyNotThere } from '../leave/place.ts'
import { type LeaveScope, scopeOf, wholeEstate } from '../leave/scope.ts'
import { takeCroftOff } from '../leave/take-off.ts'
import { readHandedFile, writeHandedFiles } from '../leave/write-files.ts'
import { closing, stateOf } from '../load.ts'
import type { EngineOptions, Runtime } from '../runtime.ts'
import { kindNamed, resolveKey } from '../select.ts'
import { CliError, EXIT, type Options, UsageError, type Verb } from '../verb.ts'
import { loadForOperation, noteOperation } from './machine/find.ts'

const YEAR_MS = 365 * 24 * 3_600_000
const IMPORTS = 'import.tf'

/**
 * Releases one thing, a cluster or the whole estate: removes croft's marks, gates and programs; all else stays and
 * keeps running. Without --yes it only shows the steps.
 */
export const run: Verb = async (runtime, [first, second], options) => {
  const asked = placeOf(runtime, first, second, options, await runtime.kinds())
  const { estate, real } = await loadForOperation(runtime, asked.directory)
  const file = stateOf(runtime, real, options)
  await using store = closing(await openState(runtime, file))
  // Lock before the look: marks that a controller sets later would be missed.
  await using _alone = closing(
    options.yes === true
      ? await holdAlone(runtime, file, 'Stop the controller first: it would take everything back.')
      : { close: async () => {} },
  )
  const scope = await scopeAsked(runtime, estate, store.it, asked)
  const to = handOverPlace(runtime, real, options)
  const engineOptions: EngineOptions = { directory: real, state: file }
  await using engine = closing(await runtime.openEngine(store.it, engineOptions))
  const tools = await leaveTools(runtime, engineOptions, engine.it)
  const look = await findMarked(estate, scope, tools, runtime.signal)
  runtime.out.write(shown(scope, look))
  const again = ['croft leave', ...(asked.word === undefined ? [] : [asked.word]), '--dir', shellWord(asked.directory)]
  if (options.yes !== true) {
    const place = scope.clusters.length > 0 && to === undefined ? ['--to', 'DIRECTORY'] : asToOption(options)
    runtime.out.write(`\nNothing was done. To leave, run ${[...again, ...place, '--yes'].join(' ')}\n`)
    return EXIT.ok
  }
  if (to !== undefined) await handOver(runtime, engineOptions, scope, look, to)
  else if (scope.clusters.length > 0)
    throw new UsageError(
      'A cluster is left with its CA, tokens and kubeconfig. Name the directory for them with --to DIRECTORY.',
    )
  const clusters = scope.clusters.length === 0 ? undefined : await clusterTools(runtime, engineOptions)
  const leaving = { estate, scope, look, tools, clusters, engine: engine.it, store: store.it, signal: runtime.signal }
  const problems = await takeCroftOff(leaving)
  await noteOperation(runtime, store.it, scope.what, 'leave', 'done', `${problems.size} left undone`)
  for (const [what, why] of problems) runtime.err.write(`${what} still has something of croft: ${why}.\n`)
  if (problems.size > 0) {
    runtime.err.write(`Mend that, then run ${[...again, ...asToOption(options), '--yes'].join(' ')} again.\n`)
    return EXIT.failed
  }
  runtime.out.write(done(scope, to))
  return EXIT.ok
}

interface AskedLeave {
  readonly directory: string
  /** The resource as it was named. */
  readonly word?: string
  readonly name?: string
}

/** `leave KIND/NAME DIR`, `leave NAME DIR` and `leave DIR`. */
function placeOf(
  { cwd }: Runtime,
  first: string | undefined,
  second: string | undefined,
  { dir }: Options,
  kinds: Awaited<ReturnType<Runtime['kinds']>>,
): AskedLeave {
  const directory = String(dir)
  if (first === undefined) return { directory }
  const isDirectory = statSync(path.resolve(cwd, first), { throwIfNoEntry: false })?.isDirectory() === true
  if (second === undefined && isDirectory && kindNamed(kinds, first.split('/')[0] ?? '') === undefined)
    return { directory: first }
  return { directory, word: second === undefined ? first : `${first}/${second}` }
}

async function scopeAsked(runtime: Runtime, estate: Estate, store: Store, { word }: AskedLeave): Promise<LeaveScope> {
  if (word === undefined) return wholeEstate(estate)
  const known = [
    ...(estate.clusters ?? []).map(({ key }) => key),
    ...estate.resources.map(({ key }) => key),
    ...(await store.records()).map(({ key }) => key),
  ]
  return scopeOf(estate, resolveKey(await runtime.kinds(), [...new Set(known)], word, undefined))
}

/** Returns the place for CAs and tokens, which must be outside all work trees. */
function handOverPlace({ cwd }: Runtime, real: string, { to }: Options): string | undefined {
  if (typeof to !== 'string') return undefined
  const place = path.resolve(cwd, to)
  const why = whyNotThere(real, place)
  if (why !== undefined) throw new UsageError(`${to} ${why}. Name a directory outside with --to.`)
  return place
}

function asToOption({ to }: Options): readonly string[] {
  return typeof to === 'string' ? ['--to', shellWord(to)] : []
}

async function leaveTools(runtime: Runtime, options: EngineOptions, { kubernetes }: Engine): Promise<LeaveTools> {
  const { drivers, deps } = await runtime.openDrivers(options)
  return { drivers, deps: kubernetes === undefined ? deps : { ...deps, kubernetes } }
}

function shown(scope: LeaveScope, { marked, unread }: FoundMarks): string {
  const lines = [`croft leaves ${scope.what}. Everything stays as it is and keeps running; taken off is only:`, '']
  for (const { key, steps } of marked) lines.push(`  ${key}: ${steps.map(({ summary }) => summary).join(', ')}`)
  for (const cluster of scope.clusters) {
    const nodes = [...cluster.spec.servers, ...cluster.spec.agents].map(({ name }) => name)
    lines.push(`  ${cluster.key}: gates, croft's program and marks of ${nodes.join(', ')}; K3s is not restarted`)
    for (const one of staysNamed(cluster)) lines.push(`    stays, because the cluster needs it: ${one}`)
  }
  if (marked.length === 0 && scope.clusters.length === 0) lines.push('  nothing: no mark of croft was found')
  for (const { connection, message } of unread) lines.push(`  not known: ${connection} cannot be read (${message})`)
  return `${lines.join('\n')}\n`
}

/** Files that carry croft's name and do work that only they do. */
function staysNamed({ spec: { endpoint, backup } }: ClusterDeclaration): readonly string[] {
  return [
    ...('vip' in endpoint && endpoint.kubeVip !== undefined ? [`${KUBE_VIP_FILE} (announces ${endpoint.vip})`] : []),
    ...(backup !== undefined && 'nfs' in backup.to ? [`${BACKUP_UNIT} (the share with the snapshots of etcd)`] : []),
    ...(backup !== undefined && 's3' in backup.to
      ? [`Secret kube-system/${S3_SECRET} (where K3s sends snapshots)`]
      : []),
  ]
}

/** Writes the files for the person before any mark is removed. */
async function handOver(
  runtime: Runtime,
  options: EngineOptions,
  { clusters }: LeaveScope,
  { marked }: FoundMarks,
  to: string,
): Promise<void> {
  const files: HandedFile[] = []
  for (const cluster of clusters) {
    const { deps } = await clusterTools(runtime, options)
    const secrets = await deps.vault.read(cluster.name)
    const entry = await kubeconfigEntry(runtime, options, cluster, YEAR_MS)
    files.push(...clusterFiles(cluster, secrets, entry === undefined ? undefined : renderKubeconfig(entry)))
  }
  const blocks = importBlocks(marked)
  try {
    if (blocks !== '') files.push({ path: IMPORTS, text: withImports(await readHandedFile(to, IMPORTS), blocks) })
    await writeHandedFiles(to, files)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new CliError(`${to} cannot be written: ${why}. Nothing was taken off; name another directory with --to.`)
  }
}

function done({ what, clusters, resources }: LeaveScope, to: string | undefined): string {
  const declared = [...clusters.map(({ origin }) => origin), ...resources.map(({ origin }) => origin)]
  const files = [...new Set(declared.map((origin) => showOrigin(origin).replace(/:\d+.*$/, '')))]
  return [
    `croft has left ${what}.`,
    ...(to === undefined ? [] : [`What makes it work without croft is in ${to}; some of it is secret.`]),
    ...(files.length === 0
      ? []
      : [`Take it out of Git before the next croft apply, which would begin again: ${files.join(', ')}.`]),
    'Tokens that you made for croft are still valid. Revoke them where you made them.',
    '',
  ].join('\n')
}
