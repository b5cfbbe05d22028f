import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { ObservedHost, ObservedResource, ObservedStorage, PowerState } from '../../model/resource.ts'
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
export function readDomain(
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

export function readPool(text: string): (Pool & { readonly total?: number; readonly used?: number }) | undefined {
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

export function storageOf(
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
