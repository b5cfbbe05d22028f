import { type ComposedBy, showOrigin } from '../../model/declaration.ts'
import type { CroftEvent, ResourceRecord } from '../../model/record.ts'
import { foldEvents } from './events.ts'
import { clean } from './text.ts'

/** The facts about one resource and its history. */
export interface WhyFacts {
  readonly key: string
  readonly record: ResourceRecord | undefined
  /** Events of this resource, oldest first. */
  readonly events: readonly CroftEvent[]
  /** Events of the sources: which commit was followed since when. */
  readonly revisions: readonly CroftEvent[]
  readonly origin?: string
  /** The instance of a composed API that it is a part of. */
  readonly composed?: ComposedBy
  /** The declared dependencies. */
  readonly awaited?: readonly AwaitedDependency[]
}

export interface AwaitedDependency {
  readonly key: string
  readonly ready: boolean
  /** The reason if it is not ready. */
  readonly message?: string
}

/** Explains in sentences how a commit led to the current state. Pure. */
export function whyLines({
  key,
  record,
  events,
  revisions,
  origin,
  composed,
  awaited = [],
}: WhyFacts): readonly string[] {
  const lines: string[] = []
  if (record === undefined)
    lines.push(`The database of this computer has no record of ${key}: croft has not acted on it from here.`)
  else lines.push(...currentState(key, record))
  if (origin !== undefined) lines.push(`It is declared at ${origin}.`)
  if (composed !== undefined)
    lines.push(`It is a part of ${composed.instance} (${showOrigin(composed.origin)}), as ${composed.definition} says.`)
  for (const one of awaited) lines.push(awaitedLine(one))
  let commit: string | undefined
  for (const { event, count, firstMs } of foldEvents(events)) {
    if (event.commit !== undefined && event.commit !== commit) {
      commit = event.commit
      lines.push(commitLine(event.commit, revisions))
    }
    lines.push(`${sentence(event)}${count === 1 ? '' : ` This happened ${count} times since ${at(firstMs)}.`}`)
  }
  if (record === undefined) lines.push('Run croft plan to see whether it exists.')
  else if (events.length === 0) lines.push('The store has no events for it.')
  if (record !== undefined) lines.push('croft saw this when it last ran. Run croft health to look now.')
  return lines.map((line) => clean(line))
}

function awaitedLine({ key, ready, message }: AwaitedDependency): string {
  if (ready) return `It depends on ${key}, which is Ready.`
  return `It waits for ${key}, which is not Ready yet${message === undefined ? '' : `: ${message}`}.`
}

function currentState(key: string, record: ResourceRecord): readonly string[] {
  const where =
    record.externalId === undefined
      ? ''
      : ` as ${record.externalId}${record.host === undefined ? '' : ` on ${record.host}`}`
  const lines = [`${key}${where} is ${record.status}.`]
  for (const { type, status, reason, message, sinceMs } of record.conditions) {
    if (type === 'Stalled' && status === 'False') continue
    lines.push(`Since ${at(sinceMs)} ${type} is ${status} (${reason})${message === '' ? '' : `: ${message}`}.`)
  }
  if (record.failure !== undefined) {
    const { count, reason, message, firstMs } = record.failure
    lines.push(`It failed ${count} ${count === 1 ? 'time' : 'times'} since ${at(firstMs)} with ${reason}: ${message}.`)
  }
  if (record.driftSinceMs !== undefined) {
    const by =
      record.driftBy === undefined
        ? 'croft does not know who did it'
        : `${record.driftBy.user} did it at ${at(record.driftBy.atMs)} by ${record.driftBy.task}`
    lines.push(`Since ${at(record.driftSinceMs)} it differs from Git though Git did not change: ${by}.`)
  }
  return lines
}

function commitLine(commit: string, revisions: readonly CroftEvent[]): string {
  const known = revisions.find((event) => event.commit === commit)
  if (known === undefined) return `Commit ${commit.slice(0, 12)} asked for it:`
  return `Commit ${commit.slice(0, 12)} came into force at ${at(known.atMs)} (${known.message}):`
}

function sentence({ atMs, type, reason, message, cause }: CroftEvent): string {
  const because =
    cause?.plan === undefined
      ? ''
      : `, because ${cause.plan}${cause.drift === true ? ' and Git did not ask for it' : ''}`
  const call = cause?.call === undefined ? '' : ` [${cause.call}]`
  const who = cause?.actor === undefined ? '' : `, as ${cause.actor} asked`
  switch (reason) {
    case 'Started':
      return `  ${at(atMs)} croft began to ${message}${because}${who}.${call}`
    case 'Done':
      return `  ${at(atMs)} ${message}: done.${call}`
    case 'Drift':
      return `  ${at(atMs)} it had drifted: ${message}.`
    case 'Held':
    case 'Refused':
      return `  ${at(atMs)} nothing was done: ${message}.`
    default:
      return `  ${at(atMs)} ${type === 'Warning' ? 'trouble, ' : ''}${reason}: ${message}.${call}`
  }
}

function at(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}
