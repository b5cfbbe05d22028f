import { showOrigin } from '../../model/origin.ts'
import { closing } from '../closing.ts'
import { EXIT } from '../exit.ts'
import { writeJson } from '../output.ts'
import type { Verb } from '../program.ts'
import { eventJson } from '../render/events.ts'
import { whyLines } from '../render/why.ts'
import { parseKey } from '../select.ts'
import { openExisting, realDirectory, stateFile } from '../state.ts'

/** Tells how a resource came to be as it is: which commit asked, what was planned, which calls were made. */
export const run: Verb = async (runtime, [resource = ''], options) => {
  const key = parseKey(await runtime.kinds(), resource, undefined)
  const real = realDirectory(runtime, String(options.dir))
  await using store = closing(
    await openExisting(runtime, stateFile(runtime.env, real, options.state as string | undefined)),
  )
  const [record, events, all] = await Promise.all([
    store.it.record(key),
    store.it.events({ key, limit: Number(options.limit) }),
    store.it.events({}),
  ])
  const revisions = all.filter((event) => event.reason === 'Revision')
  if (options.output === 'json') {
    writeJson(runtime.out, {
      key,
      ...(record === undefined ? {} : { record }),
      revisions: revisions.map(eventJson),
      events: events.map(eventJson),
    })
    return EXIT.ok
  }
  const declared = await runtime.load(real).catch(() => undefined)
  const origin = declared?.estate.resources.find((one) => one.key === key)?.origin
  const facts = { key, record, events, revisions, ...(origin === undefined ? {} : { origin: showOrigin(origin) }) }
  runtime.out.write(`${whyLines(facts).join('\n')}\n`)
  return EXIT.ok
}
