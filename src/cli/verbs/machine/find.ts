import { userInfo } from 'node:os'
import type { Driver, Session } from '../../../drivers/port.ts'
import type { ResourceKey } from '../../../model/declaration.ts'
import type { Estate } from '../../../model/estate.ts'
import { guestIn, type ObservedResource, type Resource } from '../../../model/resource.ts'
import { realDirectory } from '../../../state/state-file.ts'
import type { Store } from '../../../store/port.ts'
import { note } from '../../output.ts'
import { countProblems, hasErrors } from '../../render/problems.ts'
import { clean } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, type Options, UsageError } from '../../verb.ts'

/** The estate of a directory. What is wrong elsewhere in it does not matter to one machine; it is only mentioned. */
export async function loadForOperation(
  runtime: Runtime,
  directory: string,
): Promise<{ readonly estate: Estate; readonly real: string }> {
  const real = realDirectory(runtime, directory)
  const { estate } = await runtime.load(real)
  if (hasErrors(estate.problems))
    note(runtime, `${countProblems(estate.problems)} in ${directory}. Run croft validate ${directory} to see them.`)
  return { estate, real }
}

/** The machine that a person means: `web-1`, or `EnvironmentVM/web-1` where several kinds have one of that name. */
export function machineNamed(estate: Estate, asked: string): Resource {
  const guests = estate.resources.filter(({ desired }) => guestIn(desired) !== undefined)
  const found = guests.filter(({ key, name }) => name === asked || key.toLowerCase() === asked.toLowerCase())
  const [only, ...others] = found
  if (only !== undefined && others.length === 0) return only
  if (only !== undefined)
    throw new UsageError(`${asked} is ambiguous. Say which: ${found.map(({ key }) => key).join(', ')}.`)
  const known = guests.map(({ name }) => name).sort()
  throw new UsageError(
    known.length === 0
      ? 'No machine is declared here. Name the directory with --dir.'
      : `There is no machine ${asked}. Declared machines: ${known.slice(0, 20).join(', ')}.`,
  )
}

/** A machine that a command acts on. */
export interface AskedMachine {
  readonly runtime: Runtime
  readonly directory: string
  readonly estate: Estate
  readonly resource: Resource
  readonly options: Options
}

/** Speaks to the connection of a machine, and finds the guest by its mark: never by its name. */
export async function withGuest<T>(
  { runtime, directory, estate, resource }: AskedMachine,
  deed: (session: Session, observed: ObservedResource, driver: Driver) => Promise<T>,
): Promise<T> {
  const connection = estate.connections.find(({ name }) => name === resource.connection)
  const { drivers, deps } = await runtime.openDrivers({ directory })
  const driver = drivers.find(({ name }) => name === resource.driver)
  if (connection === undefined || driver === undefined)
    throw new CliError(`Nothing here speaks to ${resource.connection}. Check the connection of ${resource.key}.`)
  const session = driver.connect(connection, deps)
  try {
    const survey = await session.survey(runtime.signal)
    const ours = survey.resources.filter(({ mark }) => mark?.uid === resource.uid)
    const [observed] = ours
    if (observed === undefined || ours.length > 1) throw new CliError(notOne(resource.key, ours.length))
    return await deed(session, observed, driver)
  } finally {
    await session.close()
  }
}

function notOne(key: ResourceKey, count: number): string {
  return count === 0
    ? `${key} is not there yet. Run croft apply first.`
    : `${count} guests carry the mark of ${key}. Run croft plan to see which, and remove the tags of the copies.`
}

/** Records a person's command in the audit log, without the data that was sent. */
export async function noteOperation(
  runtime: Runtime,
  store: Store,
  subject: string,
  what: string,
  outcome: 'done' | 'refused',
  message: string,
): Promise<void> {
  const atMs = runtime.clock.now()
  await store.appendAudit({ atMs, actor: actorOf(runtime), from: 'cli', what, subject, outcome, message })
}

export function actorOf({ env }: Runtime): string {
  return `cli:${clean(env.SUDO_USER ?? env.USER ?? nameOfUser(), 60)}`
}

function nameOfUser(): string {
  try {
    return userInfo().username
  } catch {
    // A container may run as a number that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
