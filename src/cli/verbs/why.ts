import { showOrigin } from '../../model/origin.ts'
import { openExisting, realDirectory, stateFile } from '../../state/state-file.ts'
import { closing } from '../load.ts'
import { writeData } from '../output.ts'
import { eventJson } from '../render/events.ts'
import { whyLines } from '../render/why.ts'
import { resolveKey } from '../select.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'

/** Tells how a resource came to be as it is: which commit asked, what was planned, which calls were made. */
export const run: Verb = async (runtime, [resource = ''], options) => {
  const directory = String(options.dir)
  const real = realDirectory(runtime, directory)
  const declared = await runtime.load(real).catch(() => undefined)
  await using store = closing(
    await openExisting(runtime, stateFile(runtime.env, real, options.state as string | undefined)),
  )
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
  const revisions = all.filter((event) => event.reason === 'Revision')
  const data = {
    key,
    ...(record === undefined ? {} : { record }),
    revisions: revisions.map(eventJson),
    events: events.map(eventJson),
  }
  if (await writeData(runtime, options.output, data)) return EXIT.ok
  const origin = declared?.estate.resources.find((one) => one.key === key)?.origin
  const facts = { key, record, events, revisions, ...(origin === undefined ? {} : { origin: showOrigin(origin) }) }
  runtime.out.write(`${whyLines(facts).join('\n')}\n`)
  return EXIT.ok
}
