import { about, FAILED, FailedOn, failedOn } from '../lib/failed-on.ts'
import { isRecord } from '../lib/is-record.ts'
import type { Problem, ResourceKey } from '../model/declaration.ts'
import { changedEstate, clusterName, type Estate } from '../model/estate.ts'
import type { Rules } from '../model/rules.ts'

/** How many objects one pass may set aside. */
const MOST = 20

/**
 * Performs work on an estate. If it throws about some objects, they count as declared and unreadable, so that nothing
 * of them changes, and the work restarts without them.
 */
export async function surviving<T>(estate: Estate, work: (estate: Estate) => Promise<T>): Promise<T> {
  let left = estate
  for (let times = 0; ; times++) {
    try {
      return await work(left)
    } catch (error) {
      const next = times < MOST && error instanceof FailedOn ? setAside(left, error) : undefined
      if (next === undefined) throw error
      left = next
    }
  }
}

/** Returns a driver's rules whose exceptions name their resource. */
export function blamingRules(rules: Rules): Rules {
  return new Proxy(rules, {
    get(target, name) {
      const rule: unknown = Reflect.get(target, name)
      if (typeof rule !== 'function') return rule
      return (...args: unknown[]): unknown => {
        const [first] = args
        const key = isRecord(first) && typeof first.key === 'string' ? [first.key] : []
        return about(key, () => Reflect.apply(rule, target, args) as unknown)
      }
    },
  })
}

/** Returns the estate without the failed objects. Undefined if they cannot be left out, or others depend on them. */
function setAside(estate: Estate, failed: FailedOn): Estate | undefined {
  const keys = new Set(failed.keys.flatMap((key) => [key, ...partsOf(key, estate)]))
  const { resources, clusters = [], powers = [] } = estate
  const found = [...resources, ...clusters].some(({ key }) => keys.has(key))
  const switched = powers.some(({ spec }) => clusters.some(({ key, name }) => keys.has(key) && name === spec.cluster))
  if (!found || switched) return undefined
  return changedEstate(estate, (whole) => ({
    ...whole,
    resources: whole.resources.filter(({ key }) => !keys.has(key)),
    ...(whole.clusters === undefined ? {} : { clusters: whole.clusters.filter(({ key }) => !keys.has(key)) }),
    unreadable: [...new Set([...whole.unreadable, ...keys])],
    // They are declared: nothing with their names counts as gone.
    partlyRead: [...(whole.partlyRead ?? []), { source: FAILED, names: [...keys].map(nameIn) }],
    problems: [...whole.problems, ...failed.keys.map((key) => failure(key, failed, estate))],
  }))
}

function nameIn(key: ResourceKey): string {
  return key.slice(key.lastIndexOf('/') + 1)
}

/** A cluster with its machines, which no other coordinator owns, and the objects on it. */
function partsOf(key: ResourceKey, { clusters = [], connections, resources }: Estate): readonly ResourceKey[] {
  const cluster = clusters.find((one) => one.key === key)
  if (cluster === undefined) return []
  const { servers, agents } = cluster.spec
  const machines = [...servers, ...agents].flatMap(({ machine }) => ('key' in machine ? [machine.key] : []))
  const names = new Set(connections.filter((one) => clusterName(one) === cluster.name).map(({ name }) => name))
  return [...machines, ...resources.filter(({ connection }) => names.has(connection)).map((one) => one.key)]
}

/** Returns croft's own failure as a problem at the declaration. */
export function failure(key: ResourceKey, error: unknown, { resources }: Pick<Estate, 'resources'>): Problem {
  const origin = resources.find((one) => one.key === key)?.origin ?? { file: '.', line: 1, column: 1 }
  return { ...failedOn(key, error), origin, object: key, severity: 'error' }
}
