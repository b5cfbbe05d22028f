import { defined } from '../../../lib/defined.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { inParallel } from '../../../lib/parallel.ts'
import type { Connection } from '../../../model/estate.ts'
import type { Resource } from '../../../model/resource.ts'
import { countOf, flagOf, isRecord, nameOf, recordsOf } from '../foreign.ts'
import type { DoctorAnswer, ReadPath } from './ask.ts'
import type { Principal } from './commands.ts'
import { type HeldPrivileges, readHeld } from './held.ts'
import { bridgesOf, hostsOf, readZones } from './judge-estate.ts'
import { majorOf, type Skew, type TokenFacts } from './judge-login.ts'
import { type NeedOptions, type Needs, needsOf } from './needs.ts'

/** All reads from a host that accepts our token, without judgement. */
export interface DoctorFacts {
  readonly wanted: Needs
  readonly held: HeldPrivileges
  readonly roles: ReadonlySet<string>
  readonly facts: TokenFacts
  /** The answer of `/cluster/resources`, if there was one. */
  readonly resources: unknown
  /** The answers of `/nodes/{host}/network`. */
  readonly networks: ReadonlyMap<string, unknown>
  readonly zones: ReadonlyMap<string, string>
  /** Of hosts with a readable clock. */
  readonly skews: readonly Skew[]
}

export async function gather(
  connection: Connection,
  resources: readonly Resource[],
  ask: ReadPath,
  version: string,
  who: Principal,
  entered: NeedOptions['entered'],
): Promise<DoctorFacts> {
  const reader = createReader(ask, connection.limits.reads)
  const hosts = hostsOf(resources).slice(0, LIMITS.examinedHosts)
  const at = (host: string, part: string) => `/nodes/${encodeURIComponent(host)}/${part}`
  const token = `/access/users/${encodeURIComponent(who.user)}/token/${encodeURIComponent(who.token)}`
  await reader.read([
    '/access/permissions',
    '/access/roles',
    '/cluster/resources',
    '/cluster/sdn/vnets',
    token,
    ...hosts.map((host) => at(host, 'time')),
    ...[...bridgesOf(resources).keys()].slice(0, LIMITS.examinedHosts).map((host) => at(host, 'network')),
  ])
  const zones = readZones(reader.data('/cluster/sdn/vnets'))
  const major = majorOf(version)
  const wanted = needsOf(resources, {
    connection,
    zoneOf: (bridge) => zones.get(bridge) ?? 'localnetwork',
    ...defined({ major, entered }),
  })
  // The full list lacks paths without own rights, so needed paths are read by name.
  const paths = [...new Set(wanted.needs.flatMap(({ ways }) => ways.map(({ path }) => path)))]
  const named = paths
    .slice(0, LIMITS.examinedPaths)
    .map((path) => `/access/permissions?path=${encodeURIComponent(path)}`)
  await reader.read(named)
  return {
    wanted,
    held: withNothingAt(
      paths.slice(0, LIMITS.examinedPaths),
      readHeld(reader.data('/access/permissions'), ...named.map(reader.data)),
    ),
    roles: new Set(recordsOf(reader.data('/access/roles')).flatMap(({ roleid }) => nameOf(roleid) ?? [])),
    facts: readToken(reader.data(token)),
    resources: reader.data('/cluster/resources'),
    networks: new Map(hosts.map((host) => [host, reader.data(at(host, 'network'))])),
    zones,
    skews: hosts.flatMap((host) => skewOf(host, reader.answer(at(host, 'time')))),
  }
}

/** A requested path without an answer grants nothing, even if its parents grant something. */
function withNothingAt(paths: readonly string[], held: HeldPrivileges): HeldPrivileges {
  return new Map([...paths.map((path) => [path, new Map<string, boolean>()] as const), ...held])
}

function createReader(ask: ReadPath, width: number) {
  const answers = new Map<string, DoctorAnswer>()
  return {
    /** What cannot be read stays unknown: the judgements report it if it matters. */
    read: (paths: readonly string[]) =>
      inParallel(paths, width, async (path) => {
        try {
          answers.set(path, await ask(path))
        } catch {
          // There was no answer.
        }
      }),
    answer: (path: string) => answers.get(path),
    data: (path: string) => answers.get(path)?.data,
  }
}

function readToken(data: unknown): TokenFacts {
  if (!isRecord(data)) return {}
  const expireSeconds = countOf(data.expire)
  const privsep = flagOf(data.privsep)
  return { ...defined({ expireSeconds, privsep }) }
}

function skewOf(host: string, answer: DoctorAnswer | undefined): Skew[] {
  const theirs = isRecord(answer?.data) ? countOf(answer.data.time) : undefined
  return theirs === undefined || answer === undefined
    ? []
    : [{ whose: host, seconds: Math.round(theirs - answer.atMs / 1000) }]
}
