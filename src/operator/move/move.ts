import type { KubernetesClient } from '../../kubernetes/client.ts'
import { objectName } from '../../kubernetes/objects.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import { ownerOf, type ResourceKey } from '../../model/declaration.ts'
import type { ClosableStore, Store } from '../../store/port.ts'
import { joinStores } from '../joined-stores.ts'
import { shardStore } from '../leases.ts'
import { divideContents, mergeContents, readContents, replaceContents } from './contents.ts'
import type { GateKeeper } from './gate.ts'
import { listCluster } from './shards.ts'
import { type MoveMark, type MoveStep, nextOfMove } from './standing.ts'

/** Access to the identities of clusters. */
export interface MovingVault {
  read(cluster: string): Promise<ClusterSecrets | undefined>
  write(secrets: ClusterSecrets): Promise<void>
}

export interface MoveOptions {
  readonly client: KubernetesClient
  readonly home: string
  readonly signal: AbortSignal
  /** Identity of this cluster. */
  readonly cluster: string
  readonly gate: GateKeeper
  /** The mark beside the database. */
  readonly mark: {
    read(): MoveMark | undefined
    write(mark: MoveMark): Promise<void>
    remove(): Promise<void>
  }
  /** The database, for the mover alone: also one that has moved. */
  readonly database: Store
  readonly vaults: { readonly here: MovingVault; readonly there: MovingVault }
  /** The declarations of the files. */
  readonly declared: {
    readonly estateUid: string | undefined
    readonly keys: ReadonlySet<ResourceKey>
    readonly clusters: readonly string[]
  }
  openStore(place: { readonly name: string; readonly mover: string }): ClosableStore | Promise<ClosableStore>
  newId(): string
  /** Before each step. */
  tell(step: MoveStep): void
}

/** Why a move stopped, and what to do. Nothing is lost: the same command continues it. */
export class MoveRefused extends Error {}

/** A step that does not come to an end would be a mistake of ours. */
const MOST_STEPS = 30
const STORE = /^croft-state-[0-9a-f]{12}$/
const NAMED = 5

/** Moves an estate between a database and a cluster, one step after the other from wherever it stands. */
export async function moveEstate(wanted: 'in' | 'out', options: MoveOptions): Promise<void> {
  const { gate, mark, database, cluster, home } = options
  const place = { cluster, namespace: home }
  const done = { closed: false, copied: false, opened: false }
  for (let count = 0; count < MOST_STEPS; count++) {
    options.signal.throwIfAborted()
    const standing = {
      mark: mark.read(),
      gate: await gate.read(),
      place,
      empty: (await database.records()).length === 0,
      ...done,
    }
    const next = nextOfMove(wanted, standing)
    if (next.do === 'nothing') return
    if (next.do === 'refuse') throw new MoveRefused(next.why)
    options.tell(next.do)
    const id = standing.mark?.id ?? standing.gate?.id ?? options.newId()
    const noted = (phase: MoveMark['phase']) => mark.write({ id, phase, ...place })
    switch (next.do) {
      case 'note':
        await mark.write({ id: options.newId(), phase: 'preparing', ...place })
        break
      case 'announce':
        if (standing.gate === undefined) await refuseKept(options, id)
        await gate.write({ id, phase: 'arriving' })
        break
      case 'close':
        await eachStore(options, id, async (store) => void (await store.beginEpoch()))
        done.closed = true
        break
      case 'copy-in':
        await copyIn(options, id)
        done.copied = true
        break
      case 'fence':
        await noted('moved')
        break
      case 'activate':
        await gate.write({ id, phase: 'here' })
        break
      case 'open':
        await eachStore(options, id, (store) => store.reopen())
        done.opened = true
        break
      case 'leave':
        await gate.write({ id, phase: 'leaving' })
        break
      case 'copy-out':
        await copyOut(options, id)
        done.copied = true
        break
      case 'retire':
        await gate.write({ id, phase: 'away' })
        break
      case 'unfence':
        await mark.remove()
        return
    }
  }
  throw new Error(`a move takes more than ${MOST_STEPS} steps`)
}

