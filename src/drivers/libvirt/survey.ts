import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ObservedHost, ObservedResource, ObservedStorage, PowerState, Survey } from '../../model/resource.ts'
import type { Refusal } from '../../model/step.ts'
import { ObservationFailed } from '../port.ts'
import { bytesOf } from './domain-view.ts'
import { readMark } from './marks.ts'
import { UUID } from './names.ts'
import { find, isBlockPool, type Pool, parseXml, textIn } from './xml.ts'

/** The fixed questions of a survey. */
export const FIRST_QUESTIONS = [
  ['list', '--all', '--uuid'],
  ['list', '--uuid', '--state-running'],
  ['list', '--uuid', '--state-paused'],
  ['pool-list', '--all', '--name'],
  ['pool-list', '--name'],
  ['net-list', '--all', '--name'],
  ['nodeinfo'],
] as const

/** Answers without which nothing is known. All others may stay unread. */
export function needsFirst(at: number, refusal: Refusal): void {
  if (at < FIRST_QUESTIONS.length) throw new ObservationFailed(refusal)
}

export interface FirstAnswers {
  readonly uuids: readonly string[]
  readonly power: ReadonlyMap<string, PowerState>
  readonly pools: readonly string[]
  readonly activePools: ReadonlySet<string>
  readonly networks: ReadonlySet<string>
  readonly nodeinfo: string
}

export function readFirst(answers: readonly string[]): FirstAnswers {
  const [all = '', running = '', paused = '', pools = '', active = '', networks = '', nodeinfo = ''] = answers
  const uuids = words(all).filter((uuid) => UUID.test(uuid))
  const power = new Map<string, PowerState>(uuids.map((uuid) => [uuid, 'stopped']))
  for (const uuid of words(running)) power.set(uuid, 'running')
  for (const uuid of words(paused)) power.set(uuid, 'paused')
  return {
    uuids: uuids.slice(0, LIMITS.surveyEntries),
    power,
    pools: words(pools),
    activePools: new Set(words(active)),
    networks: new Set(words(networks)),
    nodeinfo,
  }
}

/** Returns a domain from a survey: by its definition, which alone has marks that were written while it ran. */
function readDomain(
  connection: string,
  host: string,
  uuid: string,
  power: PowerState,
  text: string,
): ObservedResource | undefined {
  const domain = parseXml(text)
  if (domain?.name !== 'domain') return undefined
  const mark = readMark(domain)
  return {
    connection,
    type: 'vm',
    externalId: uuid,
    host,
    name: cleanText(textIn(find(domain, 'name')), LIMITS.foreignNameLength),
    power,
    ...defined({ mark }),
  }
}

function readPool(text: string): (Pool & { readonly total?: number; readonly used?: number }) | undefined {
  const pool = parseXml(text)
  const path = textIn(find(pool, 'target/path')).trim()
  if (pool?.name !== 'pool' || path === '') return undefined
  const total = bytesOf(find(pool, 'capacity'))
  const used = bytesOf(find(pool, 'allocation'))
  return {
    type: pool.attributes.type ?? 'dir',
    path,
    ...defined({ total, used }),
  }
}

function storageOf(
  host: string,
  name: string,
  pool: NonNullable<ReturnType<typeof readPool>>,
  available: boolean,
): ObservedStorage {
  return {
    host,
    name,
    // Block devices hold no files, so they can back nothing.
    content: isBlockPool(pool) ? ['images'] : ['images', 'import', 'iso', 'backing'],
    available,
    shared: false,
    ...defined({ totalBytes: pool.total, usedBytes: pool.used }),
  }
}

/** The definitions of domains and pools, as the second round of questions brought them. */
export function readSecond(
  connection: string,
  host: string,
  first: FirstAnswers,
  answers: readonly string[],
  doing: string,
): Pick<Survey, 'resources' | 'storages'> & { readonly pools: ReadonlyMap<string, Pool> } {
  const resources = first.uuids.flatMap((uuid, at) => {
    const answer = answers[at] ?? ''
    const domain = readDomain(connection, host, uuid, first.power.get(uuid) ?? 'unknown', answer)
    // One that left between the two questions says nothing; what cannot be read exists all the same.
    if (domain === undefined && answer !== '') throw unreadable(`the definition of domain ${uuid}`, doing)
    return domain ?? []
  })
  const pools = new Map<string, Pool>()
  const storages = first.pools.flatMap((name, at) => {
    const answer = answers[first.uuids.length + at] ?? ''
    const pool = readPool(answer)
    if (pool === undefined && answer !== '' && parseXml(answer)?.name !== 'pool')
      throw unreadable(`the definition of pool ${name}`, doing)
    if (pool === undefined) return []
    pools.set(name, pool)
    return [storageOf(host, name, pool, first.activePools.has(name))]
  })
  return { resources, storages, pools }
}

/** An answer that is no answer proves nothing about what is there. */
function unreadable(what: string, doing: string): ObservationFailed {
  return new ObservationFailed({
    reason: 'UnreadableAnswer',
    meaning: 'backoff',
    message: `could not ${doing}: ${what} cannot be read`,
    connectionWide: true,
  })
}

export function readHost(name: string, nodeinfo: string): ObservedHost {
  const cpus = Number(/^CPU\(s\):\s+(\d+)/m.exec(nodeinfo)?.[1])
  const memory = Number(/^Memory size:\s+(\d+) KiB/m.exec(nodeinfo)?.[1])
  return {
    name,
    online: true,
    ...(Number.isFinite(cpus) ? { cpus } : {}),
    ...(Number.isFinite(memory) ? { memoryBytes: memory * 1024 } : {}),
  }
}

export function words(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
