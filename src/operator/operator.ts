import { missingSecrets, withoutMissing } from '../controller/checks/secret-check.ts'
import { type Calm, createController, type RunningController } from '../controller/controller.ts'
import { linkingRevision } from '../controller/sources/link-revision.ts'
import type { Source } from '../controller/sources/source-state.ts'
import type { Engine, PassReport } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import { defined } from '../lib/defined.ts'
import { inParallel } from '../lib/parallel.ts'
import { ownerOf, type ResourceKey } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { Store } from '../store/port.ts'
import type { ShardSource } from './cluster-source.ts'
import type { DeclaredObject } from './objects.ts'
import type { ClusterRevision } from './revision.ts'
import type { KnownOfObject } from './status.ts'
import { release, tellEvent, tellObject, type WriteBack } from './write-back.ts'

export interface OperatorOptions {
  readonly clock: Clock
  readonly store: Store
  readonly epoch: number
  readonly engine: Engine
  /** The objects of the shard. */
  readonly source: ShardSource
  /** Keys of objects that were there, by each of the stores that are used as one. */
  readonly known: readonly (string | undefined)[]
  readonly back: Omit<WriteBack, 'nowMs' | 'note'> & {
    /** Reports whether the shard is certainly still ours. Otherwise its new holder writes the status. */
    mayWrite(): boolean
  }
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** Returns the number of objects in this replica's other shards. */
  otherResources(): number
  /** When in a rest it looks: from 0 to 1, another for each shard. */
  readonly phase: number
  /** Called when all work is done, or after a look without changes. */
  onCalm?(after: Calm): void
}

/** Keys of the objects that were there: one that is missing without a deletion proves nothing. */
export const OBJECTS = 'operator/objects'
const NAME = 'cluster'
const POLL_MS = 60_000
const WRITES_AT_ONCE = 8
const EVENTS_PER_PASS = 100

/** One finished pass, with its input. */
interface Passed {
  readonly estate: Estate
  readonly report: PassReport
  readonly read: ClusterRevision
}

