import { defined } from '../../lib/defined.ts'
import { ownerOf, type ResourceKey, showOrigin } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { realDirectory } from '../../state/state-file.ts'
import { existingState, exitOfLoaded } from '../load.ts'
import { writeData } from '../output.ts'
import { eventJson } from '../render/events.ts'
import { type AwaitedDependency, whyLines } from '../render/why.ts'
import { resolveKey } from '../select.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'

/** Tells how a resource came to be as it is: which commit asked, what was planned, which calls were made. */
export const run: Verb = async (runtime, [resource = ''], options) => {
  const directory = String(options.dir)
  const real = realDirectory(runtime, directory)
  const declared = await runtime.load(real).catch(() => undefined)
  await using store = await existingState(runtime, real, options)
  const records = await store.it.records()
  const known = [...(declared?.declarations ?? []), ...(declared?.estate.resources ?? []), ...records].map(
    (one) => one.key,
  )
  const key = resolveKey(await runtime.kinds(), [...new Set(known)], resource, undefined)
  const [record, events, all] = await Promise.all([
    store.it.record(key),
    store.it.events({ key, limit: Number(options.limit) }),
    store.it.events({}),
  ])
  if (!known.includes(key) && events.length === 0)
    throw new CliError(
      `There is no ${key} in ${directory}, declared or remembered. Run croft get to see what there is.`,
    )
  const code = declared === undefined ? EXIT.ok : exitOfLoaded(runtime, declared, directory)
  const revisions = all.filter((event) => event.reason === 'Revision')
  const data = defined({ key, record, revisions: revisions.map(eventJson), events: events.map(eventJson) })
  if (await writeData(runtime, options.output, data)) return code
  const { estate } = declared ?? {}
  const origin = estate?.resources.find((one) => one.key === key)?.origin
  const composed = declared?.declarations.find((one) => one.key === key || one.key === ownerOf(key))?.composedBy
  const awaited = estate === undefined ? [] : awaitedBy(key, estate, new Map(records.map((one) => [one.key, one])))
  const facts = {
    key,
    record,
    events,
    revisions,
    awaited,
    ...(composed === undefined ? {} : { composed }),
    ...(origin === undefined ? {} : { origin: showOrigin(origin) }),
  }
  runtime.out.write(`${whyLines(facts).join('\n')}\n`)
  return code
}

/** Returns its declared dependencies, with their progress. */
function awaitedBy(
  key: ResourceKey,
  { resources, clusters = [] }: Estate,
  records: ReadonlyMap<ResourceKey, ResourceRecord>,
): readonly AwaitedDependency[] {
  const { policy } = resources.find((one) => one.key === key) ?? clusters.find((one) => one.key === key) ?? {}
  return (policy?.after ?? []).map((need) => {
    const things = [...resources, ...clusters].filter((one) => one.key === need || ownerOf(one.key) === need)
    const unready = things.find(({ key: thing }) => !isReady(records.get(thing)))
    const message = records.get(unready?.key ?? '')?.conditions.find(({ type }) => type === 'Ready')?.message
    return { key: need, ready: unready === undefined, ...(message === undefined ? {} : { message }) }
  })
}

function isReady(record: ResourceRecord | undefined): boolean {
  return record?.conditions.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}
