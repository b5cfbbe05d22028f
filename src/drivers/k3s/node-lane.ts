import path from 'node:path'
import { NODE_PROGRAM, type NodeFacts, type NodeVerb } from '../../k3s/node-program.ts'
import { NODE_PROGRAM_TEXT } from '../../k3s/programs.ts'
import type { Asked, KubernetesClient } from '../../kubernetes/client.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import type { ClusterSecrets, NodeSpec } from '../../model/cluster.ts'
import type { Outcome, Refusal, Step } from '../../model/step.ts'
import type { ClusterSurroundings } from '../cluster-port.ts'
import type { ObserveContext } from './memory.ts'
import { readFacts } from './read-node.ts'

/** The result of one call of the program on a node. */
export type ProgramAnswer<T> =
  | { readonly is: 'answer'; readonly value: T }
  | { readonly is: 'refused'; readonly error: string }
  /** `code`: of the ShellFailure. */
  | { readonly is: 'silence'; readonly ran: 'no' | 'maybe'; readonly message: string; readonly code?: string }

/** Installs our version of the program. Returns why it failed. */
export async function placeProgram(shell: Shell, signal: AbortSignal): Promise<string | undefined> {
  try {
    const there = await shell.readFile(NODE_PROGRAM, signal)
    if (there !== undefined && Buffer.from(there).toString('utf8') === NODE_PROGRAM_TEXT) return undefined
    if (there === undefined) {
      // A plain Debian lacks this directory, and no shell creates it for a file.
      const made = await shell.run(['mkdir', '-p', path.posix.dirname(NODE_PROGRAM)], { signal })
      if (made.code !== 0) return cleanText(made.stderr.trim() || `mkdir ended with ${made.code}`)
    }
    await shell.writeFile(NODE_PROGRAM, NODE_PROGRAM_TEXT, { mode: 0o755, signal })
    return undefined
  } catch (error) {
    if (error instanceof ShellFailure) return cleanText(error.message)
    throw error
  }
}

/** Reports whether the program exists and is ours. Writes nothing. */
export async function hasProgram(shell: Shell, signal: AbortSignal): Promise<boolean> {
  try {
    const there = await shell.readFile(NODE_PROGRAM, signal)
    return there !== undefined && Buffer.from(there).toString('utf8') === NODE_PROGRAM_TEXT
  } catch (error) {
    if (error instanceof ShellFailure) return false
    throw error
  }
}

/** Asks a node without our program: sends it along with the request, and writes nothing there. */
export async function askFactsOnly(shell: Shell, signal: AbortSignal): Promise<ProgramAnswer<NodeFacts>> {
  return factsIn(await ran(shell, ['/bin/sh', '-s', '--', 'facts'], NODE_PROGRAM_TEXT, signal))
}

export async function askFacts(shell: Shell, signal: AbortSignal): Promise<ProgramAnswer<NodeFacts>> {
  return factsIn(await call(shell, ['facts'], undefined, signal))
}

function factsIn(reply: ProgramAnswer<unknown>): ProgramAnswer<NodeFacts> {
  if (reply.is !== 'answer') return reply
  const facts = readFacts(reply.value)
  return facts === undefined
    ? { is: 'refused', error: 'the program on the node answers something else than facts' }
    : { is: 'answer', value: facts }
}

/** Runs one verb. Secrets are in the input, never in an argument, since every user on the node sees arguments. */
export async function command(
  shell: Shell,
  verb: Exclude<NodeVerb, 'facts'>,
  signal: AbortSignal,
  { argument, input }: { readonly argument?: string; readonly input?: unknown } = {},
): Promise<ProgramAnswer<'done'>> {
  const words = argument === undefined ? ([verb] as const) : ([verb, argument] as const)
  const reply = await askProgram(shell, words, signal, input === undefined ? undefined : JSON.stringify(input))
  return reply.is === 'answer' ? { is: 'answer', value: 'done' } : reply
}

/** Runs one verb and returns its answer's further fields. */
export async function askProgram(
  shell: Shell,
  words: readonly [Exclude<NodeVerb, 'facts'>, ...string[]],
  signal: AbortSignal,
  input?: string,
): Promise<ProgramAnswer<Readonly<Record<string, unknown>>>> {
  const reply = await call(shell, words, input, signal)
  if (reply.is !== 'answer') return reply
  const answer = reply.value as Readonly<Record<string, unknown>>
  if (answer.ok === true) return { is: 'answer', value: answer }
  return { is: 'refused', error: typeof answer.error === 'string' ? cleanText(answer.error) : 'no reason given' }
}

