import type { Engine } from '../../engine/engine.ts'
import { shellWord } from '../../lib/shell-quoted.ts'
import { type ResourceKey, showOrigin } from '../../model/declaration.ts'
import { changedEstate, type Estate } from '../../model/estate.ts'
import type { ClusterPlan } from '../../model/observed-cluster.ts'
import type { Action, Plan, PlanEntry } from '../../model/plan.ts'
import { LEAVES_CLUSTER } from '../../plan/clusters/membership.ts'
import { claimantOf } from '../../plan/things/left-key.ts'
import { holdAlone, openState, realDirectory } from '../../state/state-file.ts'
import { progressMode, startProgress } from '../live-progress.ts'
import { closing, loadOrStop, stateOf } from '../load.ts'
import { styleOf } from '../output.ts'
import { timeoutOf } from '../render/duration.ts'
import { renderPlan } from '../render/plan.ts'
import { blindExit } from '../render/plan-summary.ts'
import type { LoadedEstate, Runtime } from '../runtime.ts'
import { resolveKey } from '../select.ts'
import { CliError, EXIT, type ExitCode, type Options, signalCode, type Verb } from '../verb.ts'
import { noteOperation } from './machine/find.ts'

/**
 * Deletes the resource that Git no longer declares: one kept by its policy or held by a guard. The command is the
 * approval; the usual planner, guards, journal and engine do the rest.
 */
export const run: Verb = async (runtime, [kind = '', name], options) => {
  const deadlineMs = timeoutOf(options.timeout)
  const kinds = await runtime.kinds()
  const directory = String(options.dir)
  const loaded = await loadOrStop(runtime, directory)
  const real = realDirectory(runtime, directory)
  const file = stateOf(runtime, real, options)
  await using store = closing(await openState(runtime, file))
  const known = new Set([...loaded.declarations, ...(await store.it.records())].map((one) => one.key))
  const key = resolveKey(kinds, [...known], kind, name)
  refuseWhileDeclared(loaded, key)
  await using _alone = closing(
    await holdAlone(runtime, file, `A controller deletes it when it may: croft ask approve ${key}.`),
  )
  await using engine = closing(await runtime.openEngine(store.it, { directory: real, retryStalled: true }))

  const first = await engine.it.plan(approving(loaded.estate, [key]), runtime.signal)
  const blind = blindExit(first)
  if (blind !== undefined) {
    runtime.out.write(renderPlan(first, styleOf(runtime, runtime.out)))
    return blind
  }
  const keys = deletionsOf(first, key).map((entry) => entry.key)
  const estate = approving(loaded.estate, keys)
  const plan = await engine.it.plan(estate, runtime.signal)
  const entries = deletionsOf(plan, key)
  for (const entry of entries) refuseUndeletable(entry)
  // Nodes leave their cluster first: the cluster's steps are part of the consent.
  const clusters = clustersLeft(plan, entries)
  runtime.out.write(
    renderPlan({ ...plan, entries, clusters, powers: [] }, styleOf(runtime, runtime.out), { directory }),
  )
  await confirm(runtime, key, options.yes === true)
  await noteOperation(runtime, store.it, key, 'delete', 'done', 'asked for, with its disks')
  const only = new Set([...keys, ...clusters.map(({ declaration }) => declaration.key)])
  const left = await perform(runtime, engine.it, estate, { keys: new Set(keys), only }, deadlineMs, options)
  if (left === EXIT.ok) runtime.out.write(`${key} deleted.\n`)
  else if (left !== signalCode(runtime.signal))
    runtime.err.write(
      `${key} is not gone yet. Run croft describe ${key} --dir ${shellWord(directory)} to see why, then croft delete ${key} --dir ${shellWord(directory)} again.\n`,
    )
  return left
}

