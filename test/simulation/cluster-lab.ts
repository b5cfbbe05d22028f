import assert from 'node:assert/strict'
import { computerOf } from '../../sim/guest/life.ts'
import { networkChanged } from '../../sim/k3s/service.ts'
import { put } from '../../sim/kubernetes/store.ts'
import type { Guest } from '../../sim/world/types.ts'
import type { NewEvent } from '../../src/model/record.ts'
import { createQuorumWatch, etcdOf, nodesOf } from './cluster-oracle.ts'
import { clusterEstate, clusterManifest, simulateCluster } from './cluster-run.ts'

export type Run = ReturnType<typeof simulateCluster>
export const HASTE = '  upgrade: {soak: 10s}\n'
/** The release that comes after the one that clusters are made with. */
export const NEXT = 'v1.34.4+k3s1'

/** A cluster that stands and has nothing more to do. */
export async function formed(
  seed: number,
  hint: string,
  more: Parameters<typeof clusterManifest>[0] = {},
): Promise<Run> {
  const run = simulateCluster({ seed, estate: clusterEstate(clusterManifest({ spec: HASTE, ...more })) })
  assert.equal(await run.untilSettled(run.start()), 'settled', `it did not form; ${hint}`)
  return run
}

export interface Followed {
  /** Verbs that were due, in order, each once in a row. */
  readonly verbs: readonly string[]
  readonly events: readonly NewEvent[]
  readonly refusals: readonly string[]
  readonly holds: readonly string[]
  readonly end: 'settled' | 'killed' | 'deadline'
}

/** Lets it run under the eyes of the quorum watch; says what was due, told, held and refused. */
export async function follow(
  run: Run,
  hint: string,
  options: { readonly mostMs?: number; readonly crashAt?: number; readonly each?: () => void } = {},
): Promise<Followed> {
  const watch = createQuorumWatch(run, hint)
  const verbs: string[] = []
  const events: NewEvent[] = []
  const [refusals, holds] = [new Set<string>(), new Set<string>()]
  const process = run.start(options.crashAt === undefined ? {} : { crashAt: options.crashAt })
  const end = await run.untilSettled(process, {
    mostMs: options.mostMs ?? 1_800_000,
    onPass: (report) => {
      watch.look()
      options.each?.()
      events.push(...report.events)
      for (const { decision } of report.clusters ?? []) {
        for (const { reason } of decision.refusals) refusals.add(reason)
        for (const { reason } of decision.holds) holds.add(reason)
        for (const step of decision.steps) {
          const verb = `${step.verb} ${step.node ?? step.target ?? ''}`.trim()
          if (verbs.at(-1) !== verb) verbs.push(verb)
        }
      }
    },
  })
  process.kill()
  return { verbs, events, refusals: [...refusals], holds: [...holds], end }
}

/** Passes one after another for so long, settled or not: what a controller does all day. */
export async function keepFor(
  run: Run,
  ms: number,
  options: { readonly each?: () => void } = {},
): Promise<readonly NewEvent[]> {
  const process = run.start()
  const events: NewEvent[] = []
  const untilMs = run.clock.now() + ms
  while (run.clock.now() < untilMs) {
    const [report] = await run.passes(process, 1)
    events.push(...(report?.events ?? []))
    options.each?.()
  }
  process.kill()
  return events
}

export function guestOf(run: Run, name: string): readonly [number, Guest] {
  const found = [...run.datacentre.world.guests].find(([, guest]) => guest.config.get('name') === name)
  assert.ok(found, `there is no machine ${name}`)
  return found
}

/** Names of the nodes that run the next release. */
export function upgraded(run: Run, hint: string): readonly string[] {
  const cluster = etcdOf(run, hint)
  assert.ok(cluster, hint)
  return nodesOf(cluster)
    .filter(({ status }) => status?.nodeInfo?.kubeletVersion === NEXT)
    .map(({ metadata }) => metadata.name)
}

/** Its cable is pulled, or put back. */
export function cutOff(run: Run, name: string, off: boolean): void {
  const [, guest] = guestOf(run, name)
  guest.trouble.noNetwork = off
  networkChanged(computerOf(run.datacentre.world, guest))
}

/** As a person does it on the page of Proxmox. */
export async function destroyed(run: Run, name: string): Promise<void> {
  const [id, { node }] = guestOf(run, name)
  for (const [method, end] of [
    ['POST', '/status/stop'],
    ['DELETE', ''],
  ] as const) {
    await asked(run, method, `/nodes/${node}/qemu/${id}${end}`)
    await run.clock.advanceTo(run.clock.now() + 10_000)
  }
  assert.ok(!run.datacentre.world.guests.has(id), 'it is still there: nothing would be proved')
}

async function asked(run: Run, method: 'POST' | 'DELETE', path: string): Promise<void> {
  const headers = { authorization: `PVEAPIToken=${run.datacentre.token}` }
  const answer = await run.clock.runUntil(run.datacentre.handle({ method, path: `/api2/json${path}`, headers }))
  assert.equal(answer.status, 200, answer.reason)
}

/** Creates an object in the cluster, to see that it is still there afterwards. */
export function keepSomething(run: Run, hint: string, name: string): void {
  const cluster = etcdOf(run, hint)
  assert.ok(cluster)
  put(cluster.store, '/configmaps', {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name,
      namespace: 'default',
      uid: `uid-${name}`,
      creationTimestamp: new Date(run.clock.now()).toISOString(),
    },
    data: { what: 'precious' },
  } as never)
}

/** What people order by command. */
export function order(run: Run, requests: Readonly<Record<string, unknown>>): void {
  run.disk.values.set(
    'cluster-orders/homelab',
    JSON.stringify({ rolloutPaused: false, removeMembers: [], replace: [], ...requests }),
  )
}

const DAY = 86_400_000

/** Jumps to a moment of the next day, without the ten thousand idle passes in between. */
export async function nextDay(run: Run, hour: number): Promise<void> {
  const midnight = Math.ceil(run.clock.now() / DAY) * DAY
  await run.clock.advanceTo(midnight + hour * 3_600_000)
}
