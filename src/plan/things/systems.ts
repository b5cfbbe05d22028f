import type { Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { compareSystems, systemText } from '../../model/system-id.ts'
import { validApprovals } from '../approvals.ts'
import type { Suspicion } from './suspicion.ts'
import type { World } from './world.ts'

/**
 * Reports whether a record's thing is on this connection's system. A record without a system goes by its connection.
 */
export function isThere(
  { system }: Pick<ResourceRecord, 'system'>,
  world: World | undefined,
): 'same' | 'other' | 'unknown' {
  if (system === undefined) return 'same'
  return world?.survey === undefined ? 'unknown' : compareSystems(system, world.survey.system)
}

/** Returns connections whose things are gone, as a person declared in Git. */
export function saidGone(estate: Estate, nowMs: number): ReadonlySet<string> {
  return new Set(validApprovals(estate, nowMs).flatMap(({ absence = [] }) => absence))
}

/**
 * Returns the record under the connection that leads to its system now: a connection that got another name, or a second one to
 * the same system, moves nothing. Undefined: its connection leads elsewhere, and a person says that what was there is gone.
 */
export function onItsSystem(
  record: ResourceRecord,
  wanted: string | undefined,
  worlds: ReadonlyMap<string, World>,
  gone: ReadonlySet<string>,
): ResourceRecord | undefined {
  const { system, connection, attempt } = record
  const own = worlds.get(connection)
  const isHere = isThere(record, own) === 'same'
  if (system === undefined || (isHere && (wanted ?? connection) === connection)) return record
  for (const name of wanted === undefined ? worlds.keys() : [wanted])
    if (isThere(record, worlds.get(name)) === 'same')
      return {
        ...record,
        connection: name,
        ...(attempt === undefined ? {} : { attempt: { ...attempt, connection: name } }),
      }
  return own?.survey !== undefined && !isHere && gone.has(connection) ? undefined : record
}

/** Returns why a survey proves nothing about recorded things: the connection leads, or may lead, to another system. */
export function doubtOf(world: World, records: Iterable<ResourceRecord>): Suspicion | undefined {
  const { survey, connection } = world
  if (survey === undefined) return undefined
  const { name } = connection
  let found: { readonly is: 'other' | 'unknown'; readonly record: ResourceRecord } | undefined
  let count = 0
  for (const record of records) {
    if (record.connection !== name || record.status === 'Orphaned') continue
    const is = isThere(record, world)
    if (is === 'same') continue
    count++
    if (found === undefined || is === 'other') found = { is, record }
  }
  if (found?.record.system === undefined) return undefined
  const { is, record } = found
  const { system: now } = survey
  const was = systemText(record.system ?? {})
  const held = count === 1 ? record.key : `${record.key} and ${count - 1} more`
  const leave = `if what croft made there is really gone or this is its system from now on, an Approval that lists ${name} under absence`
  if (now?.is !== 'seen') {
    const why = now === undefined ? 'its driver no longer says so' : now.why
    return {
      system: 'unknown',
      message: `which system ${name} leads to cannot be told (${why}); what croft keeps as ${held} is on ${was}`,
      allow: `make it readable (${why}); ${leave}`,
    }
  }
  const verb = is === 'other' ? 'leads to another system' : 'may lead to another system'
  return {
    system: is,
    message: `${name} ${verb}: what croft keeps as ${held} is on ${was}, and this is ${systemText(now.id)}`,
    allow: `let ${name} lead to ${was} again, and give the other system a connection with another name; ${leave}`,
  }
}
