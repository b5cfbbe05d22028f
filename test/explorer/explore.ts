import { emptyMemory } from '../../src/drivers/k3s/memory.ts'
import { croftPasses, type PassResult, type Planted, type State } from './actor.ts'
import { takeAdvice } from './advice.ts'
import { believes, isAsDeclared } from './invariants.ts'
import { type Move, movesOf, shownMove, troubles } from './moves.ts'
import { pass, type World, waitAfter } from './world.ts'

export interface Budget {
  readonly faults: number
  readonly deeds: number
  /** Most states of one story. */
  readonly states: number
}

export interface Finding {
  readonly what: string
  /** The shortest way there that the search met. */
  readonly script: readonly string[]
}

/** Findings for a person, each with its way. */
export function told(findings: readonly Finding[]): string {
  return findings.map(({ what, script }) => [what, ...script].join('\n  ')).join('\n')
}

export interface Exploration {
  readonly states: number
  readonly findings: readonly Finding[]
  /** Every state within the budget was visited. */
  readonly whole: boolean
}

interface Vertex {
  readonly state: State
  readonly faults: number
  readonly deeds: number
  readonly from?: Vertex
  readonly move?: string
  /** The state after a pass in which nothing goes wrong. */
  next?: string
  result?: PassResult
}

/** Looks at every state that a story can come to, shortest ways first, and at where each of them ends. */
export async function explore(start: World, budget: Budget, planted?: Planted): Promise<Exploration> {
  const found = new Map<string, Finding>()
  const first: Vertex = { state: { world: start, memory: emptyMemory(), quiet: 0 }, faults: 0, deeds: 0 }
  const known = new Map<string, Vertex>([[keyOf(first), first]])
  const queue: Vertex[] = [first]
  for (let at = 0; at < queue.length && queue.length <= budget.states; at++) {
    const vertex = queue[at]
    if (vertex === undefined) break
    const plain = await croftPasses(vertex.state, undefined, planted)
    vertex.result = plain
    judge(vertex, plain, 'croft passes', found)
    vertex.next = arrive(vertex, plain.state, plain, scriptOf(plain), 0, 0)
    for (const move of movesOf(vertex.state.world, plain.effects.length, budget, vertex)) await take(vertex, move)
  }
  const whole = queue.length <= budget.states
  if (whole) for (const vertex of queue) await judgeEnd(vertex)
  return { states: known.size, findings: [...found.values()], whole }

  async function take(vertex: Vertex, move: Move): Promise<void> {
    if ('fault' in move) {
      const result = await croftPasses(vertex.state, move.fault, planted)
      judge(vertex, result, shownMove(move), found)
      arrive(vertex, result.state, result, `${scriptOf(result)} — ${shownMove(move)}`, 1, 0)
      return
    }
    const world = structuredClone(vertex.state.world)
    troubles[move.trouble].happens(world, move.node)
    const deed = troubles[move.trouble].deed
    arrive(vertex, { ...vertex.state, world, quiet: 0 }, undefined, shownMove(move), deed ? 0 : 1, deed ? 1 : 0)
  }

  function arrive(
    from: Vertex,
    state: State,
    result: PassResult | undefined,
    move: string,
    faults: number,
    deeds: number,
  ): string {
    const { world } = state
    // A pass returns a new world.
    if (result !== undefined) pass(world, waitAfter(state.quiet))
    const next: Vertex = {
      state: { ...state, quiet: Math.min(state.quiet, QUIET) },
      faults: from.faults + faults,
      deeds: from.deeds + deeds,
      from,
      move,
    }
    const key = keyOf(next)
    if (!known.has(key)) {
      known.set(key, next)
      queue.push(next)
    }
    return key
  }

  /** Follows a state to its rest: it must be as declared, or the plan must say which deed makes it so. */
  async function judgeEnd(vertex: Vertex): Promise<void> {
    const round = restOf(vertex, known)
    if (round.checked) return
    // Croft tries again now and then, and says all the while what stands in the way.
    const isQuiet = ({ result }: Vertex) => result?.effects.length === 0
    const last =
      round.vertices.find((one) => isSaid(one) && isQuiet(one)) ?? round.vertices.find(isSaid) ?? round.vertices[0]
    if (last?.result === undefined) return
    if (!isSaid(last) && round.vertices.some(({ result }) => (result?.effects.length ?? 0) > 0)) {
      const texts = round.vertices.flatMap(({ result }) => result?.effects.map(({ text }) => text) ?? [])
      return add(found, `goes round for ever: ${[...new Set(texts)].join(', ')}`, pathTo(last))
    }
    if (isAsDeclared(last.state.world)) return
    const outcome = await takeAdvice(last.state, last.result, planted)
    if (outcome !== undefined) add(found, outcome, pathTo(last))
  }
}

