import {
  type Driver,
  type DriverDeps,
  ObservationFailed,
  type Session,
  type SettingImport,
} from '../../drivers/port.ts'
import type { Kind } from '../../kinds/kind.ts'
import { findKind } from '../../kinds/registry.ts'
import { inParallel } from '../../lib/parallel.ts'
import { resourceKey } from '../../model/declaration.ts'
import type { Connection } from '../../model/estate.ts'
import type { ObservedResource, Resource } from '../../model/resource.ts'
import { link } from '../../plan/link.ts'
import { readFiles } from '../../source/files/read-files.ts'
import { type Draft, printDrafts } from '../../source/foreign/draft.ts'
import { fitToKind } from '../../source/foreign/fit.ts'
import type { LoadedEstate } from '../runtime.ts'

export interface SettingDrafts {
  readonly drafts: readonly Draft[]
  /** Declared already, and so left out. */
  readonly declared: number
  /** Settings that could not be read or expressed in a manifest, with the reason. */
  readonly leftOut: readonly string[]
}

/** Manifests for the settings of every connection that nothing in the directory declares. */
export async function draftSettings(
  loaded: LoadedEstate,
  kindNames: readonly string[] | undefined,
  kinds: readonly Kind[],
  drivers: readonly Driver[],
  deps: DriverDeps,
  signal: AbortSignal,
): Promise<SettingDrafts> {
  const drafts: Draft[] = []
  const leftOut: string[] = []
  let declared = 0
  const taken = new Set(loaded.declarations.map(({ key }) => key))
  for (const connection of loaded.estate.connections) {
    const driver = drivers.find(({ name }) => name === connection.driver)
    const settings = driver?.importSettings
    if (driver === undefined || settings === undefined) continue
    const session = driver.connect(connection, deps)
    try {
      const seen = await readAll(connection, settings, session, kindNames, leftOut, signal)
      const isDeclared = declaredOn(loaded, driver, connection)
      for (const observed of seen) {
        if (isDeclared(observed)) {
          declared++
          continue
        }
        const drafted = await draftOf(observed, { driver, settings }, kinds, taken, loaded, leftOut)
        if (drafted !== undefined) drafts.push(drafted)
      }
    } finally {
      await session.close()
    }
  }
  return { drafts, declared, leftOut }
}

/** Reads all lists, then those that only their entries lead to. */
async function readAll(
  connection: Connection,
  settings: SettingImport,
  session: Session,
  kinds: readonly string[] | undefined,
  leftOut: string[],
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const survey = await session.survey(signal)
  const read = new Map<string, readonly ObservedResource[]>()
  for (let round = 0; round < 2; round++) {
    const known = [...read.values()].flat()
    const lists = await settings.lists(survey, kinds, known)
    await inParallel(
      lists.filter((list) => !read.has(list)),
      connection.limits.reads,
      async (list) => {
        try {
          read.set(list, await session.list(list, signal))
        } catch (error) {
          if (!(error instanceof ObservationFailed) || error.refusal.connectionWide === true) throw error
          read.set(list, [])
          leftOut.push(error.refusal.message)
        }
      },
    )
  }
  return [...read].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([, resources]) => resources)
}

async function draftOf(
  observed: ObservedResource,
  { driver, settings }: { readonly driver: Driver; readonly settings: SettingImport },
  kinds: readonly Kind[],
  taken: Set<string>,
  loaded: LoadedEstate,
  leftOut: string[],
): Promise<Draft | undefined> {
  const imported = await settings.manifest(observed)
  const kind = kinds.find((one) => one.kind === imported?.kind)
  if (imported === undefined || kind === undefined) return undefined
  const name = freeName(imported.name, (one) => taken.has(resourceKey(kind.kind, one)))
  const several = loaded.estate.connections.length > 1
  const spec: Record<string, unknown> = { ...(several ? { connection: observed.connection } : {}), ...imported.spec }
  // The name already implies the id.
  if (spec.id === name) delete spec.id
  const manifest = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name }, spec }
  const fitted = fitToKind({ manifest, comments: [] }, kind)
  const what = `${kind.kind} ${observed.externalId}`
  if (fitted.problems.length > 0) {
    leftOut.push(`${what}: ${fitted.problems[0]?.message ?? 'it cannot be declared'}`)
    return undefined
  }
  const draft = withoutDifferences(fitted.draft, observed, driver, loaded)
  if (draft === undefined) leftOut.push(`${what}: what is there cannot be said in a manifest`)
  else taken.add(resourceKey(kind.kind, name))
  return draft
}

/** Leaves out fields that would still be changed: undeclared fields are not compared. */
function withoutDifferences(
  draft: Draft,
  observed: ObservedResource,
  driver: Driver,
  loaded: LoadedEstate,
): Draft | undefined {
  const resource = readBack(draft, loaded)
  if (resource === undefined || driver.rules.declaredId(resource) !== observed.externalId) return undefined
  const changes = driver.rules.diff(resource, observed)
  if (changes.length === 0) return draft
  const spec = { ...(draft.manifest.spec as Record<string, unknown>) }
  for (const { path } of changes) delete spec[path]
  const slim = {
    manifest: { ...draft.manifest, spec },
    comments: [...draft.comments, ...changes.map(({ path }) => `left out ${path}: it would not read back as it is`)],
  }
  const again = readBack(slim, loaded)
  return again !== undefined && driver.rules.diff(again, observed).length === 0 ? slim : undefined
}

function readBack(draft: Draft, loaded: LoadedEstate): Resource | undefined {
  const text = printDrafts([draft])
  const read = readFiles({ files: [{ path: 'import.yaml', bytes: Buffer.from(text) }], links: [] })
  const { resources } = link({ ...read, declarations: [...loaded.declarations, ...read.declarations] }, { findKind })
  const key = resourceKey(draft.manifest.kind, draft.manifest.metadata.name)
  return resources.find((one) => one.key === key)
}

function declaredOn(
  loaded: LoadedEstate,
  driver: Driver,
  connection: Connection,
): (observed: ObservedResource) => boolean {
  const known = new Set<string>()
  for (const resource of loaded.estate.resources) {
    if (resource.connection !== connection.name || resource.desired.type !== 'setting') continue
    known.add(`${driver.rules.listOf(resource)} ${driver.rules.declaredId(resource)}`)
  }
  return ({ list, externalId }) => known.has(`${list} ${externalId}`)
}

function freeName(wanted: string, isTaken: (name: string) => boolean): string {
  for (let at = 1; ; at++) {
    const name = at === 1 ? wanted : `${wanted}-${at}`
    if (!isTaken(name)) return name
  }
}
