import type { ClusterDriver, ClusterVault, KubernetesTarget } from '../../src/drivers/cluster-port.ts'
import { createK3sDriver } from '../../src/drivers/k3s/driver.ts'
import { kubernetesWay } from '../../src/drivers/k3s/kubernetes-way.ts'
import { kubernetesDriver } from '../../src/drivers/kubernetes/driver.ts'
import type { Driver, DriverDeps } from '../../src/drivers/port.ts'
import { createPowerDriver } from '../../src/drivers/power/driver.ts'
import type { PowerDeps, PowerDriver } from '../../src/drivers/power-port.ts'
import { proxmoxDriver } from '../../src/drivers/proxmox/driver.ts'
import { sshDriver } from '../../src/drivers/ssh/driver.ts'
import type { ClusterTools } from '../../src/engine/clusters/sessions.ts'
import { createEngine } from '../../src/engine/create.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { QuietRules } from '../../src/engine/quiet.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { defined } from '../../src/lib/defined.ts'
import type { PermittedPlace } from '../../src/lib/outgoing.ts'
import type { Random } from '../../src/lib/random.ts'
import { type Shell, ShellFailure } from '../../src/lib/shell.ts'
import { type Wire, WireFailure, type WireRequest, type WireResponse } from '../../src/lib/wire.ts'
import type { ClusterDeclaration, Connection } from '../../src/model/estate.ts'
import { HOST_PROGRAMS } from '../../src/model/host-item.ts'
import { Secret } from '../../src/model/secret.ts'
import { createMemoryStore, type MemoryDisk } from '../../src/store/memory.ts'
import type { Store } from '../../src/store/port.ts'
import { judgedByTable } from '../destroying-calls.ts'
import { evaluatedHere } from './evaluated-here.ts'

/** Never caught by the product, since a killed process does not continue. Tells the harness that it was killed. */
export interface Killed {
  readonly killed: true
  readonly at: string
}

/** A controller as a process: real engine, planner, driver and store, on a simulated wire, that can be killed. */
export interface Process {
  readonly engine: Engine
  /** What a command of the same process speaks to the world with. */
  readonly tools: { readonly drivers: readonly Driver[]; readonly deps: DriverDeps; readonly clusters?: ClusterTools }
  /** Resolves when the process was killed. */
  readonly death: Promise<Killed>
  /** Effect points passed so far: before and after every write, to the world and to the journal. */
  points(): number
  kill(at?: string): void
  /** Resolves when the process stands still at the point where it was told to. */
  readonly standstill: Promise<void>
  /** Lets it go on, as if it had only been slow. */
  wake(): void
}

export interface ProcessOptions {
  readonly clock: Clock
  readonly random: Random
  readonly disk: MemoryDisk
  /** Another store than the one on the disk; what it writes over this wire, a power cut can end in the middle. */
  readonly openStore?: (mortal: (wire: Wire) => Wire) => Store
  readonly wire: Wire
  /** The wires of further connections, by name. */
  readonly wires?: ReadonlyMap<string, Wire>
  readonly token: string
  /** Kill at this effect point, counted from 1. */
  readonly crashAt?: number
  /** Stand still at this effect point until woken: a virtual machine that was paused, a disk that hung. */
  readonly pauseAt?: number
  readonly onRequest?: (request: WireRequest) => void
  /** How clusters and the boxes under them are reached, where the estate has any. */
  readonly clusters?: ClusterWays
  readonly retryStalled?: boolean
  /** Asked before each effect on the world: what becomes of it. */
  readonly strike?: Strike
  /** A bug planted on purpose, to see that the suite finds it. */
  readonly sabotage?: Sabotage
}

/** An effect that a process is about to have on the world. */
export interface Effect {
  /** `PATCH /api/v1/nodes/s1`, `magic packet`, or the program that is run. */
  readonly what: string
  readonly body: string
}

/** `refused`: it is not done, and the answer says so. `lost`: no answer, done or not. */
export type Fate = 'done' | 'refused' | 'lost-before' | 'lost-after' | 'killed-before' | 'killed-after'
export type Strike = (effect: Effect) => Fate

/** The ways to clusters; the vault outlives the process, as the disk does. */
export interface ClusterWays {
  readonly vault: ClusterVault
  openKubernetes(target: KubernetesTarget): Wire
  openShell(name: string): Shell
  /** What the place of the releases answers, by address. */
  fetchText(url: string): Promise<string>
  /** What hosts, management controllers and UPSes are reached by. */
  readonly power?: Pick<PowerDeps, 'sendDatagram' | 'exchangeLines' | 'openBmc'>
}

/** A part of the product replaced by a broken one. */
export interface Sabotage {
  readonly driver?: (driver: Driver) => Driver
  readonly store?: (store: Store) => Store
  readonly quietRules?: QuietRules
}

