import assert from 'node:assert/strict'
import type { Datacentre, Write } from '../sim/datacentre.ts'
import type { Plan } from '../src/model/plan.ts'
import { shownCall } from '../src/model/shown-step.ts'

/** A call that changes something, as the plan shows it and as the datacentre saw it, in one form. */
interface Call {
  /** The guest or file it is about: order counts among the calls about one thing. */
  readonly about: string
  readonly text: string
}

/** Every call that a plan shows as going to be made, in its order. What is held or refused shows none. */
export function plannedCalls(plan: Plan): readonly Call[] {
  return plan.entries
    .map(({ action }) => (action.do === 'wait' ? (action.next ?? action) : action))
    .flatMap((action) => ('steps' in action ? action.steps : []))
    .map(shownCall)
    .map(({ method, path, params }) => callOf(method, decodeURIComponent(path), params))
}

/** Every write that the datacentre accepted since there were `from` of them. */
export function acceptedCalls(datacentre: Datacentre, from: number): readonly Call[] {
  return datacentre.writes.slice(from).map(({ method, path, params }: Write) => {
    const place = decodeURIComponent(path.split('?')[0] ?? '')
    return callOf(method, place, params)
  })
}

/** Exactly the planned calls happened: none missing, none added, those about one thing in the order shown. */
export function assertSameCalls(planned: readonly Call[], accepted: readonly Call[], hint: string): void {
  assert.deepEqual(byThing(accepted), byThing(planned), `what happened (+) is not what the plan showed (-); ${hint}`)
}

function byThing(calls: readonly Call[]): Record<string, readonly string[]> {
  const things = new Map<string, string[]>()
  for (const { about, text } of calls) {
    const list = things.get(about) ?? []
    list.push(text)
    things.set(about, list)
  }
  return Object.fromEntries([...things].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function callOf(method: string, path: string, params: Readonly<Record<string, unknown>>): Call {
  const shown = Object.entries(params)
    // The version of the configuration that was read last: known only when the call is made.
    .filter(([name]) => name !== 'digest')
    .map(([name, value]) => `${name}=${String(value)}`)
    .sort()
  return { about: aboutOf(path, params), text: [`${method} ${path}`, ...shown].join(' ') }
}

function aboutOf(path: string, params: Readonly<Record<string, unknown>>): string {
  const text = (name: string) => (typeof params[name] === 'string' ? params[name] : undefined)
  const guest = /\/(?:qemu|lxc)\/(\d+)/.exec(path)?.[1] ?? text('vmid') ?? text('vms')
  return guest === undefined ? `${path} ${text('filename') ?? ''}` : `guest ${guest}`
}
