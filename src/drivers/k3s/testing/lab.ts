import type { Outcome, Step } from '../../../model/step.ts'
// The real driver and coordinator on simulated boxes: each round observes, decides and performs the steps.

import { releaseChecksum } from '../../../../sim/k3s/install.ts'
import { kubernetesWire } from '../../../../sim/kubernetes/wire.ts'
import { addBox } from '../../../../sim/metal/box.ts'
import { metalShell } from '../../../../sim/metal/shell.ts'
import { createVirtualClock, type VirtualClock } from '../../../../sim/virtual-clock.ts'
import { createWorld } from '../../../../sim/world/create-world.ts'
import type { Box, World } from '../../../../sim/world/types.ts'
import { NODE_PROGRAM } from '../../../k3s/node-program.ts'
import { seededRandom } from '../../../lib/random.ts'
import type { ShellFailure } from '../../../lib/shell.ts'
import type { WireResponse } from '../../../lib/wire.ts'
import type { ClusterSecrets, ClusterSpec } from '../../../model/cluster.ts'
import { DEFAULT_POLICY } from '../../../model/declaration.ts'
import type { ClusterDeclaration } from '../../../model/estate.ts'
import {
  type ClusterDecision,
  type ClusterRequests,
  NO_REQUESTS,
  type ObservedCluster,
} from '../../../model/observed-cluster.ts'
import { coordinate } from '../../../plan/clusters/coordinate.ts'
import { clusterSpec } from '../../../plan/clusters/testing/fixture.ts'
import type {
  ClusterDeps,
  ClusterOperator,
  ClusterSession,
  ClusterSurroundings,
  ClusterVault,
  NodeReach,
} from '../../cluster-port.ts'
import { createK3sDriver } from '../driver.ts'
import { adminCredentials } from '../make-secrets.ts'

export const LAB_VERSION = 'v1.34.3+k3s1'
const START_MS = Date.parse('2026-11-15T01:32:09Z')

export interface Done {
  readonly step: Step<'cluster'>
  readonly outcome: Outcome
}

export interface DriverLab {
  readonly world: World
  readonly clock: VirtualClock
  readonly vault: { -readonly [K in keyof ClusterVault]: ClusterVault[K] } & {
    readonly kept: Map<string, ClusterSecrets>
  }
  spec: ClusterSpec
  requests: ClusterRequests
  session: ClusterSession
  /** Calls of the Kubernetes API and of the nodes' programs since the list was cleared. */
  readonly asked: string[]
  /** Files written on nodes. */
  readonly written: (PutFile & { readonly node: string })[]
  readonly done: Done[]
  /** Boxes that are not visible: undeclared, and unreachable. */
  readonly unseen: Set<string>
  /** Boxes whose shell fails with this error. */
  readonly refusing: Map<string, ShellFailure>
  box(name: string): Box
  /** Forgets all but the vault, as a crash does. */
  restart(): void
  look(): Promise<{ readonly observed: ObservedCluster; readonly decision: ClusterDecision }>
  /** Repeats observation and steps every second until the condition holds, or the limit of rounds. */
  until(holds: (observed: ObservedCluster) => boolean, rounds?: number): Promise<ObservedCluster>
  perform(step: Partial<Step<'cluster'>> & Pick<Step<'cluster'>, 'verb'>): Promise<Outcome>
  /** Removes K3s from a box, as if its disk were new. */
  wipe(name: string): Promise<void>
  readonly operator: ClusterOperator
  readonly deps: { -readonly [K in keyof ClusterDeps]: ClusterDeps[K] }
  declaration(): ClusterDeclaration
  surroundings(): ClusterSurroundings
  /** As the administrator, through the API. */
  call(method: string, path: string, body?: unknown): Promise<WireResponse>
}

interface PutFile {
  readonly path: string
  readonly mode: string
  readonly base64: string
}

function filesIn(input: string | Uint8Array | undefined): readonly PutFile[] {
  return (JSON.parse(String(input)) as { readonly files: readonly PutFile[] }).files
}