export function startProcess(options: ProcessOptions): Process {
  let passed = 0
  let dead = false
  let die: (killed: Killed) => void = () => {}
  const death = new Promise<Killed>((resolve) => {
    die = resolve
  })
  const never = new Promise<never>(() => {})
  let stand: () => void = () => {}
  const standstill = new Promise<void>((resolve) => {
    stand = resolve
  })
  let wake: () => void = () => {}
  const woken = new Promise<void>((resolve) => {
    wake = resolve
  })
  const kill = (at = 'from outside') => {
    dead = true
    die({ killed: true, at })
  }

  /** A place where a power cut would hurt. After death nothing of this process goes on. */
  const point = async (name: string): Promise<void> => {
    if (dead) return never
    passed++
    if (passed === options.pauseAt) {
      stand()
      await woken
    }
    if (passed !== options.crashAt) return
    kill(`${passed} ${name}`)
    return never
  }
  const alive = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work
    return dead ? never : result
  }

  const struck = async (effect: Effect): Promise<Fate> => {
    const fate = options.strike?.(effect) ?? 'done'
    if (fate !== 'killed-before') return fate
    kill(`before ${effect.what}`)
    return never
  }
  const survived = async (fate: Fate, what: string): Promise<void> => {
    if (fate !== 'killed-after') return
    kill(`after ${what}`)
    return never
  }

  /** A wire on which every write is a place where a power cut would hurt. */
  const mortal = (way: Wire): Wire => ({
    async send(request, signal) {
      if (dead) return never
      options.onRequest?.(request)
      const what = `${request.method} ${request.path}`
      if (request.method === 'GET') return alive(way.send(request, signal))
      await point(`before ${what}`)
      const fate = await struck({ what, body: bodyText(request) })
      if (fate === 'refused') return INTERNAL_ERROR
      if (fate === 'lost-before') throw new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
      const answer = await alive(way.send(request, signal))
      await survived(fate, what)
      if (fate === 'lost-after') throw new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
      await point(`after ${what}`)
      return answer
    },
    close: () => way.close(),
  })
  const wire = mortal(options.wire)

  const kept = options.openStore?.(mortal) ?? createMemoryStore(options.disk)
  const journalled = new Set<string>([
    'intend',
    'noteTask',
    'settle',
    'putRecords',
    'dropRecord',
    'markComplete',
    'appendEvents',
  ])
  const store = new Proxy<Store>(kept, {
    get(target, name) {
      const method = Reflect.get(target, name) as unknown
      if (typeof method !== 'function') return method
      return async (...args: unknown[]) => {
        if (dead) return never
        if (!journalled.has(String(name))) return alive(Reflect.apply(method, target, args) as Promise<unknown>)
        const result = await alive(Reflect.apply(method, target, args) as Promise<unknown>)
        await point(`after journal ${String(name)}`)
        return result
      }
    },
  })

  const secret = new Secret(options.token)
  const ways = options.clusters
  const clusterTools = (ways: ClusterWays) => ({
    driver: witnessedClusters(createK3sDriver(), options.disk),
    deps: {
      clock: options.clock,
      vault: mortalVault(ways.vault),
      randomBytes: (count: number) => Uint8Array.from({ length: count }, () => Math.floor(options.random.next() * 256)),
      openKubernetes: (target: KubernetesTarget) => mortal(ways.openKubernetes(target)),
      resolveSecret: async () => secret,
      fetchText: ({ url }: PermittedPlace) => ways.fetchText(url.href),
    },
    openShell: ({ name }: { readonly name: string }) => mortalShell(ways.openShell(name)),
  })
  const powerTools = (ways: ClusterWays) =>
    witnessedPower(
      createPowerDriver({
        clock: options.clock,
        resolveSecret: async () => secret,
        sendDatagram: async () => {},
        openShell: ({ name }) => mortalShell(ways.openShell(name)),
        ...mortalPower(ways),
      }),
      options.disk,
    )
  const mortalPower = ({ power }: ClusterWays): NonNullable<ClusterWays['power']> | undefined => {
    if (power === undefined) return undefined
    const { openBmc } = power
    return {
      ...power,
      ...(openBmc === undefined ? {} : { openBmc: (target) => mortal(openBmc(target)) }),
      async sendDatagram(address, port, bytes) {
        await point('before a magic packet')
        const fate = await struck({ what: 'magic packet', body: Buffer.from(bytes.slice(6, 12)).toString('hex') })
        if (fate === 'refused') throw new Error('network is unreachable')
        if (fate !== 'lost-before') await alive(power.sendDatagram(address, port, bytes))
        await survived(fate, 'magic packet')
        await point('after a magic packet')
      },
    }
  }
  const mortalVault = (vault: ClusterVault): ClusterVault => ({
    read: (cluster) => alive(vault.read(cluster)),
    async write(secrets) {
      await point('before the vault is written')
      await alive(vault.write(secrets))
      await point('after the vault is written')
    },
  })
  const mortalShell = (shell: Shell): Shell => ({
    async run(argv, how) {
      if (argv[2]?.startsWith(HOST_PROGRAMS.probe) === true) return alive(shell.run(argv, how))
      const what = argv.join(' ')
      await point(`before ${what}`)
      const fate = await struck({ what, body: '' })
      if (fate === 'refused') return { code: 1, stdout: '', stderr: 'Transport endpoint is not connected' }
      if (fate === 'lost-before') throw new ShellFailure('maybe', 'unreachable', 'the connection was lost')
      const ran = await alive(shell.run(argv, how))
      await survived(fate, what)
      if (fate === 'lost-after') throw new ShellFailure('maybe', 'unreachable', 'the connection was lost')
      await point(`after ${what}`)
      return ran
    },
    readFile: (path, signal) => alive(shell.readFile(path, signal)),
    async writeFile(path, content, how) {
      await point(`before ${path} is written`)
      await alive(shell.writeFile(path, content, how))
    },
    close: () => shell.close(),
  })
  const drivers = [options.sabotage?.driver?.(proxmoxDriver) ?? proxmoxDriver, sshDriver, kubernetesDriver].map(
    judgedByTable,
  )
  const driverDeps: DriverDeps = {
    clock: options.clock,
    random: options.random,
    openWire: ({ name }) => {
      const other = options.wires?.get(name)
      return other === undefined ? wire : mortal(other)
    },
    resolveSecret: async () => secret,
    // Another process would answer in its own time, and a simulated day passes meanwhile.
    expressions: evaluatedHere,
    ...(ways === undefined
      ? {}
      : {
          kubernetes: ({ cluster }: Connection) =>
            kubernetesWay(cluster as ClusterDeclaration, async () => clusterTools(ways).deps),
          openShell: ({ name }) => mortalShell(ways.openShell(hostOf(name))),
        }),
  }
  const engine = createEngine({
    clock: options.clock,
    random: options.random,
    store: options.sabotage?.store?.(store) ?? store,
    drivers,
    ...(ways === undefined ? {} : { clusters: async () => clusterTools(ways), power: async () => powerTools(ways) }),
    driverDeps,
    ...(options.retryStalled === undefined ? {} : { retryStalled: options.retryStalled }),
    ...defined({ quietRules: options.sabotage?.quietRules }),
  })
  const tools = { drivers, deps: driverDeps, ...(ways === undefined ? {} : { clusters: clusterTools(ways) }) }
  return {
    engine: witnessed(engine, options.disk),
    tools,
    death,
    points: () => passed,
    kill,
    standstill,
    wake: () => wake(),
  }
}