/** The controller with a cluster's objects as its source, and their status as its report. */
export async function createOperator(options: OperatorOptions): Promise<RunningController> {
  const { clock, store, epoch, source } = options
  let known = new Set(options.known.flatMap((text) => JSON.parse(text ?? '[]') as ResourceKey[]))
  let records: readonly ResourceRecord[] = await store.records()
  const reads = new Map<string, ClusterRevision>()
  let passed: Passed | undefined
  let last: string | undefined
  /** The objects as of the last complete write-back. */
  let told: readonly DeclaredObject[] = []

  const keep = async (next: ReadonlySet<ResourceKey>): Promise<void> => {
    if (next.size === known.size && [...next].every((key) => known.has(key))) return
    known = new Set(next)
    await store.putValue(epoch, OBJECTS, JSON.stringify([...next].sort()))
  }

  const look = async () => {
    const read = await source.read({ known, records, passed: passedKeys(passed) })
    const { id } = read.revision
    reads.set(id, read)
    if (id === last) return { is: 'same' } as const
    // Store the keys before acting: after a restart, croft must know that these objects existed.
    await keep(new Set([...known, ...source.objects().map(({ key }) => key)]))
    last = id
    for (const old of [...reads.keys()].slice(0, -2)) reads.delete(old)
    return { is: 'new', revision: read.revision } as const
  }

  const engine: Engine = {
    ...options.engine,
    async pass(estate, signal, settings) {
      const report = await options.engine.pass(estate, signal, settings)
      const read = reads.get(estate.revision)
      if (read === undefined || signal.aborted) return report
      const first = passed?.read.revision.id !== estate.revision
      passed = { estate, report, read }
      const objects = source.objects()
      // An edit of the status by hand also changes the object.
      if (report.unchanged === true && sameObjects(told, objects)) return report
      // The report has only planned resources; vanished ones are only in the store.
      records = await store.records()
      told = (await writeBack(passed)) ? objects : []
      // A newly removable object makes a new revision; removed ones already wait for their dependents.
      if (first && source.objects().some(({ deleting, key }) => deleting && !read.leaving.has(key)))
        controller.poke(NAME)
      return report
    },
  }

  /** Returns true if everything was written already. */
  const writeBack = async ({ report, read, estate }: Passed): Promise<boolean> => {
    if (!options.back.mayWrite()) return false
    let nothingNew = true
    const to: WriteBack = {
      ...options.back,
      nowMs: clock.now(),
      note: (declared, object) => source.note(declared, object),
    }
    const byKey = new Map(source.objects().map((object) => [object.key, object]))
    const owned = Map.groupBy(records, ({ key }) => ownerOf(key))
    const wrong = Map.groupBy(estate.problems, ({ object }) => keyOfProblem(object))
    const passedNow = passedKeys({ report, read, estate })
    const gone: ResourceKey[] = []
    await inParallel([...byKey.values()], WRITES_AT_ONCE, async (declared) => {
      const { key } = declared
      if (declared.deleting || !options.back.mayWrite()) nothingNew = false
      if (!options.back.mayWrite()) return
      if (declared.deleting && read.leaving.has(key) && isOver(key, report, owned.get(key) ?? [])) {
        if (await release(to, declared)) gone.push(key)
        return
      }
      const about: KnownOfObject = {
        judged: read.objects.get(key)?.object,
        records: owned.get(key) ?? [],
        problems: wrong.get(key) ?? [],
        paused: read.paused.has(key),
        kept: read.kept.get(key),
        passed: passedNow.has(key),
      }
      if (await tellObject(to, declared, about)) nothingNew = false
    })
    for (const event of report.events.slice(0, EVENTS_PER_PASS)) {
      const declared = event.key === undefined ? undefined : byKey.get(ownerOf(event.key))
      if (declared !== undefined) await tellEvent(to, declared, event)
    }
    // Missing objects without any remains count too.
    const lost = read.vanished.filter((key) => !owned.has(key))
    const over = new Set([...gone, ...lost])
    if (over.size > 0) await keep(new Set([...known].filter((key) => !over.has(key))))
    return nothingNew
  }

  const objects: Source = {
    name: NAME,
    remote: 'kubernetes',
    ref: '',
    pollMs: POLL_MS,
    alone: true,
    open: () => ({ look }),
  }
  const controller = await createController({
    clock,
    store,
    epoch,
    engine,
    sources: [objects],
    link: linkingRevision,
    otherResources: options.otherResources,
    phase: options.phase,
    headless: true,
    ...defined({ onCalm: options.onCalm }),
    prepare: async (estate) => withoutMissing(estate, await missingSecrets(estate, options.resolveSecret)),
  })
  return controller
}

/** Removes the namespace in front of a key: an undeclarable object is reported on the object itself. */
function keyOfProblem(object: string | undefined): ResourceKey | undefined {
  return object?.replace(/^[a-z0-9-]+:/, '')
}

function sameObjects(before: readonly DeclaredObject[], now: readonly DeclaredObject[]): boolean {
  return before.length === now.length && now.every(({ object }, at) => object === before[at]?.object)
}

/** Reports whether croft keeps nothing of the object any more. Orphaned resources do not count. */
function isOver(key: ResourceKey, { plan }: PassReport, records: readonly ResourceRecord[]): boolean {
  const open = plan.entries.some(
    (entry) => ownerOf(entry.key) === key && entry.action.do !== 'nothing' && entry.action.do !== 'forget',
  )
  return !open && records.every(({ status }) => status === 'Orphaned')
}

function passedKeys(passed: Pick<Passed, 'read' | 'estate' | 'report'> | undefined): ReadonlySet<ResourceKey> {
  if (passed === undefined) return new Set()
  const { declarations, unreadable } = passed.read.revision
  return new Set([...declarations.map(({ key }) => key), ...unreadable])
}
