import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { type KubernetesLab, oneApi } from '../../../sim/testing/kubernetes-lab.ts'
import { createKubernetesClient } from '../../kubernetes/client.ts'
import { seededRandom } from '../../lib/random.ts'
import { type Wire, WireFailure } from '../../lib/wire.ts'
import type { ClusterSecrets } from '../../model/cluster.ts'
import { DEFAULT_POLICY } from '../../model/declaration.ts'
import type { ResourceRecord, ThingIntention } from '../../model/record.ts'
import { Secret } from '../../model/secret.ts'
import { movedAway, readMoveMark, removeMoveMark, writeMoveMark } from '../../state/move-mark.ts'
import { openKubernetesStore } from '../../store/kubernetes.ts'
import { type Store, StoreMoved } from '../../store/port.ts'
import { openSqliteStore } from '../../store/sqlite.ts'
import { openAgeVault } from '../../vault/age-vault.ts'
import { openKubernetesVault } from '../../vault/kubernetes-vault.ts'
import { shardStore } from '../leases.ts'
import { type Contents, mergeContents, readContents, replaceContents } from './contents.ts'
import { createGateKeeper, isOpen } from './gate.ts'
import { MoveRefused, moveEstate } from './move.ts'
import { clusterIdentity } from './shards.ts'

const UID = '3f2a9c0d1b2e4f60'
const KINDS = [
  ['Estate', 'estates'],
  ['Proxmox', 'proxmoxes'],
  ['Machine', 'machines'],
  ['Cluster', 'clusters'],
] as const
const ATOMS = ['Proxmox/attic', 'Proxmox/cellar', 'Cluster/homelab', 'rest']

