import assert from 'node:assert/strict'
import { KEEPERS, playAgents, type Repository } from '../../sim/kubernetes/controllers/agents.ts'
import type { KubeObject } from '../../sim/kubernetes/object.ts'
import { all, type Change, type Frozen, find, freeze, put, remove, type Store } from '../../sim/kubernetes/store.ts'
import { type Wire, WireFailure } from '../../src/lib/wire.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import { etcdOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'
import type { Process } from './process.ts'

/* One small cluster that add-ons come to and go from, with the agents that may keep them, and what must always hold. */

export const CLUSTER = clusterManifest({ servers: ['s1'], spec: '  allow: {degraded: true}\n' })

/** A run on that cluster. `manifests` is what stands in Git beside it; agents act after every pass. */
export function createLab(manifests: string, seed: number, hint: string) {
  const trouble: Trouble = { writes: 0 }
  const run = simulateCluster({
    seed,
    estate: clusterEstate(CLUSTER + manifests),
    onKubernetes: (wire) => troubled(wire, trouble),
  })
  const repository: Repository = new Map()
  let watch: ((change: Change) => void) | undefined
  let wrong: Error | undefined
  const store = (): Store => {
    const etcd = etcdOf(run, hint)
    assert.ok(etcd, hint)
    return etcd.store
  }
  const play = () => playAgents(store(), repository, run.clock.now())
  const settle = async (process: Process = run.start(), agents = true) => {
    const outcome = await run.untilSettled(process, {
      mostMs: 3_600_000,
      onPass: () => {
        if (agents && etcdOf(run, hint) !== undefined) play()
      },
    })
    if (agents) play()
    if (wrong !== undefined) throw wrong
    return outcome
  }
  return {
    run,
    trouble,
    repository,
    store,
    play,
    settle,
    git(more: string) {
      run.estate = clusterEstate(CLUSTER + more)
    },
    found(resource: string, namespace: string | undefined, name: string): KubeObject {
      const object = find(store(), resource, namespace, name)
      assert.ok(object, `${resource} ${name} is there; ${hint}`)
      return object
    },
    /** Asks at every change of the cluster's objects, by whomever, until it is called again. */
    watch(ask?: (change: Change) => void) {
      if (watch !== undefined) store().listeners.delete(watch)
      // What is thrown here would reach the one who writes as a failure of the server: it is told when all is over.
      watch = (change) => {
        try {
          ask?.(change)
        } catch (error) {
          wrong ??= error instanceof Error ? error : new Error(String(error))
        }
      }
      store().listeners.add(watch)
    },
    /** Everything that can be gone back to: the objects of the cluster and our own memory. */
    keep: (): Moment => ({ objects: freeze(store()), disk: copyOf(run.disk) }),
    back({ objects, disk }: Moment) {
      rewind(store(), objects)
      run.disk = copyOf(disk)
    },
  }
}

/** What happens to one write on its way: the n-th from now. */
export interface Trouble {
  writes: number
  strike?: { readonly at: number; readonly how: 'request lost' | 'answer lost' | 'server error' }
}

function troubled(wire: Wire, trouble: Trouble): Wire {
  return {
    ...wire,
    async send(request, signal) {
      if (request.method === 'GET') return wire.send(request, signal)
      trouble.writes++
      const how = trouble.strike?.at === trouble.writes ? trouble.strike.how : undefined
      if (how === 'request lost') throw new WireFailure('no', 'ECONNREFUSED', 'nobody listens')
      if (how === 'server error')
        return {
          status: 500,
          reason: '',
          headers: {},
          body: JSON.stringify({ kind: 'Status', message: 'etcdserver: timed out' }),
        }
      const answer = await wire.send(request, signal)
      if (how === 'answer lost') throw new WireFailure('maybe', 'ECONNRESET', 'the connection was reset')
      return answer
    },
  }
}

export type Lab = ReturnType<typeof createLab>

export interface Moment {
  readonly objects: Frozen
  readonly disk: MemoryDisk
}

function copyOf(disk: MemoryDisk): MemoryDisk {
  return createMemoryStore(disk).snapshot()
}

