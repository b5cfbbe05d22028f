import { type OperationResult, runOperation } from '../../../engine/clusters/operation.ts'
import { defined } from '../../../lib/defined.ts'
import { type ClusterOperation, destroyedBy, NO_REQUESTS, type OperationAt } from '../../../model/observed-cluster.ts'
import { toldStep, wayOf } from '../../../model/shown-step.ts'
import type { Step } from '../../../model/step.ts'
import { activeRequests, type Store } from '../../../store/port.ts'
import type { OpenedCluster } from '../../clusters/opened.ts'
import { changeRequests, withEffect, withoutRequest, withProgress } from '../../clusters/requests.ts'
import { note, writeData } from '../../output.ts'
import { clean } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { saidYes } from '../../said-yes.ts'
import { CliError, EXIT, type ExitCode, type Options, signalCode } from '../../verb.ts'
import { noteOperation } from '../machine/find.ts'

/**
 * Shows an operation as its list of steps, asks, and runs them in order. A refusal ends it before anything changed; a
 * failure leaves the cluster held, so that nothing interferes before a person has looked.
 */
export async function operate(
  runtime: Runtime,
  store: Store,
  opened: OpenedCluster,
  operation: ClusterOperation,
  options: Options,
): Promise<ExitCode> {
  const { key, name } = opened.declaration
  if (typeof options.confirm === 'string' && options.confirm !== name)
    throw new CliError(`--confirm names ${clean(options.confirm)}, and this is ${name}. Nothing was done.`)
  if (!(await writeData(runtime, options.output, operation))) show(runtime, operation, options)
  if (operation.refusals.length > 0) {
    await noteOperation(
      runtime,
      store,
      key,
      operation.name,
      'refused',
      operation.refusals.map(({ reason }) => reason).join('; '),
    )
    return EXIT.failed
  }
  if (options.plan === true) return EXIT.ok
  if (!(await agreed(runtime, operation, options))) {
    note(runtime, `Nothing was done: ${operation.name} was not confirmed.`)
    return EXIT.failed
  }
  const result = await performOperation(runtime, store, opened, operation, {
    begun: (step, number) => note(runtime, `[${number}/${operation.steps.length}] ${step.summary}`),
    said: (text) => note(runtime, `  ${clean(text)}`),
  })
  if (result.is === 'done') {
    const lost = destroyedBy(operation)
    const destroyed = lost.length === 0 ? '' : ` What ${lost.join(', ')} held before is destroyed.`
    note(runtime, `Done: ${operation.name}.${destroyed}`)
    return EXIT.ok
  }
  if (runtime.signal.aborted) return signalCode(runtime.signal)
  throw new CliError(`${clean(messageOf(result))}. The cluster is held; look into it and run the same command again.`)
}

/** Receives the progress of an operation. */
export interface OperationWatcher {
  begun(step: Step<'operation'>, number: number): void
  said(text: string): void
}

/** Runs the steps of an accepted operation, and records each in the audit log. */
export async function performOperation(
  runtime: Runtime,
  store: Store,
  opened: OpenedCluster,
  operation: ClusterOperation,
  watcher: OperationWatcher,
): Promise<OperationResult> {
  const { key, name } = opened.declaration
  const noted = (outcome: 'done' | 'refused', message: string) =>
    noteOperation(runtime, store, key, operation.name, outcome, message)
  await noted('done', `begun: ${operation.steps.length} steps, ${destroyedBy(operation).length} nodes lose their data`)
  const result = await runOperation(operation, {
    operator: opened.operator,
    clock: runtime.clock,
    signal: runtime.signal,
    surroundings: () => opened.surroundings(),
    setHold: async (reason) => {
      const allow = `wait for its end; if it was interrupted, run it again`
      await changeRequests(store, name, (requests) =>
        reason === undefined
          ? withoutRequest(requests, 'hold')
          : { ...requests, hold: { ...requests.hold, reason, allow } },
      )
    },
    unsure: async () => (await activeRequests(store, `cluster-orders/${name}`, NO_REQUESTS)).hold?.effect,
    intend: async (effect) => {
      await changeRequests(store, name, (requests) => withEffect(requests, effect))
    },
    onProgress: (said) => watcher.said(said),
    onStep: async (step, number, state, said) => {
      if (state === 'begun') {
        watcher.begun(step, number)
        // The requests were about nodes and members that no longer exist after a restore.
        if (step.verb === 'restore-snapshot')
          await changeRequests(store, name, (requests) => ({ ...requests, replace: [], removeMembers: [], forget: [] }))
        await changeRequests(store, name, (requests) =>
          withProgress(requests, progressOf(operation.name, step, runtime.clock.now())),
        )
        return
      }
      if (said !== undefined) watcher.said(said)
      const note = said === undefined ? '' : `: ${clean(said)}`
      await noted('done', `${number}/${operation.steps.length} ${step.summary}${note}`)
    },
  })
  if (result.is === 'done') await noted('done', 'ended')
  else await noted('refused', messageOf(result))
  return result
}