/** Returns the outcome of a step whose call did not succeed. */
export function outcomeOf(reply: Exclude<ProgramAnswer<unknown>, { readonly is: 'answer' }>, doing: string): Outcome {
  if (reply.is === 'silence') {
    const message = `could not ${doing}: ${reply.message}`
    return reply.ran === 'no' ? { result: 'not-sent', message } : { result: 'unclear', message }
  }
  return {
    result: 'refused',
    refusal: { reason: 'NodeRefused', meaning: 'backoff', message: `could not ${doing}: ${reply.error}` },
  }
}

function call(
  shell: Shell,
  words: readonly string[],
  input: string | undefined,
  signal: AbortSignal,
): Promise<ProgramAnswer<unknown>> {
  return ran(shell, [NODE_PROGRAM, ...words], input, signal)
}

async function ran(
  shell: Shell,
  argv: readonly string[],
  input: string | undefined,
  signal: AbortSignal,
): Promise<ProgramAnswer<unknown>> {
  try {
    const answered = await shell.run(argv, defined({ signal, timeoutMs: LIMITS.commandTimeoutMs, input }))
    const line = answered.stdout.trim().split('\n').at(-1) ?? ''
    const value = recordIn(line)
    if (value !== undefined) return { is: 'answer', value }
    const said = cleanText(answered.stderr.trim() === '' ? line : answered.stderr.trim(), 500)
    return { is: 'refused', error: `exit code ${answered.code}${said === '' ? '' : `: ${said}`}` }
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
    return { is: 'silence', ran: error.ran, message: cleanText(error.message), code: error.code }
  }
}

/** The context of a step. */
export interface StepContext extends ObserveContext {
  readonly step: Step<'cluster'>
  readonly surroundings: ClusterSurroundings
  readonly signal: AbortSignal
  readonly secrets: ClusterSecrets | undefined
}

export const DONE: Outcome = { result: 'done' }

export function refused(reason: string, meaning: Refusal['meaning'], message: string): Outcome {
  return { result: 'refused', refusal: { reason, meaning, message } }
}

export function nodeName({ step }: StepContext): string {
  return step.node ?? ''
}

export function specOf({ declaration, step }: StepContext): NodeSpec | undefined {
  return [...declaration.spec.servers, ...declaration.spec.agents].find(({ name }) => name === step.node)
}

/** Continues with the API's client, or returns why there is none. */
export async function withApi(
  actor: StepContext,
  work: (client: KubernetesClient, secrets: ClusterSecrets) => Promise<Outcome>,
): Promise<Outcome> {
  const { secrets, access } = actor
  const client = secrets === undefined ? undefined : access.client(secrets)
  if (client === undefined || secrets === undefined) {
    return { result: 'not-sent', message: `there is no way to the API of ${actor.declaration.name}` }
  }
  return work(client, secrets)
}

/** Returns the outcome of a step from the API's answer. `gone`: a missing object is success. */
export function outcomeOfAsked(asked: Asked<unknown>, gone: 'is-success' | 'is-refusal' = 'is-refusal'): Outcome {
  if (asked.is === 'answer') return DONE
  if (asked.is === 'error') {
    if (gone === 'is-success' && asked.status === 404) return DONE
    return { result: 'refused', refusal: asked.refusal }
  }
  return asked.sent === 'no'
    ? { result: 'not-sent', message: asked.message }
    : { result: 'unclear', message: asked.message }
}

/** Continues with the shell of the step's node. */
export async function withShell(actor: StepContext, work: (shell: Shell) => Promise<Outcome>): Promise<Outcome> {
  const name = nodeName(actor)
  const shell = actor.surroundings.nodes.get(name)?.shell
  if (shell === undefined) return { result: 'not-sent', message: `there is no way into ${name} at the moment` }
  if (!actor.memory.programs.has(name)) {
    const problem = await placeProgram(shell, actor.signal)
    if (problem !== undefined)
      return { result: 'not-sent', message: `could not copy croft's program to ${name}: ${problem}` }
    actor.memory.programs.add(name)
  }
  actor.memory.touched.add(name)
  return work(shell)
}

/** Continues with fresh facts of the node: an observation of seconds ago is too old for an effect. */
export async function withFacts(
  actor: StepContext,
  work: (shell: Shell, facts: NodeFacts) => Promise<Outcome>,
): Promise<Outcome> {
  return withShell(actor, async (shell) => {
    const reply = await askFacts(shell, actor.signal)
    return reply.is === 'answer' ? work(shell, reply.value) : outcomeOf(reply, `look at ${nodeName(actor)}`)
  })
}