/** No step reaches a cluster whose intention is not on disk: asked at every step of every simulation. */
function witnessedClusters(driver: ClusterDriver, disk: MemoryDisk): ClusterDriver {
  return {
    ...driver,
    connect(cluster, deps) {
      const session = driver.connect(cluster, deps)
      return {
        ...session,
        perform(step, surroundings, signal) {
          witness(disk, step)
          return session.perform(step, surroundings, signal)
        },
      }
    },
    operate(cluster, deps) {
      const operator = driver.operate(cluster, deps)
      return {
        ...operator,
        perform(step, surroundings, signal) {
          witness(disk, step)
          return operator.perform(step, surroundings, signal)
        },
      }
    },
  }
}

function witnessedPower(driver: PowerDriver, disk: MemoryDisk): PowerDriver {
  return {
    ...driver,
    perform(step, reach, signal) {
      witness(disk, step)
      return driver.perform(step, reach, signal)
    },
  }
}

/** Effects that started without an intention, by the disk that lacks it. */
const UNWITNESSED = new WeakMap<MemoryDisk, Error>()

/** The engine takes an exception of a driver for an unclear outcome and goes on: what a witness saw ends its pass here. */
function witnessed(engine: Engine, disk: MemoryDisk): Engine {
  const heard = <T>(answer: T): T => {
    const seen = UNWITNESSED.get(disk)
    if (seen !== undefined) throw seen
    return answer
  }
  return {
    ...engine,
    pass: async (...words) => heard(await engine.pass(...words)),
    settle: async (...words) => heard(await engine.settle(...words)),
  }
}

/** What a Power has K3s do is the step of the Power. */
function witness(disk: MemoryDisk, { verb, node }: { readonly verb: string; readonly node?: string }): void {
  const known = [...disk.intentions.values()].some(
    ({ step }) => step.about !== undefined && step.node === node && (step.verb === verb || step.about === 'power'),
  )
  if (known) return
  const error = new Error(`${verb} ${node ?? ''} was begun without an intention`)
  UNWITNESSED.set(disk, error)
  throw error
}

/** As Proxmox and Kubernetes say it. */
const INTERNAL_ERROR: WireResponse = {
  status: 500,
  reason: 'got no worker upid - start worker failed',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    data: null,
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    reason: 'InternalError',
    message: 'Internal error occurred: etcdserver: request timed out',
    code: 500,
  }),
}

function bodyText({ body }: WireRequest): string {
  return typeof body === 'string' ? body : body === undefined ? '' : Buffer.from(body).toString('utf8')
}

/** A new connection that proves that a host still lets us in has a separate name. */
function hostOf(name: string): string {
  return name.replace(/ \(proof\)$/, '')
}