export function driverLab(names: string, more: Partial<ClusterSpec> = {}, seed = 1): DriverLab {
  const clock = createVirtualClock(START_MS)
  const world = createWorld({ clock, random: seededRandom(seed) })
  const addresses = new Map(names.split(' ').map((name, index) => [name, `10.67.0.${index + 1}`]))
  for (const [name, address] of addresses) addBox(world, { name, addresses: [address] })
  const placed = (spec: ClusterSpec): ClusterSpec => {
    const place = (node: ClusterSpec['servers'][number]) => ({
      ...node,
      machine: { host: node.name },
      nodeIps: [addresses.get(node.name) ?? ''],
    })
    return { ...spec, servers: spec.servers.map(place), agents: spec.agents.map(place) }
  }
  const kept = new Map<string, ClusterSecrets>()
  const vault = {
    kept,
    read: async (cluster: string) => kept.get(cluster),
    write: async (secrets: ClusterSecrets) => void kept.set(secrets.cluster, secrets),
  }
  const asked: string[] = []
  const written: DriverLab['written'][number][] = []
  const random = seededRandom(seed + 1)
  const box = (name: string): Box => {
    const found = world.metal.get(name)
    if (found === undefined) throw new Error(`there is no box ${name}`)
    return found
  }

  const declaration = (): ClusterDeclaration => ({
    key: 'Cluster/homelab',
    name: 'homelab',
    estate: 'default',
    spec: lab.spec,
    artifacts: [{ release: true }],
    hosts: new Map(),
    policy: DEFAULT_POLICY,
    origin: { file: 'c.yaml', line: 1, column: 1 },
    generation: 'g1',
  })
  const deps: DriverLab['deps'] = {
    clock,
    vault,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => Math.floor(random.next() * 256)),
    openKubernetes: (target) => {
      const wire = kubernetesWire(world, target)
      return {
        send: (request, signal) => {
          asked.push(`${request.method} ${request.path.split('?')[0]}`)
          return wire.send(request, signal)
        },
        close: () => wire.close(),
      }
    },
    resolveSecret: () => Promise.reject(new Error('no secret is declared')),
    fetchText: async ({ url }) => {
      const version = decodeURIComponent(/download\/([^/]+)\//.exec(url.href)?.[1] ?? '')
      return `${releaseChecksum(version)}  k3s\n`
    },
  }
  const connect = (): ClusterSession => createK3sDriver().connect(declaration(), deps)

  const surroundings = (): ClusterSurroundings => ({
    nodes: new Map(
      [...addresses.keys()]
        .filter((name) => !lab.unseen.has(name))
        .map((name): [string, NodeReach] => {
          const { power, booted } = box(name)
          const shell = metalShell(world, name)
          return [
            name,
            {
              machine: { exists: 'yes', power, ours: false },
              lane: 'node-program',
              ...(power === 'on' && booted
                ? {
                    shell: {
                      ...shell,
                      readFile: (...rest: Parameters<typeof shell.readFile>) => {
                        const refusal = lab.refusing.get(name)
                        return refusal === undefined ? shell.readFile(...rest) : Promise.reject(refusal)
                      },
                      writeFile: (path: string, ...rest: readonly unknown[]) => {
                        asked.push(`${name}: WRITE ${path}`)
                        return Reflect.apply(shell.writeFile, shell, [path, ...rest])
                      },
                      run: (argv: readonly string[], options?: Parameters<typeof shell.run>[1]) => {
                        asked.push(`${name}: ${argv.slice(1).join(' ')}`)
                        const refusal = lab.refusing.get(name)
                        if (refusal !== undefined) return Promise.reject(refusal)
                        if (argv.includes('put'))
                          for (const file of filesIn(options?.input)) written.push({ node: name, ...file })
                        return shell.run(argv, options)
                      },
                    },
                  }
                : {}),
            },
          ]
        }),
    ),
    requests: lab.requests,
    remediations: new Map(),
  })

  const never = new AbortController().signal
  const lab: DriverLab = {
    world,
    clock,
    vault,
    asked,
    written,
    unseen: new Set(),
    refusing: new Map(),
    done: [],
    spec: placed(clusterSpec(names, { version: LAB_VERSION, endpoint: { server: 's1' }, ...more })),
    requests: NO_REQUESTS,
    session: undefined as unknown as ClusterSession,
    box,
    deps,
    declaration,
    surroundings,
    get operator() {
      return createK3sDriver().operate(declaration(), deps)
    },
    async call(method, path, body) {
      const secrets = kept.get('homelab')
      const admin = secrets === undefined ? undefined : adminCredentials(secrets, clock.now())
      if (admin === undefined) throw new Error('nothing is written down')
      for (const address of addresses.values()) {
        const wire = kubernetesWire(world, { endpoint: `https://${address}:6443`, ...admin })
        const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
        const request = {
          method,
          path,
          headers: { 'content-type': type },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }
        const answer = await clock.runUntil(wire.send(request).catch(() => undefined))
        if (answer !== undefined) return answer
      }
      throw new Error('no server answers')
    },
    restart() {
      lab.session = connect()
    },
    async look() {
      const observed = await clock.runUntil(lab.session.observe(surroundings(), never))
      return { observed, decision: coordinate(lab.spec, observed, clock.now()) }
    },
    async perform(step) {
      const rest = { lane: 'node-program', summary: step.verb, reason: '', awaits: '', sinceMs: 0 } as const
      const whole: Step<'cluster'> = { ...rest, ...step, about: 'cluster' }
      return clock.runUntil(lab.session.perform(whole, surroundings(), never))
    },
    async wipe(name) {
      await clock.runUntil(metalShell(world, name).run([NODE_PROGRAM, 'wipe']))
      await clock.advanceTo(clock.now() + 60_000)
    },
    async until(holds, rounds = 600) {
      for (let round = 0; round < rounds; round++) {
        const { observed, decision } = await lab.look()
        if (holds(observed)) return observed
        const around = surroundings()
        const outcomes = await clock.runUntil(
          Promise.all(decision.steps.map((step) => lab.session.perform(step, around, never))),
        )
        for (const [index, step] of decision.steps.entries())
          lab.done.push({ step, outcome: outcomes[index] as Outcome })
        await clock.advanceTo(clock.now() + 1000)
      }
      const { observed, decision } = await lab.look()
      const told = JSON.stringify({ decision, observed }, null, 1).slice(0, 6000)
      throw new Error(`not after ${rounds} rounds: ${told}`)
    },
  }
  lab.restart()
  return lab
}

export function allReady(names: string): (observed: ObservedCluster) => boolean {
  const list = names.split(' ')
  return ({ nodes }) =>
    list.every((name) => {
      const kube = nodes.find((node) => node.name === name)?.kube
      return typeof kube === 'object' && kube.ready === 'yes'
    })
}