/** Nodes live on: what they say of themselves must not become old. */
const LIVING: ReadonlySet<string> = new Set(['/nodes', 'coordination.k8s.io/leases', '/events', '/pods', '/endpoints'])

function rewind(store: Store, to: Frozen): void {
  for (const resource of new Set([...store.tables.keys(), ...to.tables.keys()])) {
    if (LIVING.has(resource)) continue
    const then = to.tables.get(resource)
    for (const { metadata } of all(store, resource)) {
      const key = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`
      if (then?.has(key) !== true) remove(store, resource, metadata.namespace, metadata.name)
    }
    for (const object of then?.values() ?? []) put(store, resource, object)
  }
}

/** Whose the fields of an object are, by the server's own account; our mark is ours always and is no field. */
export function ownersOf({ metadata }: KubeObject): { readonly croft: boolean; readonly agents: readonly string[] } {
  const keeps = (fields: unknown) => /"f:(?:spec|data)"/.test(JSON.stringify(fields))
  const entries = (metadata.managedFields ?? []).filter(
    ({ operation, fieldsV1 }) => operation === 'Apply' && keeps(fieldsV1),
  )
  return {
    croft: entries.some(({ manager }) => manager === 'croft'),
    agents: entries.flatMap(({ manager }) => (manager === 'croft' ? [] : [manager])),
  }
}

/**
 * One owner at any time, checked at every change: the object always has an owner; once given away, croft owns no field
 * of it; croft takes it back only when no other applier writes it; and the object
 * neither changes nor disappears on the way.
 */
export function oneOwner(lab: Lab, hint: string): (change: Change) => void {
  return ({ type, resource, object, before }) => {
    if (before === undefined || !/daemonsets|configmaps/.test(resource)) return
    if (object.metadata.labels?.['croft.dev/uid'] === undefined) return
    const what = `${resource} ${object.metadata.name}; ${hint}`
    assert.notEqual(type, 'DELETED', `it was deleted: ${what}`)
    assert.deepEqual([object.spec, object.data], [before.spec, before.data], `it was changed: ${what}`)
    assert.equal(object.metadata.generation, before.metadata.generation, what)
    const { croft, agents } = ownersOf(object)
    assert.ok(croft || agents.length > 0, `nobody keeps ${what}`)
    const annotations = object.metadata.annotations ?? {}
    const given = annotations['croft.dev/kept-by'] !== undefined
    // What keeps a chart keeps no object beside it.
    const keeper = KEEPERS.some((kind) => !kind.includes('helm') && all(lab.store(), kind).length > 0)
    if (given && keeper) assert.ok(!croft, `two keep ${what}`)
    if (croft && !ownersOf(before).croft) assert.ok(!keeper, `taken from one who is still there: ${what}`)
    if (!given && !keeper) assert.deepEqual(agents, [], `somebody who is gone still keeps ${what}`)
  }
}

/** Everything about the objects of a cluster that a person could see, but for names and times that chance gives. */
export function pictureOf(store: Store, resources: readonly string[]): unknown {
  return resources.map((resource) =>
    all(store, resource)
      .map(({ metadata, ...object }) => {
        const {
          uid: _,
          resourceVersion: _v,
          creationTimestamp: _t,
          managedFields = [],
          annotations,
          ...rest
        } = metadata
        const { 'croft.dev/former-job': _job, ...notes } = annotations ?? {}
        const owners = managedFields
          .filter(({ operation }) => operation === 'Apply')
          .map(({ manager, fieldsV1 }) => ({
            manager,
            fields: JSON.stringify(fieldsV1).replace(/"f:croft.dev\/former-job":\{\},?/, ''),
          }))
          .sort((a, b) => (a.manager < b.manager ? -1 : 1))
        return { ...object, metadata: { ...rest, annotations: notes }, owners, status: undefined }
      })
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)),
  )
}

/** The pods of a workload, by their uids: a pod that was restarted has another. */
export function podsOf(store: Store, name: string): readonly (string | undefined)[] {
  return all(store, '/pods')
    .filter(({ metadata }) => metadata.name.startsWith(`${name}-`))
    .map(({ metadata }) => metadata.uid)
}