function refuseWhileDeclared(loaded: LoadedEstate, key: ResourceKey): void {
  const declared =
    loaded.declarations.find((declaration) => declaration.key === key) ??
    loaded.estate.resources.find((resource) => resource.key === key)
  if (declared === undefined) return
  throw new CliError(
    `${key} is still declared at ${showOrigin(declared.origin)}, so croft would make it again. ` +
      'Remove it there and commit, then run croft delete again.',
  )
}

/** Adds the person's approval, valid for this command, as if it were in Git. */
function approving(estate: Estate, deletes: readonly ResourceKey[]): Estate {
  const origin = { file: '(croft delete)', line: 1, column: 1 }
  const approval = { name: 'croft delete', deletes, orphans: true, origin }
  return changedEstate(estate, (one) => ({ ...one, approvals: [...one.approvals, approval] }))
}

/** Returns all deletions for a key: its machine may be on two connections, or exist twice. */
function deletionsOf(plan: Plan, key: ResourceKey): readonly PlanEntry[] {
  const entries = plan.entries.filter(
    (one) => (one.key === key || claimantOf(one.key) === key) && one.action.do !== 'nothing',
  )
  if (entries.length > 0) return entries
  throw new CliError(
    `Nothing outside carries the mark of ${key}: there is nothing to delete. Check the name with croft get.`,
  )
}

function refuseUndeletable({ key, action }: PlanEntry): void {
  if (action.do === 'delete' || action.do === 'nothing' || leavesCluster(action)) return
  if (action.do === 'hold' || action.do === 'refuse') {
    throw new CliError(`${key} is not deleted: ${action.reason}. To allow it: ${action.allow}.`)
  }
  const why = action.do === 'wait' ? action.message : action.reason
  throw new CliError(`${key} cannot be deleted now: ${why}. Try again when that is over.`)
}

function leavesCluster(action: Action): boolean {
  return action.do === 'wait' && action.reason === LEAVES_CLUSTER
}

/** The clusters that these machines leave before they are deleted. */
function clustersLeft({ clusters = [] }: Plan, entries: readonly PlanEntry[]): readonly ClusterPlan[] {
  const names = new Set(
    entries.filter(({ action }) => leavesCluster(action)).map(({ key }) => key.slice(key.lastIndexOf('/') + 1)),
  )
  return clusters.filter(({ decision }) =>
    decision.nodes.some(({ name, phase }) => phase === 'Leaving' && names.has(name)),
  )
}

async function confirm(runtime: Runtime, key: ResourceKey, yes: boolean): Promise<void> {
  if (yes) return
  const name = key.slice(key.lastIndexOf('/') + 1)
  if (!runtime.interactive) {
    throw new CliError('Nobody is at the terminal to confirm. Look at the plan above and run it again with --yes.')
  }
  const answer = await runtime.ask(
    `\nThis destroys what is listed, with its disks, for good. Type its name (${name}) to go on: `,
  )
  if (answer !== name) throw new CliError(`Nothing was deleted. Run it again and type ${name} to go on.`)
}

async function perform(
  runtime: Runtime,
  engine: Engine,
  estate: Estate,
  { keys, only }: { readonly keys: ReadonlySet<ResourceKey>; readonly only: ReadonlySet<ResourceKey> },
  deadlineMs: number,
  options: Options,
): Promise<ExitCode> {
  const mode = progressMode(String(options.progress), runtime.err.isTty, runtime.env)
  const live = startProgress(runtime.err, styleOf(runtime, runtime.err), runtime.clock, mode)
  try {
    const settled = await engine.settle(estate, {
      givesUp: true,
      // Apply only the deletion that was shown; other differences from Git stay.
      only,
      signal: runtime.signal,
      deadlineMs,
      onPass: live.onPass,
    })
    await live.end()
    if (settled.outcome === 'aborted') return signalCode(runtime.signal)
    const left = settled.last.plan.entries.some((one) => keys.has(one.key) && one.action.do !== 'nothing')
    if (!left) return EXIT.ok
    return settled.outcome === 'deadline' ? EXIT.timedOut : EXIT.failed
  } finally {
    await live.end()
  }
}