/** Every store that is there, and those of everything that has an object. */
async function storeNames({ client, home, signal }: MoveOptions): Promise<readonly string[]> {
  const { shards } = await listCluster(client, home, signal)
  const listed = await client.list(
    `/api/v1/namespaces/${home}/configmaps`,
    { labelSelector: 'app.kubernetes.io/managed-by=croft', metadataOnly: true },
    signal,
  )
  if (listed.is !== 'answer') throw new Error(listed.is === 'error' ? listed.refusal.message : listed.message)
  const there = listed.value.flatMap((object) => objectName(object) ?? []).filter((name) => STORE.test(name))
  return [...new Set([...there, ...shards.flatMap(({ atoms }) => atoms.map(shardStore))])].sort()
}

async function eachStore(
  options: MoveOptions,
  mover: string,
  work: (store: ClosableStore, name: string) => Promise<void>,
): Promise<void> {
  for (const name of await storeNames(options)) {
    const store = await options.openStore({ name, mover })
    try {
      await work(store, name)
    } finally {
      await store.close()
    }
  }
}

/** Refuses to replace the records of an operator that keeps an estate without a move. */
async function refuseKept(options: MoveOptions, mover: string): Promise<void> {
  let kept = 0
  await eachStore(options, mover, async (store) => {
    kept += (await store.records()).length
  })
  if (kept > 0)
    throw new MoveRefused(
      `the operator in the namespace ${options.home} keeps ${kept} resources already; move into a namespace of its own`,
    )
}

async function copyIn(options: MoveOptions, mover: string): Promise<void> {
  const { client, home, signal, declared, database, vaults } = options
  const listed = await listCluster(client, home, signal)
  if (declared.estateUid === undefined)
    throw new MoveRefused('the directory has no Estate with a uid; croft apply writes one')
  if (listed.estateUid !== declared.estateUid)
    throw new MoveRefused(
      listed.estateUid === undefined
        ? `the namespace ${home} has no Estate; apply the one of this directory there, then run this again`
        : `the Estate in ${home} has the uid ${listed.estateUid}, this directory has ${declared.estateUid}`,
    )
  const contents = await readContents(database)
  const there = new Set(listed.objects.map(({ key }) => key))
  const owners = new Set(contents.records.map(({ key }) => ownerOf(key)))
  const missing = [...owners].filter((key) => declared.keys.has(key) && !there.has(key)).sort()
  if (missing.length > 0)
    throw new MoveRefused(
      `${missing.length} of what croft keeps has no object in the cluster: ${missing.slice(0, NAMED).join(', ')}${missing.length > NAMED ? ' and others' : ''}; apply the manifests of this directory there (kubectl apply -n ${home}, Flux or Argo CD), then run this again`,
    )
  for (const name of declared.clusters) {
    const secrets = await vaults.here.read(name)
    if (secrets !== undefined) await vaults.there.write(secrets)
  }
  const parts = divideContents(contents, listed.shards)
  const used = new Set<string>()
  for (const [index, shard] of listed.shards.entries()) {
    const part = parts[index]
    const opened: { readonly name: string; readonly store: Store }[] = []
    for (const atom of shard.atoms) {
      used.add(shardStore(atom))
      const store = await options.openStore({ name: shardStore(atom), mover })
      opened.push({ name: atom.split('/').at(-1) ?? '', store })
    }
    const [first, ...others] = opened
    if (first === undefined || part === undefined) continue
    const store = joinStores([first, ...others])
    try {
      await replaceContents(store, await store.beginEpoch(), part)
    } finally {
      await store.close()
    }
  }
  // Clear what an earlier move left of connections that no longer exist.
  await eachStore(options, mover, async (store, name) => {
    if (!used.has(name)) await replaceContents(store, await store.beginEpoch(), mergeContents([]))
  })
}

async function copyOut(options: MoveOptions, mover: string): Promise<void> {
  const { database, vaults, client, home, signal } = options
  const parts: Awaited<ReturnType<typeof readContents>>[] = []
  await eachStore(options, mover, async (store) => void parts.push(await readContents(store)))
  const { objects } = await listCluster(client, home, signal)
  for (const { served, key } of objects) {
    if (served.kind.kind !== 'Cluster') continue
    const secrets = await vaults.there.read(key.split('/').at(-1) ?? '')
    if (secrets !== undefined) await vaults.here.write(secrets)
  }
  await replaceContents(database, await database.beginEpoch(), mergeContents(parts))
}
