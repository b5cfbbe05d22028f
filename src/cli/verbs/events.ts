import { existsSync } from 'node:fs'
import type { ResourceKey } from '../../model/declaration.ts'
import type { AuditEntry, CroftEvent } from '../../model/record.ts'
import { openExisting, realDirectory } from '../../state/state-file.ts'
import type { EventFilter, Store } from '../../store/port.ts'
import { closing, stateOf } from '../load.ts'
import { note, styleOf, writeData } from '../output.ts'
import { showAge } from '../render/duration.ts'
import { eventJson, renderEvents } from '../render/events.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { renderTable } from '../render/table.ts'
import type { Style } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { parseKey, resolveKey } from '../select.ts'
import { EXIT, type Options, type Verb } from '../verb.ts'

const WATCH_MS = 500

export const run: Verb = async (runtime, [resource], options) => {
  const real = realDirectory(runtime, String(options.dir))
  const file = stateOf(runtime, real, options)
  // `--watch` may start before the first apply has made the database.
  while (options.watch === true && !existsSync(file) && !runtime.signal.aborted)
    await runtime.clock.sleep(WATCH_MS, runtime.signal)
  await using store = closing(await openExisting(runtime, file))
  const key = resource === undefined ? undefined : await keyOf(runtime, store.it, real, resource)
  if (options.audit === true) return await showAudit(runtime, store.it, key, options)
  const filter: EventFilter = key === undefined ? {} : { key }
  const events = await store.it.events({ ...filter, limit: Number(options.limit) })
  if (options.watch === true) return await watch(runtime, store.it, filter, events, options)
  if (options.output === undefined) {
    if (events.length === 0) note(runtime, 'No events yet. They come with croft apply.')
    else show(runtime, events, options.headers !== false)
    return EXIT.ok
  }
  const list = { apiVersion: API_VERSION, kind: 'List', items: events.map(eventJson) }
  await writeData(runtime, options.output, list)
  return EXIT.ok
}

/** A bare name is looked up among the things with a record, then among events, then among declarations. */
async function keyOf(runtime: Runtime, store: Store, real: string, resource: string): Promise<ResourceKey> {
  const kinds = await runtime.kinds()
  if (resource.includes('/')) return parseKey(kinds, resource, undefined)
  const recorded = [...(await store.records()), ...(await store.events({}))].flatMap(({ key }) => key ?? [])
  const isKnown = recorded.some((key) => key.slice(key.lastIndexOf('/') + 1) === resource)
  const declared = isKnown ? undefined : await runtime.load(real).catch(() => undefined)
  const keys = [...(declared?.declarations ?? []), ...(declared?.estate.resources ?? [])].map(({ key }) => key)
  return resolveKey(kinds, [...new Set([...recorded, ...keys])], resource, undefined)
}

/** Lists requests and their authors, oldest first. */
async function showAudit(
  runtime: Runtime,
  store: Store,
  about: string | undefined,
  options: Options,
): Promise<typeof EXIT.ok> {
  const all = await store.audit({ limit: Number(options.limit) })
  const entries = about === undefined ? all : all.filter(({ subject }) => subject === about)
  if (options.output === undefined) {
    const nowMs = runtime.clock.now()
    runtime.out.write(
      renderAudit(entries, styleOf(runtime, runtime.out), { nowMs, headers: options.headers !== false }),
    )
    return EXIT.ok
  }
  const list = { apiVersion: API_VERSION, kind: 'List', items: entries.map(auditJson) }
  await writeData(runtime, options.output, list)
  return EXIT.ok
}

/** Stays until a signal comes. In JSON every event is one line, so that a program can read them as they come. */
async function watch(
  runtime: Runtime,
  store: Store,
  filter: EventFilter,
  first: readonly CroftEvent[],
  options: Options,
): Promise<typeof EXIT.ok> {
  const lines = options.output !== undefined
  const tell = (events: readonly CroftEvent[], headers: boolean) => {
    if (lines) for (const event of events) runtime.out.write(`${JSON.stringify(eventJson(event))}\n`)
    else if (events.length > 0) show(runtime, events, headers)
  }
  tell(first, options.headers !== false)
  let afterSeq = first.at(-1)?.seq ?? 0
  while (!runtime.signal.aborted) {
    await runtime.clock.sleep(WATCH_MS, runtime.signal)
    const fresh = await store.events({ ...filter, afterSeq })
    tell(fresh, false)
    afterSeq = fresh.at(-1)?.seq ?? afterSeq
  }
  return EXIT.ok
}

function show(runtime: Runtime, events: readonly CroftEvent[], headers: boolean): void {
  runtime.out.write(renderEvents(events, styleOf(runtime, runtime.out), { nowMs: runtime.clock.now(), headers }))
}

const COLUMNS = [
  { title: 'WHEN' },
  { title: 'WHO' },
  { title: 'WHAT' },
  { title: 'ABOUT' },
  { title: 'OUTCOME' },
  { title: 'MESSAGE', max: 400 },
]

function renderAudit(
  entries: readonly AuditEntry[],
  style: Style,
  view: { readonly nowMs: number; readonly headers: boolean },
): string {
  const rows = entries.map(({ atMs, actor, what, subject = '-', outcome, message }) => [
    showAge(view.nowMs - atMs),
    actor,
    what,
    subject,
    outcome,
    message,
  ])
  return renderTable(COLUMNS, rows, style, { headers: view.headers })
}

function auditJson({ seq, atMs, actor, from, what, subject, outcome, message }: AuditEntry): unknown {
  return {
    apiVersion: API_VERSION,
    kind: 'AuditEntry',
    seq,
    time: new Date(atMs).toISOString(),
    actor,
    from,
    what,
    ...(subject === undefined ? {} : { subject }),
    outcome,
    message,
  }
}