function progressOf(name: string, { verb, node, until, summary }: Step<'operation'>, sinceMs: number): OperationAt {
  return { name, verb, summary, sinceMs, ...defined({ node, until }) }
}

/** Returns the failed step and its error. */
export function messageOf({ step, message }: OperationResult & { readonly is: 'failed' }): string {
  return `${step.summary}: ${message}`
}

function show(runtime: Runtime, operation: ClusterOperation, { confirm, plan }: Options): void {
  const { name, steps, refusals, warnings, naming } = operation
  const lines = [
    `${name}:`,
    ...steps.map(
      (step, index) =>
        `  ${String(index + 1).padStart(2)}. ${toldStep(step)} (${wayOf(step.lane)})${step.lane === 'local' ? '' : `; waits for ${step.awaits}`}`,
    ),
    ...warnings.map((warning) => `  Note: ${warning}.`),
    ...refusals.map(({ reason, allow }) => `  Refused: ${reason}. ${allow.charAt(0).toUpperCase()}${allow.slice(1)}.`),
    ...(refusals.length > 0 ? [] : sumOf(operation)),
    // Where it is not only listed, the question or the refusal says it.
    ...(naming === undefined || confirm === naming.cluster || plan !== true
      ? []
      : [`Needs a person: ${naming.reason}. To allow it: ${naming.allow}.`]),
  ]
  runtime.out.write(lines.map((line) => `${clean(line, 500)}\n`).join(''))
}

/** Returns the last line of a destroying operation's plan: lost data counts as destroyed. */
function sumOf(operation: ClusterOperation): readonly string[] {
  const lost = destroyedBy(operation)
  return lost.length === 0 ? [] : [`Plan: ${lost.length} to destroy. Disruption: data-loss (${lost.join(', ')}).`]
}

async function agreed(runtime: Runtime, operation: ClusterOperation, options: Options): Promise<boolean> {
  const { name, naming } = operation
  if (naming !== undefined) return await named(runtime, naming, options)
  if (options.yes === true) return true
  if (!runtime.interactive) throw new CliError(`${name} needs a yes. Nobody is at the terminal: say --yes.`)
  if (destroyedBy(operation).length > 0)
    return (await runtime.ask(`This destroys data. Only 'yes' will be accepted: `)) === 'yes'
  return saidYes(await runtime.ask(`Do all of this now? [y/N] `))
}

/** Asks a person to name the living cluster that the operation destroys. `--yes` does not say which one. */
async function named(
  runtime: Runtime,
  { cluster, reason, allow }: NonNullable<ClusterOperation['naming']>,
  { confirm }: Options,
): Promise<boolean> {
  if (confirm === cluster) return true
  if (!runtime.interactive) throw new CliError(`${reason}. --yes is not enough for that: ${allow}.`)
  const answer = await runtime.ask(`${clean(reason)}. Type the name of the cluster (${cluster}) to go on: `)
  return answer === cluster
}
