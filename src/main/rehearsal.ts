import type { Datacentre } from '../../sim/datacentre.ts'
import type { ObservedConnection } from '../cli/runtime.ts'
import type { Rehearsed } from '../controller/previews/rehearse.ts'
import type { ClusterTools } from '../engine/clusters/sessions.ts'
import type { Clock } from '../lib/clock.ts'
import { LIMITS } from '../lib/limits.ts'
import type { ClusterSecrets } from '../model/cluster.ts'
import type { Estate } from '../model/estate.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { KnownObjects } from '../model/waiting.ts'
import { loadDrivers } from './drivers.ts'
import { cagedExpressions } from './expressions.ts'

/** Makes a twin of each connection, with the real engine and drivers, and a store with the real one's knowledge. */
export async function rehearseOnTwin(
  given: Estate,
  observed: readonly ObservedConnection[],
  records: readonly ResourceRecord[],
  looks: readonly ClusterPlan[],
  stop: AbortSignal,
  tell: (doing: string, twinMs: number, spentMs: number) => void,
): Promise<Rehearsed> {
  const [
    { createVirtualClock },
    { createTwin },
    { simWire },
    { seededRandom },
    { createMemoryStore },
    { createEngine },
  ] = await Promise.all([
    import('../../sim/virtual-clock.ts'),
    import('../../sim/twin.ts'),
    import('../../sim/wire.ts'),
    import('../lib/random.ts'),
    import('../store/memory.ts'),
    import('../engine/create.ts'),
  ])
  const [{ rehearse, stoppedBefore }, { openRehearsalBudget }, { Secret }, { firstAct, secondAct, withoutNodes }] =
    await Promise.all([
      import('../controller/previews/rehearse.ts'),
      import('../controller/previews/rehearsal-budget.ts'),
      import('../model/secret.ts'),
      import('../controller/previews/rehearse-clusters.ts'),
    ])
  const clock = createVirtualClock(Date.now())
  const budget = openRehearsalBudget(stop, cpuMs, tell)
  const { signal } = budget
  const { later } = given
  const prepare = (known: KnownObjects) => clock.outside(later?.prepare?.(known) ?? Promise.resolve())
  const estate: Estate = later === undefined ? given : { ...given, later: { ...later, prepare } }
  const random = seededRandom(1)
  const twins = new Map(
    observed.map(({ connection, survey, close }) => [
      connection,
      createTwin(withoutNodes(survey, estate, looks), close, { clock, random }),
    ]),
  )
  const twinOf = (name: string) => {
    const twin = twins.get(name)
    if (twin === undefined) throw new Error(`${name} has no twin`)
    return twin
  }
  const store = createMemoryStore()
  const epoch = await store.beginEpoch()
  const before = firstAct(estate, looks)
  await store.putRecords(
    epoch,
    records.filter(({ key }) => !before.keys.has(key)),
  )
  if (records.length > 0) await store.markComplete(epoch)
  const engine = createEngine({
    clock,
    random,
    store,
    epoch,
    drivers: await loadDrivers(),
    driverDeps: {
      clock,
      random,
      openWire: ({ name }) => simWire(twinOf(name)),
      // The twin asks for its own token; other secrets are never sent anywhere real.
      resolveSecret: async () => new Secret([...twins.values()][0]?.token ?? ''),
      expressions: { answers: (questions) => clock.outside(cagedExpressions.answers(questions)) },
    },
    clusters: () => twinClusters([...twins.values()], clock),
  })
  // A machine may get another name on the way: the report uses the one that it has now.
  const names = new Map(
    observed.flatMap(({ survey }) =>
      withoutNodes(survey, estate, looks).resources.map((one) => [Number(one.externalId), one.name ?? one.externalId]),
    ),
  )
  const running = () =>
    [...twins.values()].flatMap(({ world }) =>
      [...world.guests.values()]
        .filter(({ run }) => run.status === 'running')
        .map(({ vmid, config }) => names.get(vmid) ?? config.get('name') ?? String(vmid)),
    )
  const runUntil = <T>(promise: Promise<T>) => clock.runUntil(promise, { maxMs: 2 * LIMITS.rehearsalMs })
  // The inside of nodes cannot be read from outside, so the twin first forms the standing clusters again.
  if (before.estate !== undefined)
    for (let round = 0; round < 2 && !signal.aborted; round++) {
      const beganMs = clock.now()
      const onPass = () => budget.spend(FORMING, clock.now() - beganMs)
      const { outcome } = await runUntil(
        engine.settle(before.estate, { signal, deadlineMs: LIMITS.rehearsalMs, onPass }),
      )
      const why = budget.spentOn() ?? (outcome === 'deadline' ? UNFORMED : undefined)
      if (why !== undefined) return stoppedBefore(beganMs, clock.now() - beganMs, why)
      // Nodes that have just joined need time to settle; a rehearsal starts from a stable state.
      await runUntil(clock.sleep(LIMITS.rehearsalRestMs, signal))
    }
  const etcd = await import('../../sim/k3s/etcd.ts')
  const voters = () =>
    [...twins.values()].flatMap(({ world }) =>
      [...world.k3s.clusters.values()].flatMap((cluster) =>
        etcd
          .voters(cluster)
          .map((member) => ({ node: member.name.replace(/-[0-9a-f]{8}$/, ''), up: etcd.isConnected(member) })),
      ),
    )
  return rehearse(engine, { clock, runUntil, running, voters }, secondAct(estate), budget)
}

const FORMING = 'forming the standing clusters in the twin'
const UNFORMED = 'the clusters that stand now could not be formed in the twin'

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The ways to clusters that are simulated in twins. */
async function twinClusters(twins: readonly Datacentre[], clock: Clock): Promise<ClusterTools> {
  const [
    { createK3sDriver },
    { kubernetesWire },
    { serverAt },
    { hostOf },
    { releaseChecksum },
    { Secret },
    { randomBytes },
  ] = await Promise.all([
    import('../drivers/k3s/driver.ts'),
    import('../../sim/kubernetes/wire.ts'),
    import('../../sim/k3s/network.ts'),
    import('../../sim/k3s/network.ts'),
    import('../../sim/k3s/install.ts'),
    import('../model/secret.ts'),
    import('node:crypto'),
  ])
  const kept = new Map<string, ClusterSecrets>()
  return {
    driver: createK3sDriver(),
    deps: {
      clock,
      vault: {
        read: async (name) => kept.get(name),
        write: async (secrets) => void kept.set(secrets.cluster, secrets),
      },
      randomBytes: (count) => randomBytes(count),
      openKubernetes(target) {
        const host = hostOf(target.endpoint)
        const wireTo = () => {
          const twin = twins.find(({ world }) => serverAt(world, host) !== undefined) ?? twins[0]
          if (twin === undefined) throw new Error('there is no twin')
          return kubernetesWire(twin.world, target)
        }
        return { send: (request, stop) => wireTo().send(request, stop), close: async () => {} }
      },
      resolveSecret: async () => new Secret(''),
      async fetchText({ url }) {
        const version = decodeURIComponent(/\/(v[^/]+)\/sha256sum-/.exec(url.href)?.[1] ?? '')
        return ['k3s', 'k3s-arm64'].map((name) => `${releaseChecksum(version)}  ${name}\n`).join('')
      },
    },
  }
}
