import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Driver, DriverDeps } from '../../drivers/port.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { HYPERVISORS, type HypervisorRow } from '../../model/hypervisors.ts'
import { walkFiles } from '../../source/files/walk-files.ts'
import { NO_CLUSTER } from '../../source/foreign/addon-draft.ts'
import { printDrafts } from '../../source/foreign/draft.ts'
import type { ForeignFile, FormatFacts, NotCarried } from '../../source/foreign/reading.ts'
import { FORMATS } from '../../source/foreign/registry.ts'
import { TooCostly } from '../../source/reader.ts'
import { realDirectory } from '../../state/state-file.ts'
import { draftGuests, findGuests, readDetails, stillDiffering, type Undeclared } from '../import/guests.ts'
import { draftSettings } from '../import/settings.ts'
import { inWords, loadOrStop } from '../load.ts'
import { note, styleOf } from '../output.ts'
import { hasErrors, many, renderProblems } from '../render/problems.ts'
import { renderTable } from '../render/table.ts'
import { clean, cleanLines } from '../render/text.ts'
import type { LoadedEstate, Runtime } from '../runtime.ts'
import { findKind } from '../select.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError, unlessStopped, type Verb } from '../verb.ts'

export const run: Verb = async (runtime, [from = '', place = ''], options) => {
  const hypervisor = HYPERVISORS.find(({ driver }) => driver === from)
  if (hypervisor !== undefined) return fromHypervisor(runtime, hypervisor, place, options)
  const format = FORMATS.find(({ name }) => name === from)
  if (format !== undefined) return fromFiles(runtime, format, place, options)
  const names = [...HYPERVISORS.map(({ driver }) => driver), ...FORMATS.map(({ name }) => name)]
  throw new UsageError(
    `Nothing can be imported from ${from}. Choose ${names.slice(0, -1).join(', ')} or ${names.at(-1)}.`,
  )
}

/** Writes manifests made of foreign files. Their problems are shown, and they are written all the same. */
async function fromFiles(runtime: Runtime, format: FormatFacts, place: string, options: Options): Promise<ExitCode> {
  const { cluster, host, under } = options as {
    readonly cluster?: string
    readonly host?: string
    readonly under?: string
  }
  const { importInCage } = await import('../../source/apart/importer.ts')
  const request = { format: format.name, options: defined({ cluster, host, under }) }
  const imported = await unlessStopped(
    runtime.signal,
    importInCage(request, filesAt(runtime, place, format), runtime.clock),
  ).catch((error: unknown) => {
    if (!(error instanceof TooCostly)) throw error
    throw new CliError(`${place} cannot be imported: ${error.message}. Name a smaller part of it.`)
  })
  if ('problem' in imported) throw new CliError(`${place} cannot be imported: ${imported.problem}`)
  const { text, objects, notCarried, problems } = imported
  if (objects === 0 && notCarried.length === 0)
    throw new CliError(`${place} has nothing to import: croft import ${format.name} reads ${format.about}.`)
  if (objects > 0) deliver(runtime, text, options)
  if (problems.length > 0) note(runtime, renderProblems(problems, styleOf(runtime, runtime.err)))
  for (const { what, why } of joined(notCarried))
    note(runtime, `Not carried over: ${clean(what, WHOLE)}: ${clean(why, WHOLE)}.`)
  const { length } = notCarried
  const rest = length === 0 ? '' : ` ${many(length, 'item')} not carried over: each is listed with its reason.`
  const waiting = notCarried.filter(({ why }) => why === NO_CLUSTER).length
  const next = waiting === 0 ? '' : ` ${waiting} of them only need --cluster NAME, the Cluster that they are for.`
  note(runtime, `Imported from ${place}: ${many(objects, 'object')}.${rest}${next}`)
  if (hasErrors(problems)) return EXIT.failed
  return length === 0 ? EXIT.ok : EXIT.differs
}