const folder = mkdtempSync(path.join(tmpdir(), 'croft-move-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Dies at one of its effects, before it or after it, and from then on does nothing. */
interface Fate {
  readonly at: number
  readonly when: 'before' | 'after'
}

class Died extends Error {}

/** One estate with its own database and namespace. */
interface Ground {
  move(wanted: 'in' | 'out', fate?: Fate): Promise<number>
  owners(): Promise<readonly ('database' | 'cluster')[]>
  phase(): Promise<string | undefined>
  inDatabase(): Promise<Contents>
  inCluster(): Promise<Contents>
  vaults: { here(): Promise<string | undefined>; there(): Promise<string | undefined> }
  remove(kind: string, name: string): Promise<void>
  readonly file: string
}

let api: Promise<KubernetesLab> | undefined
let grounds = 0

async function definedApi(): Promise<KubernetesLab> {
  const made = await oneApi()
  for (const [kind, plural] of KINDS) {
    const body = {
      metadata: { name: `${plural}.croft.dev` },
      spec: {
        group: 'croft.dev',
        scope: 'Namespaced',
        names: { plural, kind, singular: kind.toLowerCase() },
        versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
      },
    }
    const answer = await made.lab.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body)
    assert.ok(answer.status < 300, answer.body)
  }
  await made.lab.pass(2_000)
  return made
}

async function createGround(): Promise<Ground> {
  api ??= definedApi()
  const { lab, wire } = await api
  const home = `estate-${grounds++}`
  const file = path.join(folder, home, 'croft.db')
  const call = async (method: string, where: string, body?: unknown) => {
    const answer = await lab.call(method, where, body)
    assert.ok(answer.status < 300, `${method} ${where}: ${answer.body}`)
  }
  const collection = (plural: string) => `/apis/croft.dev/v1alpha1/namespaces/${home}/${plural}`
  await call('POST', '/api/v1/namespaces', { metadata: { name: home } })
  const make = (plural: string, name: string, spec: object) =>
    call('POST', collection(plural), { metadata: { name }, spec })
  await make('estates', 'home', { uid: UID })
  await make('proxmoxes', 'attic', { endpoint: 'https://10.0.0.1:8006' })
  await make('proxmoxes', 'cellar', { endpoint: 'https://10.0.0.2:8006' })
  await make('machines', 'web-1', { host: 'a1', connection: 'attic' })
  await make('machines', 'web-2', { host: 'c1', connection: 'cellar' })
  await make('clusters', 'homelab', { version: 'v1.34.1+k3s1' })
  const free = createKubernetesClient(wire())
  const cluster = await clusterIdentity(free)
  const here = openAgeVault({ directory: path.join(folder, home, 'vault'), env: {} })
  await here.write(SECRETS)
  {
    const store = await openSqliteStore(file)
    await replaceContents(store, await store.beginEpoch(), CONTENTS)
    await store.close()
  }

  const read = async (store: Store): Promise<Contents> => {
    const contents = await readContents(store)
    await store.close()
    return contents
  }
  const storeAt = (atom: string) =>
    openKubernetesStore({ client: free, namespace: home, name: shardStore(atom), random: seededRandom(grounds) })

  return {
    file,
    async move(wanted, fate) {
      let effects = 0
      let dead = false
      const effect = async <T>(work: () => Promise<T>): Promise<T> => {
        if (dead) throw new Died('it is dead')
        effects++
        if (fate?.at !== effects) return work()
        dead = true
        if (fate.when === 'after') await work()
        throw new Died('it died')
      }
      const client = createKubernetesClient(dying(wire(), effect, () => dead))
      const database = await openSqliteStore(file)
      try {
        await moveEstate(wanted, {
          client,
          home,
          signal: new AbortController().signal,
          cluster,
          gate: createGateKeeper(client, home),
          mark: {
            read: () => readMoveMark(file),
            write: (mark) => effect(() => writeMoveMark(file, mark)),
            remove: () => effect(() => removeMoveMark(file)),
          },
          database: dyingStore(database, effect),
          vaults: {
            here: { read: here.read, write: (secrets) => effect(() => here.write(secrets)) },
            there: openKubernetesVault({ client, namespace: home }),
          },
          declared: {
            estateUid: UID,
            keys: new Set(['Machine/web-1', 'Machine/web-2', 'Cluster/homelab']),
            clusters: ['homelab'],
          },
          openStore: (place) =>
            openKubernetesStore({ client, namespace: home, random: seededRandom(grounds * 1000 + effects), ...place }),
          newId: () => `move-${grounds}`,
          tell: () => {},
        })
      } finally {
        await database.close()
      }
      return effects
    },
    async owners() {
      const owners: ('database' | 'cluster')[] = []
      const store = await openSqliteStore(file, { moved: () => movedAway(file) })
      if (await begins(store)) owners.push('database')
      const gate = await createGateKeeper(free, home).read()
      // A replica without a gate was there before the move started.
      if (gate !== undefined && isOpen(gate)) {
        const begun = await Promise.all(ATOMS.map((atom) => begins(storeAt(atom))))
        if (begun.some(Boolean)) owners.push('cluster')
      } else if (gate?.phase === 'away' || gate?.phase === 'leaving') {
        // A process paused since before the closure finds every store closed, or its own epoch still valid.
        const begun = await Promise.all(ATOMS.map((atom) => begins(storeAt(atom))))
        if (gate.phase === 'away') assert.ok(!begun.some(Boolean), 'a store is open although the estate is away')
      }
      return owners
    },
    phase: async () => (await createGateKeeper(free, home).read())?.phase,
    inDatabase: async () => read(await openSqliteStore(file)),
    async inCluster() {
      return mergeContents(await Promise.all(ATOMS.map((atom) => read(storeAt(atom)))))
    },
    vaults: {
      here: async () => (await here.read('homelab'))?.password.reveal(),
      there: async () =>
        (await openKubernetesVault({ client: free, namespace: home }).read('homelab'))?.password.reveal(),
    },
    remove: (plural, name) => call('DELETE', `${collection(plural)}/${name}`),
  }
}

async function begins(store: Store): Promise<boolean> {
  try {
    await store.beginEpoch()
    return true
  } catch (error) {
    assert.ok(error instanceof StoreMoved, String(error))
    return false
  } finally {
    await store.close()
  }
}

type Effect = <T>(work: () => Promise<T>) => Promise<T>

function dying(wire: Wire, effect: Effect, isDead: () => boolean): Wire {
  return {
    ...wire,
    async send(request, signal) {
      if (isDead()) throw new WireFailure('no', 'EPIPE', 'it is dead')
      if (request.method === 'GET') return wire.send(request, signal)
      try {
        return await effect(() => wire.send(request, signal))
      } catch (error) {
        throw error instanceof Died ? new WireFailure('maybe', 'ECONNRESET', error.message) : error
      }
    },
  }
}

function dyingStore(store: Store, effect: Effect): Store {
  return {
    ...store,
    beginEpoch: () => effect(() => store.beginEpoch()),
    putRecords: (epoch, records) => effect(() => store.putRecords(epoch, records)),
    dropRecord: (epoch, key) => effect(() => store.dropRecord(epoch, key)),
    intend: (epoch, intention) => effect(() => store.intend(epoch, intention)),
    settle: (epoch, id) => effect(() => store.settle(epoch, id)),
    putValue: (epoch, name, value) => effect(() => store.putValue(epoch, name, value)),
    keepValue: (epoch, name, value) => effect(() => store.keepValue(epoch, name, value)),
    markComplete: (epoch) => effect(() => store.markComplete(epoch)),
  }
}

const record = (key: string, connection: string): ResourceRecord => ({
  key,
  uid: '0123456789abcdef',
  connection,
  type: key.startsWith('Cluster/') ? 'cluster' : 'vm',
  generation: 'g1',
  policy: DEFAULT_POLICY,
  conditions: [{ type: 'Ready', status: 'True', reason: 'Running', message: 'runs', sinceMs: 1_760_000_000_000 }],
  createdMs: 1_760_000_000_000,
  status: 'Running',
})

const INTENTION: ThingIntention = {
  id: 'i1',
  epoch: 1,
  key: 'Machine/web-2',
  uid: '0123456789abcdef',
  connection: 'cellar',
  externalId: '114',
  host: 'c1',
  step: {
    verb: 'create',
    summary: 'create 114 on c1',
    lane: 'rest',
    host: 'c1',
    queues: ['host/c1'],
    call: { method: 'POST', path: '/nodes/c1/qemu', params: { vmid: '114' } },
    disruption: 'none',
  },
  generation: 'g1',
  atMs: 1_760_000_000_000,
  state: 'intended',
}

const CONTENTS: Contents = {
  complete: true,
  records: [
    record('Cluster/homelab', ''),
    record('Machine/long-gone', 'attic'),
    record('Machine/web-1', 'attic'),
    record('Machine/web-1@disk', 'attic'),
    record('Machine/web-2', 'cellar'),
  ],
  intentions: [INTENTION],
  values: new Map([
    ['cluster-orders/homelab', '{"a":1}'],
    ['controller/wishes', '{"suspended":["Machine/web-1"]}'],
  ]),
}

const SECRETS: ClusterSecrets = {
  cluster: 'homelab',
  caHash: 'a'.repeat(64),
  firstServer: 's1',
  formed: true,
  recordedMs: 1,
  files: new Map([['server-ca.key', new Secret('the key of the CA')]]),
  password: new Secret('the password'),
  formerPasswords: [],
}

test('an estate moves in with its records, effects in flight and vault, and out again', async () => {
  const ground = await createGround()
  await ground.move('in')
  assert.deepEqual(await ground.owners(), ['cluster'])
  const { values, ...there } = await ground.inCluster()
  const { values: sent, ...expected } = CONTENTS
  assert.deepEqual({ ...there, records: byKey(there.records) }, { ...expected, records: byKey(expected.records) })
  assert.deepEqual(new Map([...values].sort(([a], [b]) => (a < b ? -1 : 1))), sent)
  assert.equal(await ground.vaults.there(), 'the password')
  assert.equal(await ground.move('in'), 0, 'once more changes nothing')
  await ground.move('out')
  assert.deepEqual(await ground.owners(), ['database'])
  assert.deepEqual(await ground.inDatabase(), CONTENTS)
  await ground.move('in')
  assert.deepEqual(await ground.owners(), ['cluster'], 'and in once more')
})

test('what files declare and croft keeps must have an object before it moves; until then the database counts', async () => {
  const ground = await createGround()
  await ground.remove('machines', 'web-2')
  await assert.rejects(ground.move('in'), (error: Error) => {
    assert.ok(error instanceof MoveRefused)
    assert.match(error.message, /1 of what croft keeps has no object in the cluster: Machine\/web-2; apply/)
    return true
  })
  assert.deepEqual(await ground.owners(), ['database'])
  assert.equal(await ground.phase(), 'arriving', 'and the operator does nothing meanwhile')
  await ground.move('out')
  assert.deepEqual(await ground.owners(), ['database'])
  assert.equal(await ground.phase(), 'away')
})

for (const wanted of ['in', 'out'] as const)
  test(`[F-01] whoever dies at any effect of a move ${wanted} leaves one owner or none, and either command ends it`, async () => {
    const whole = await createGround()
    if (wanted === 'out') await whole.move('in')
    const effects = await whole.move(wanted)
    assert.ok(effects > 10, `${effects} effects`)
    const back = wanted === 'in' ? 'out' : 'in'
    for (let at = 1; at <= effects; at++)
      for (const when of ['before', 'after'] as const) {
        const ground = await createGround()
        if (wanted === 'out') await ground.move('in')
        const died = `${when} effect ${at}`
        // A move that died at its very last step is complete.
        await ground.move(wanted, { at, when }).catch(() => {})
        const owners = await ground.owners()
        assert.ok(owners.length <= 1, `${died}: ${owners.join(' and ')} own it`)
        // Before the first one there is no move to turn back.
        const goesOn = at % 2 === 0 || (at === 1 && when === 'before') ? wanted : back
        await ground.move(goesOn)
        assert.deepEqual(await ground.owners(), [goesOn === 'in' ? 'cluster' : 'database'], `${died}, then ${goesOn}`)
        const contents = await (goesOn === 'in' ? ground.inCluster() : ground.inDatabase())
        assert.deepEqual(byKey(contents.records), byKey(CONTENTS.records), died)
        assert.deepEqual(contents.intentions, CONTENTS.intentions, died)
        assert.equal(await (goesOn === 'in' ? ground.vaults.there() : ground.vaults.here()), 'the password', died)
      }
  })

function byKey(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
  return records.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}