/** After so many quiet passes nothing new comes about by waiting. */
const QUIET = 6
interface Round {
  readonly vertices: readonly Vertex[]
  checked: boolean
}

const rounds = new WeakMap<Vertex, Round>()

/** The plan says what a person must know: a hold, a refusal, or what K3s on a node dies of. */
function isSaid({ result, state }: Vertex): boolean {
  if (result === undefined) return false
  const { holds, refusals, nodes } = result.decision
  const failures = Object.values(state.world.nodes).flatMap(({ failure }) => failure ?? [])
  const tells = nodes.some(({ message }) => failures.some((failure) => message.includes(failure)))
  return holds.length + refusals.length > 0 || tells
}

/** The states that a state goes round in, once nothing goes wrong any more. */
function restOf(vertex: Vertex, known: ReadonlyMap<string, Vertex>): Round {
  const path: Vertex[] = []
  const at = new Map<Vertex, number>()
  let here: Vertex | undefined = vertex
  while (here !== undefined && !at.has(here)) {
    const done = rounds.get(here)
    if (done !== undefined) {
      for (const one of path) rounds.set(one, done)
      return { ...done, checked: true }
    }
    at.set(here, path.length)
    path.push(here)
    here = here.next === undefined ? undefined : known.get(here.next)
  }
  const round: Round = { vertices: here === undefined ? [] : path.slice(at.get(here)), checked: false }
  for (const one of path) rounds.set(one, round)
  return round
}

function judge(vertex: Vertex, result: PassResult, move: string, found: Map<string, Finding>): void {
  const breaches = [
    ...result.effects.flatMap((effect) => effect.breaches),
    ...believes(vertex.state.world, result.observed),
  ]
  for (const breach of breaches) add(found, breach, [...pathTo(vertex), `${scriptOf(result)} — ${move}`])
}

function add(found: Map<string, Finding>, what: string, script: readonly string[]): void {
  if (!found.has(what)) found.set(what, { what, script })
}

function scriptOf({ decision, effects }: PassResult): string {
  if (effects.length > 0) return `croft: ${effects.map(({ text }) => text).join(', ')}`
  const said = [...decision.holds, ...decision.refusals].map(
    ({ guard, node }) => `${guard}${node === undefined ? '' : ` ${node}`}`,
  )
  return said.length === 0 ? 'croft waits' : `croft waits (${said.join(', ')})`
}

function pathTo(vertex: Vertex): readonly string[] {
  const path: string[] = []
  for (let here: Vertex | undefined = vertex; here?.move !== undefined; here = here.from) path.unshift(here.move)
  return path
}

/** Older than this, a time says nothing more. */
const OLD_MS = 20 * 60_000

/** What tells two states apart: times only by their age. */
function keyOf({ state: { world, memory, quiet }, faults, deeds }: Vertex): string {
  const { nowMs, skewMs } = world
  // What nodes say of a time is that much off, and what is remembered of it as well.
  const slack = Math.abs(skewMs)
  const age = (ms: number) => Math.max(-1 - slack, Math.min(OLD_MS + slack, nowMs - ms))
  const seen = (key: string, value: unknown): unknown => {
    // Croft tries for ever, at its longest pause: the fourth time is as the third.
    if (key === 'count' && typeof value === 'number') return Math.min(value, MOST_TRIES)
    if (typeof value === 'number' && value > 1e12) return age(value)
    if (typeof value === 'string')
      return value.replaceAll(ISO, (text) => String(age(Date.parse(text)))).replaceAll(STAMP, '')
    if (value instanceof Map) return [...value]
    if (value instanceof Set) return [...value]
    return value
  }
  const { snapshots: _, ...kept } = memory
  return JSON.stringify([{ ...world, nowMs: 0 }, kept, quiet, faults, deeds], seen)
}

const MOST_TRIES = 3
const ISO = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/g
/** croft's own snapshots are called by their time. */
const STAMP = /croft-[0-9-]+/g