/** Each thing is named, however many there are. */
const WHOLE = Number.POSITIVE_INFINITY
/** From this number on, things with the same reason share one line. */
const MANY_ALIKE = 5

/** Groups items by reason, at the place of the first; equal names of several files become one with a count. */
function joined(items: readonly NotCarried[]): readonly NotCarried[] {
  const byReason = Map.groupBy(items, ({ why }) => why)
  const lines = [...byReason].map(([why, all]) => {
    const names = [...Map.groupBy(all, ({ what }) => what)].map(([what, same]) =>
      same.length === 1 ? what : `${what} (${same.length} times)`,
    )
    return all.length < MANY_ALIKE ? names.map((what) => ({ what, why })) : [{ what: names.join(', '), why }]
  })
  return lines.flat()
}

/** Reads one file, or all manifests below a directory. */
function filesAt(runtime: Runtime, place: string, { names }: FormatFacts): readonly ForeignFile[] {
  const at = path.resolve(runtime.cwd, place)
  try {
    if (!statSync(at).isDirectory()) return [{ path: place, text: boundedText(at) }]
    const { files, tooLarge } = walkFiles(at, undefined, names)
    if (tooLarge !== undefined) throw new Error(`it is too large: ${tooLarge}`)
    return files.flatMap((file) => {
      if ('bytes' in file) return [{ path: file.path, text: Buffer.from(file.bytes).toString() }]
      note(runtime, `Left out: ${clean(file.path)}: ${clean(file.refused.message)}.`)
      return []
    })
  } catch (error) {
    throw new UsageError(`${place} cannot be read: ${(error as Error).message}. Name a file or a directory.`)
  }
}

/** A link in a foreign repository may lead to a device or a pipe, which has no end. */
function boundedText(file: string): string {
  const found = statSync(file)
  if (!found.isFile()) throw new Error('it is neither a file nor a directory')
  if (found.size > LIMITS.treeBytes) throw new Error(`it has more than ${LIMITS.treeBytes} bytes`)
  return readFileSync(file, 'utf8')
}

async function fromHypervisor(
  runtime: Runtime,
  { driver: from, kind }: HypervisorRow,
  directory: string,
  options: Options,
): Promise<ExitCode> {
  const chosen = chosenIds(options)
  const loaded = await loadOrStop(runtime, directory)
  const real = realDirectory(runtime, directory)
  if (loaded.estate.connections.length === 0)
    throw new CliError(
      `No connection is declared in ${inWords(directory, real)}. Write a ${kind} object there first (croft explain ${from}), or name the directory that has one.`,
    )
  const { drivers, deps } = await runtime.openDrivers({ directory: real })
  if (options.settings !== undefined) return settingsOf(runtime, loaded, directory, drivers, deps, options)
  const { undeclared, declared } = await findGuests(loaded, drivers, deps, runtime.signal, from)
  if (chosen === undefined) return list(runtime, undeclared, declared)
  const wanted = chosen === 'all' ? undeclared : chosen.flatMap((id) => withId(undeclared, id, from, directory))
  const importable = wanted.filter((guest) => mayBeImported(runtime, guest))
  const drafts = await draftGuests(await readDetails(importable, deps, runtime.signal), await runtime.kinds(), loaded)
  const text = printDrafts(drafts.map(({ draft }) => draft))
  const differing = stillDiffering(drafts, text, loaded)
  if (drafts.length > 0) deliver(runtime, text, options)
  note(runtime, `Imported: ${many(drafts.length, 'guest')}. ${directory} already declares ${declared}.`)
  for (const line of differing) note(runtime, `Warning: croft plan will show more than the adoption of ${line}.`)
  return EXIT.ok
}

