import type { ClusterOperator, ClusterSurroundings, NodeReach } from '../../drivers/cluster-port.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ClusterDeclaration, Estate } from '../../model/estate.ts'
import type { CoordinatedIntention, NewEvent } from '../../model/record.ts'
import type { Resource } from '../../model/resource.ts'
import type { Outcome, Step } from '../../model/step.ts'
import { planDrill } from '../../plan/clusters/backup.ts'
import { type DrillRun, type DrillState, dueDrill, endedDrill } from '../../plan/clusters/drill.ts'
import type { Store } from '../../store/port.ts'
import { journalled } from '../act.ts'
import type { ReachedCluster } from './observe.ts'
import { advance } from './operation.ts'

function drillsName(cluster: string): string {
  return `cluster-drills/${cluster}`
}

export async function readDrills(store: Pick<Store, 'getValue'>, cluster: string): Promise<DrillState> {
  const text = await store.getValue(drillsName(cluster))
  return text === undefined ? {} : (JSON.parse(text) as DrillState)
}

/** Returns the estate with the machines of running drills. After a drill its machine is no longer declared. */
export async function withDrills(estate: Estate, store: Pick<Store, 'getValue'>): Promise<Estate> {
  const machines: Resource[] = []
  for (const { drill, name } of estate.clusters ?? []) {
    if (drill !== undefined && (await readDrills(store, name)).run !== undefined) machines.push(drill)
  }
  return machines.length === 0 ? estate : { ...estate, resources: [...estate.resources, ...machines] }
}

export interface DrillDeps {
  readonly clock: Clock
  readonly store: Store
  readonly epoch: number
  readonly operator: ClusterOperator
  /** Steps that started earlier and may still arrive. */
  readonly unsure: readonly CoordinatedIntention[]
  nextIntentionId(): string
}

export interface DrillPass {
  readonly state: DrillState
  readonly events: readonly NewEvent[]
  /** The number of calls. */
  readonly effects: number
}

/**
 * Starts a due drill, or continues a running one as far as it goes without waiting. The store holds its progress before
 * each step: after a crash the next process continues there, and every step is idempotent.
 */
export async function keepDrill(
  { look, surroundings, drill: reach }: ReachedCluster,
  deps: DrillDeps,
  signal: AbortSignal,
): Promise<DrillPass> {
  const { declaration, observed, decision } = look
  const before = await readDrills(deps.store, declaration.name)
  if (declaration.drill === undefined) return { state: before, events: [], effects: 0 }
  const keep = async (state: DrillState) => {
    await deps.store.putValue(deps.epoch, drillsName(declaration.name), JSON.stringify(state))
    return state
  }
  if (before.run === undefined) {
    const due = dueDrill(declaration.spec, observed, decision, before, deps.clock.now())
    if (due === undefined) return { state: before, events: [], effects: 0 }
    const state = await keep({ ...before, lastMs: due.sinceMs, run: due })
    const event = tell(declaration, 'DrillBegun', `${due.snapshot} is tried on a machine of its own`, deps.clock.now())
    return { state, events: [event], effects: 1 }
  }
  const awaited = deps.unsure.some(({ step, key }) => step.about === 'operation' && key === declaration.key)
  if (awaited) return { state: before, events: [], effects: 0 }
  return goOn(declaration, before.run, withDrill(surroundings, declaration.drill.name, reach), deps, keep, signal)
}

async function goOn(
  declaration: ClusterDeclaration,
  begun: DrillRun,
  surroundings: ClusterSurroundings,
  deps: DrillDeps,
  keep: (state: DrillState) => Promise<DrillState>,
  signal: AbortSignal,
): Promise<DrillPass> {
  const { clock } = deps
  const machine = declaration.drill?.name ?? ''
  const { steps } = planDrill(declaration.spec, { ...begun, name: begun.snapshot, usable: 'yes' }, machine, {
    key: declaration.drill?.key ?? declaration.key,
  })
  const written = (step: Step<'operation'>, perform: () => Promise<Outcome>) => {
    const { epoch, nextIntentionId } = deps
    const begun = { id: nextIntentionId(), epoch, key: declaration.key, atMs: clock.now() }
    return journalled({ ...begun, state: 'intended', step }, deps, perform)
  }
  const events: NewEvent[] = []
  let effects = 0
  let run = begun
  const end = async (problem?: string): Promise<DrillPass> => {
    const state = await keep(endedDrill(run, problem, clock.now()))
    const { message } = state.result ?? { message: '' }
    const reason = problem === undefined ? 'DrillPassed' : 'DrillFailed'
    events.push(tell(declaration, reason, message, clock.now()))
    return { state, events, effects }
  }
  for (let step = steps[run.step]; step !== undefined && !signal.aborted; step = steps[run.step]) {
    const went = await advance(step, run.begun, deps.operator, written, surroundings, signal)
    effects += went.effects
    if (went.is === 'failed') return end(`${step.summary}: ${went.message}`)
    if (went.is === 'waits') {
      if (clock.now() - run.stepSinceMs > LIMITS.operationStepMs) return end(`${step.summary}: ${went.message}`)
      if (went.begun !== run.begun) run = { ...run, begun: went.begun }
      if (went.goesOn === true && went.message !== run.progress)
        run = { ...run, progress: went.message, stepSinceMs: clock.now() }
      return { state: await keep({ lastMs: run.sinceMs, run }), events, effects }
    }
    events.push(tell(declaration, 'Drill', step.summary, clock.now()))
    const said = went.said ?? run.said
    run = {
      ...run,
      step: run.step + 1,
      stepSinceMs: clock.now(),
      begun: false,
      ...defined({ said }),
    }
    await keep({ lastMs: run.sinceMs, run })
  }
  return signal.aborted ? { state: { lastMs: run.sinceMs, run }, events, effects } : end()
}

/** The drill's machine is no node: only the drill knows its shell. */
function withDrill(around: ClusterSurroundings, name: string, reach: NodeReach | undefined): ClusterSurroundings {
  return reach === undefined ? around : { ...around, nodes: new Map([...around.nodes, [name, reach]]) }
}

function tell({ key, origin }: ClusterDeclaration, reason: string, message: string, atMs: number): NewEvent {
  const type = reason === 'DrillFailed' ? 'Warning' : 'Normal'
  return { atMs, key, type, reason, message, ...defined({ commit: origin.commit }) }
}
