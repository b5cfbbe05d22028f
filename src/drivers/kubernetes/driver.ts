import { LIMITS } from '../../lib/limits.ts'
import { inParallel } from '../../lib/parallel.ts'
import { type Connection, clusterName } from '../../model/estate.ts'
import { objectList, type WantedObject } from '../../model/kube-object.ts'
import type { ObservedResource, Resource, Survey } from '../../model/resource.ts'
import { type Driver, type DriverDeps, ObservationFailed, type Session } from '../port.ts'
import { clusterApi } from './api.ts'
import { chartPreview } from './chart-preview.ts'
import { releasePreview } from './helm/preview.ts'
import type { ManifestsRead } from './helm/reading.ts'
import { runHelm } from './helm/running.ts'
import { wantedOf } from './marks.ts'
import { createReader, type ObjectReader } from './reading.ts'
import { rules } from './rules.ts'
import { previewOf, send } from './writing.ts'

/** Objects of managed clusters. */
export const kubernetesDriver: Driver = { name: 'kubernetes', rules, connect: openSession }

/** The API of one cluster. Our objects are found by one call per wanted kind. */
function openSession(connection: Connection, deps: DriverDeps): Session {
  const way = deps.kubernetes?.(connection)
  const api = clusterApi(way)
  const manifests: ManifestsRead = new Map()
  const readerOf = (wanted: readonly WantedObject[]): ObjectReader =>
    createReader(connection, deps, api, wanted, manifests)
  const helm = { releases: deps.helm, way, cluster: clusterName(connection) }
  let reader = readerOf([])
  let lists = new Map<string, readonly ObservedResource[]>()
  let known: readonly WantedObject[] = []
  let held: readonly WantedObject[] = []

  async function survey(signal: AbortSignal, resources: readonly Resource[] = []): Promise<Survey> {
    const wanted = resources.map(wantedOf)
    known = wanted
    held = resources.filter(({ bounds }) => bounds !== undefined).map(wantedOf)
    reader = readerOf(wanted)
    lists = new Map()
    const tasks = deps.helm?.tasks(clusterName(connection)) ?? []
    const empty = { connection: connection.name, hosts: [], storages: [], resources: [], tasks }
    // A cluster without declared objects is not queried.
    const client = wanted.length === 0 ? undefined : await api.open(signal)
    if (client === undefined) return { ...empty, atMs: deps.clock.now() }
    const sorts = new Map(wanted.map(({ object }) => [objectList(object), object]))
    const served: string[] = []
    const failures: ObservationFailed[] = []
    await inParallel([...sorts], LIMITS.objectWrites, async ([list, { apiVersion, kind }]) => {
      try {
        const found = await reader.readList(client, { apiVersion, kind }, signal)
        lists.set(list, found ?? [])
        if (found !== undefined) served.push(list)
      } catch (error) {
        if (!(error instanceof ObservationFailed)) throw error
        failures.push(error)
      }
    })
    const [failed] = failures
    if (failed !== undefined) throw failed
    return { ...empty, atMs: deps.clock.now(), served: served.sort() }
  }

  return {
    survey,
    async list(list, signal) {
      const known = lists.get(list)
      if (known !== undefined) return known
      const client = await api.open(signal)
      if (client === undefined) return []
      const [apiVersion = '', kind = ''] = list.split(' ')
      return (await reader.readList(client, { apiVersion, kind }, signal)) ?? []
    },
    observe: async (observed) => observed,
    idIsFree: async () => true,
    seesEverything: async () => true,
    taskOutcome: async (taskId) => deps.helm?.outcome(taskId),
    async perform(step, signal) {
      try {
        const client = await api.open(signal)
        if (client === undefined)
          return { result: 'not-sent', message: `${clusterName(connection)} does not stand yet` }
        const outcome =
          step.lane === 'object' && step.write.do === 'helm'
            ? await runHelm(step.write, helm, deps, signal)
            : await send(client, step, { api, deps }, signal)
        if (outcome.result === 'not-sent' || outcome.result === 'unclear') api.lost()
        return outcome
      } catch (error) {
        if (error instanceof ObservationFailed) return { result: 'not-sent', message: error.message }
        throw error
      }
    },
    dryRun: {
      async preview(step, observed, signal) {
        try {
          if (step.lane === 'object' && step.write.do === 'helm') {
            const chart = await releasePreview(deps, step.write, observed, manifests, signal)
            return chart === undefined ? undefined : { changes: [], chart }
          }
          const preview = await previewOf(await api.open(signal), api, step, observed, signal)
          if (preview?.refused !== undefined) return preview
          const version = connection.cluster?.spec.version
          const chart = await chartPreview(deps, step, observed, { wanted: known, held, version }, signal)
          return chart === undefined ? preview : { changes: [], ...preview, chart }
        } catch (error) {
          if (error instanceof ObservationFailed) return undefined
          throw error
        }
      },
    },
    close: async () => way?.close(),
  }
}
