import { WireFailure } from '../../../lib/wire.ts'
import type { Connection } from '../../../model/estate.ts'
import type { Resource } from '../../../model/resource.ts'
import { Secret } from '../../../model/secret.ts'
import { type Check, check, type DriverDeps } from '../../port.ts'
import { cleanText, isRecord, nameOf } from '../foreign.ts'
import { loginOf } from '../login.ts'
import { readSurvey } from '../survey.ts'
import { createAsk, type DoctorAnswer, type ReadPath } from './ask.ts'
import { type Principal, principalOf } from './commands.ts'
import { gather } from './gather.ts'
import { judgeCertificate, judgeUnreachable } from './judge-certificate.ts'
import { bridgesOf, judgeBridges, judgePlaces } from './judge-estate.ts'
import { judgeClocks, judgeToken, judgeUnauthorized, judgeVersion } from './judge-login.ts'
import { judgeRights } from './judge-rights.ts'
import { rolePrefix } from './least-role.ts'
import type { NeedOptions } from './needs.ts'
import { findOrphans, judgeUnfinished } from './orphans.ts'

/** Examines one connection from the outside in; if a check fails, its dependents are skipped. */
export async function examine(
  declared: Connection,
  resources: readonly Resource[],
  deps: DriverDeps,
  signal: AbortSignal,
  entered?: NeedOptions['entered'],
): Promise<readonly Check[]> {
  // If the address is inside the secret, it is needed first.
  const first = declared.credentials === undefined ? undefined : await tokenOf(declared, deps)
  if (first !== undefined && 'level' in first) return [first]
  const connection = first?.connection ?? declared
  const door = await examineDoor(connection, deps, signal)
  if (door.some((check) => check.authentication || check.about === 'connection')) return door
  const token = first ?? (await tokenOf(connection, deps))
  if ('level' in token) return [...door, token]
  const wire = deps.openWire(connection)
  try {
    const ask = createAsk(wire, deps.clock, token.secret, signal)
    const inside = await examineInside(connection, resources, deps.clock.now(), ask, token.who, entered)
    // In order: that it answers, who it is, then the rest.
    return [...inside.slice(0, 1), ...door, ...inside.slice(1)]
  } finally {
    await wire.close()
  }
}

/** Sends no byte of a request. */
async function examineDoor(connection: Connection, deps: DriverDeps, signal: AbortSignal): Promise<readonly Check[]> {
  if (deps.lookAtCertificate === undefined) return []
  try {
    const shown = await deps.lookAtCertificate(connection, signal)
    return judgeCertificate(shown, connection.fingerprint, connection.origin, deps.clock.now())
  } catch (error) {
    return [unreachable(connection, error)]
  }
}

async function examineInside(
  connection: Connection,
  resources: readonly Resource[],
  nowMs: number,
  ask: ReadPath,
  who: Principal,
  entered: NeedOptions['entered'],
): Promise<readonly Check[]> {
  let first: DoctorAnswer
  try {
    first = await ask('/version')
  } catch (error) {
    return [unreachable(connection, error)]
  }
  const whose = new URL(connection.endpoint).hostname
  const skew = first.skewSeconds === undefined ? undefined : { whose, seconds: first.skewSeconds }
  const reached: Check = check('ok', 'connection', 'reached', `${connection.endpoint} answers`)
  if (first.status === 401) return [reached, judgeUnauthorized(first.said, who, skew)]
  if (first.status !== 200 || !isRecord(first.data)) return [strange(connection, first)]
  const version = nameOf(first.data.version) ?? ''
  const seen = await gather(connection, resources, ask, version, who, entered)
  const survey = seen.resources === undefined ? undefined : readSurvey(connection.name, nowMs, seen.resources, [])
  return [
    reached,
    judgeVersion(version),
    ...judgeClocks([...(skew === undefined ? [] : [skew]), ...seen.skews]),
    judgeToken(who, seen.facts, nowMs),
    ...judgeRights({ ...seen, who, prefix: rolePrefix(connection) }),
    ...(survey === undefined ? [] : judgePlaces(resources, survey)),
    ...judgeBridges(bridgesOf(resources), seen.networks, seen.zones, seen.held),
    ...(survey === undefined ? [] : judgeUnfinished(survey)),
    ...(survey === undefined ? [] : await findOrphans(resources, survey, ask)),
  ]
}

function unreachable({ endpoint }: Connection, error: unknown): Check {
  const code = error instanceof WireFailure ? error.code : 'unknown'
  return judgeUnreachable(endpoint, code, cleanText(error instanceof Error ? error.message : String(error)))
}

function strange({ endpoint }: Connection, { status, said }: DoctorAnswer): Check {
  const found = `${endpoint} does not answer as Proxmox does (status ${status}${said === '' ? '' : `, ${said}`})`
  return check('wrong', 'connection', 'not-proxmox', found)
}

async function tokenOf(
  connection: Connection,
  deps: DriverDeps,
): Promise<{ readonly connection: Connection; readonly secret: Secret; readonly who: Principal } | Check> {
  const wrong = (found: string, fix: string): Check => {
    return check('wrong', 'token', 'token-missing', found, { authentication: true, fix: [fix] })
  }
  let login: Awaited<ReturnType<typeof loginOf>>
  try {
    login = await loginOf(connection, deps)
  } catch (error) {
    const why = cleanText(error instanceof Error ? error.message : 'the token cannot be read')
    return wrong(why, 'croft doctor --role   # prints the commands that make a token')
  }
  const value = login.token
  const who = principalOf(value.slice(0, Math.max(0, value.indexOf('='))))
  // A line break here would start a second header.
  if (who === undefined || /\s/.test(value) || value.endsWith('='))
    return wrong('the token does not look like user@realm!name=secret', 'write the full token id, =, and the value')
  return { connection: login.connection, secret: new Secret(value), who }
}