/** Pools, users, storages, networks and all else that is no guest. */
async function settingsOf(
  runtime: Runtime,
  loaded: LoadedEstate,
  directory: string,
  drivers: readonly Driver[],
  deps: DriverDeps,
  options: Options,
): Promise<ExitCode> {
  const kinds = await runtime.kinds()
  const named = typeof options.settings === 'string' ? options.settings.split(',') : undefined
  const names = named?.map((name) => findKind(kinds, name))
  const { drafts, declared, leftOut } = await draftSettings(loaded, names, kinds, drivers, deps, runtime.signal)
  if (drafts.length > 0) deliver(runtime, printDrafts(drafts), options)
  note(runtime, `Imported: ${many(drafts.length, 'setting')}. ${directory} already declares ${declared}.`)
  for (const line of leftOut) note(runtime, `Left out: ${clean(line)}.`)
  return EXIT.ok
}

/** The ids a person named, all, or none: then it is only shown what there is. */
function chosenIds(options: Options): readonly string[] | 'all' | undefined {
  if (options.guest === undefined) return options.all === true ? 'all' : undefined
  if (options.all === true) throw new UsageError('--guest and --all cannot be used together. Use one of them.')
  const ids = (options.guest as string).split(',')
  const wrong = ids.find((id) => !/^(?:[1-9]\d{2,8}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(id))
  if (wrong !== undefined)
    throw new UsageError(`--guest ${wrong} is not an id of a guest. Write it like 108,109, or the UUID of a domain.`)
  return [...new Set(ids)]
}

function withId(undeclared: readonly Undeclared[], id: string, from: string, directory: string): readonly Undeclared[] {
  const found = undeclared.filter(({ observed }) => observed.externalId === id)
  if (found.length > 0) return found
  throw new CliError(
    `There is no undeclared guest ${id}. Run croft import ${from} ${directory} to see which there are.`,
  )
}

function mayBeImported(runtime: Runtime, { observed }: Undeclared): boolean {
  const why = hindrance(observed)
  if (why !== undefined) note(runtime, `Left out: ${observed.externalId}, ${why}.`)
  return why === undefined
}

function hindrance({ mark, lock }: Undeclared['observed']): string | undefined {
  if (mark !== undefined) return 'which carries the mark of another estate or of a declaration that is gone'
  return lock === 'create' || lock === 'clone' ? 'which is still being made' : undefined
}

function list(runtime: Runtime, undeclared: readonly Undeclared[], declared: number): ExitCode {
  const rows = undeclared.map(({ connection, observed }) => [
    observed.externalId,
    observed.name ?? '',
    observed.type,
    observed.host,
    connection.name,
    observed.template === true ? 'template' : (observed.power ?? 'unknown'),
    hindrance(observed) ?? '',
  ])
  const ids = undeclared.map(({ observed }) => observed.externalId)
  const columns = ['ID', 'NAME', 'TYPE', 'HOST', 'CONNECTION', 'STATE', 'NOTE'].map((title) => ({ title }))
  if (rows.length > 0) runtime.out.write(renderTable(columns, rows, styleOf(runtime, runtime.out)))
  note(
    runtime,
    rows.length === 0
      ? `Every guest is declared (${declared}).`
      : `${many(rows.length, 'guest')} not declared, ${declared} declared. Choose with --guest ${ids.slice(0, 2).join(',')} or --all.`,
  )
  return EXIT.ok
}

/** Prints, or writes a file that was not there before. */
function deliver(runtime: Runtime, text: string, options: Options): void {
  const file = options.write as string | undefined
  if (file === undefined) {
    // Clean each line: a terminal must not obey a guest's description.
    runtime.out.write(runtime.out.isTty ? cleanLines(text, Number.POSITIVE_INFINITY) : text)
    return
  }
  try {
    writeFileSync(path.resolve(runtime.cwd, file), text, { flag: 'wx' })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'exists already and is not overwritten' : `cannot be written: ${message}`
    throw new CliError(`${file} ${why}. Name another file.`)
  }
  note(runtime, `Written to ${file}.`)
}
