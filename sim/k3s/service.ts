import { releaseOf } from '../../src/k3s/releases.ts'
import { closedGates, hasGates, isGivenUp } from '../guest/gates.ts'
import { between } from '../world/chance.ts'
import type { Computer, EtcdCluster, K3sProcess, Machine, Service, World } from '../world/types.ts'
import { kubeletStops } from './absence.ts'
import { startAgent } from './agent.ts'
import { flagList, flagText, readConfig, shownArgs } from './config-file.ts'
import { installedVersion, unitName, unitRole } from './disk.ts'
import { connectionChanged, memberDown } from './etcd.ts'
import { kubeletStarts } from './kubelet.ts'
import { stopListening } from './network.ts'
import { after } from './process.ts'
import { startServer } from './server.ts'
import { leadControllers } from './server-stages.ts'
import { mountBackups } from './snapshots.ts'

/** The most lines kept, for a restart loop that runs for days. */
const JOURNAL_LINES = 300

export function serviceOf(computer: Computer): Service {
  const { machine } = computer
  machine.k3s ??= {
    state: 'stopped',
    sinceMs: computer.world.clock.now(),
    wanted: false,
    process: undefined,
    failure: undefined,
    lastExit: undefined,
    restarts: 0,
    orderedMs: 0,
    journal: [],
    gates: [],
    timer: undefined,
  }
  return machine.k3s
}

/** Starts it without waiting; nothing happens when it runs. False: there is no unit. */
export function startService(computer: Computer): boolean {
  const role = unitRole(computer.machine.files)
  if (role === undefined) return false
  const service = serviceOf(computer)
  if (service.wanted && service.state !== 'failed') return true
  service.wanted = true
  service.failure = undefined
  service.restarts = 0
  service.orderedMs = computer.world.clock.now()
  computer.machine.active.add(unitName(role))
  attempt(computer, service)
  return true
}

/** What has to hold before K3s may run is waited for, by name, and never skipped. */
function attempt(computer: Computer, service: Service): void {
  service.timer?.cancel()
  service.timer = undefined
  turn(computer, service, 'starting')
  if (!hasGates(computer)) {
    launch(computer, service)
    return
  }
  const look = () => {
    service.gates = closedGates(computer, service.gates)
    const [closed] = service.gates
    if (closed === undefined) launch(computer, service)
    else if (isGivenUp(closed)) {
      service.wanted = false
      service.failure = `croft gate ${closed.name}: ${closed.message}`
      turn(computer, service, 'stopped')
    } else service.timer = computer.world.clock.schedule(computer.world.clock.now() + 1_000, look)
  }
  look()
}

function turn(computer: Computer, service: Service, state: Service['state']): void {
  if (service.state === state) return
  service.state = state
  service.sinceMs = computer.world.clock.now()
}

function launch(computer: Computer, service: Service): void {
  const { world, machine } = computer
  const role = unitRole(machine.files)
  const version = installedVersion(machine.files)
  const note = (level: string, message: string) => {
    service.journal.push({ atMs: world.clock.now(), level, message })
    if (service.journal.length > JOURNAL_LINES) service.journal.splice(0, JOURNAL_LINES / 3)
  }
  if (role === undefined || version === undefined || machine.trouble.neverStarts === true) {
    const why =
      version === undefined
        ? 'Failed to locate executable /usr/local/bin/k3s: No such file or directory'
        : 'signal: killed'
    note('fatal', why)
    service.failure = why
    restartLater(computer, service, 203)
    return
  }
  mountBackups(computer)
  const config = readConfig(machine.files, role)
  for (const warning of config.warnings) note('warning', warning)
  const { flags } = config
  const nodeIps = flagList(flags, 'node-ip')
  const process: K3sProcess = {
    computer,
    role,
    version,
    etcd: releaseOf(version)?.etcd ?? '3.6.0',
    nodeName: (flagText(flags, 'node-name') || computer.hostname()).toLowerCase(),
    nodeIps: nodeIps.length > 0 ? nodeIps : computer.addresses().slice(0, 1),
    flags,
    args: shownArgs(role, flags),
    startedMs: world.clock.now(),
    alive: true,
    phase: 'starting',
    cluster: undefined,
    member: undefined,
    timers: new Set(),
    ends: new Set(),
    log: note,
    exit: (code, level, message) => {
      if (!process.alive) return
      if (level !== undefined && message !== undefined) note(level, message)
      if (message !== undefined) service.failure = message
      endProcess(process, false)
      restartLater(computer, service, code)
    },
    ready: () => {
      if (service.process === process) turn(computer, service, 'running')
      service.failure = undefined
    },
    files: new Map(),
    password: '',
    agentPassword: undefined,
    encryptionHash: undefined,
    kubeletSinceMs: undefined,
    sickSinceMs: undefined,
  }
  service.process = process
  if (config.fatal !== undefined) process.exit(1, 'fatal', config.fatal)
  else whenTokensAreThere(process, () => (role === 'server' ? startServer(process) : startAgent(process)))
}

/** K3s waits, for ever and without an error, for a file that its configuration says its token is in. */
function whenTokensAreThere(process: K3sProcess, begin: () => void): void {
  const { files } = process.computer.machine
  const missing = ['token-file', 'agent-token-file']
    .map((flag) => flagText(process.flags, flag))
    .find((path) => path !== '' && files.read(path) === undefined)
  if (missing === undefined) {
    begin()
    return
  }
  process.log('info', `Waiting for file "${missing}" to be created\n`)
  after(process, 2_000, () => whenTokensAreThere(process, begin))
}

function restartLater(computer: Computer, service: Service, code: number): void {
  const { clock, k3s } = computer.world
  service.process = undefined
  service.lastExit = code
  turn(computer, service, 'failed')
  if (!service.wanted) return
  service.timer = clock.schedule(clock.now() + k3s.timing.restartDelayMs, () => {
    service.restarts += 1
    attempt(computer, service)
  })
}

/** Stops it and answers when it has ended. */
export function stopService(computer: Computer, stopped: () => void = () => undefined): void {
  const { world, machine } = computer
  const service = serviceOf(computer)
  service.wanted = false
  service.timer?.cancel()
  service.timer = undefined
  service.gates = []
  for (const role of ['server', 'agent'] as const) machine.active.delete(unitName(role))
  const { process } = service
  if (process === undefined) {
    turn(computer, service, 'stopped')
    stopped()
    return
  }
  const life = machine.life
  world.clock.schedule(world.clock.now() + between(world.random, world.k3s.timing.stopMs), () => {
    if (machine.life !== life || service.process !== process) return
    endProcess(process, true)
    service.process = undefined
    if (!service.wanted) turn(computer, service, 'stopped')
    stopped()
  })
}

export function restartService(computer: Computer): boolean {
  if (unitRole(computer.machine.files) === undefined) return false
  stopService(computer, () => startService(computer))
  return true
}

/** The system under it ends: by loss of power nothing is handed over, and nothing is written any more. */
export function crashService(machine: Machine, world: World, graceful: boolean): void {
  const service = machine.k3s
  if (service === undefined) return
  service.timer?.cancel()
  service.timer = undefined
  service.gates = []
  if (service.process !== undefined) endProcess(service.process, graceful)
  service.process = undefined
  service.wanted = false
  if (service.state !== 'stopped') {
    service.state = 'stopped'
    service.sinceMs = world.clock.now()
  }
  if (machine.job?.state === 'running') {
    machine.job.state = 'failed'
    machine.job.message = 'the computer went down'
  }
}

/** At the end of a boot: what is enabled starts by itself. */
export function bootService(computer: Computer): void {
  const role = unitRole(computer.machine.files)
  if (role !== undefined && computer.machine.enabled.has(unitName(role))) startService(computer)
}

/** Everything that ends with a process. Containers go on without it, as they really do. */
function endProcess(process: K3sProcess, planned: boolean): void {
  const { world } = process.computer
  process.alive = false
  for (const timer of process.timers) timer.cancel()
  process.timers.clear()
  stopListening(process)
  for (const tell of process.ends) tell()
  process.ends.clear()
  const { cluster } = process
  if (cluster === undefined) return
  cluster.quorumExits.get(process)?.cancel()
  cluster.quorumExits.delete(process)
  kubeletStops(process)
  if (process.role !== 'server') return
  if (cluster.manager === process) {
    cluster.manager = undefined
    // A lease of fifteen seconds has to run out, unless it was given back.
    const waitMs = planned ? 1_000 : between(world.random, [12_000, 17_000])
    cluster.managerTimer = world.clock.schedule(world.clock.now() + waitMs, () => nextManager(cluster))
  }
  if (process.member !== undefined && process.phase !== 'removed') memberDown(world, cluster, process.member, planned)
}

/** The computer was cut off from its network, or is back on it; what runs on it goes on. */
export function networkChanged(computer: Computer): void {
  const { world, machine } = computer
  const process = machine.k3s?.process
  const cluster = process?.cluster
  if (process === undefined || cluster === undefined || !process.alive) return
  const up = computer.isUp()
  if (process.member !== undefined && process.phase !== 'removed') connectionChanged(world, cluster, process.member)
  if (up) {
    if (process.phase === 'ready') kubeletStarts(process, cluster)
    if (process.role === 'server' && process.phase === 'ready') leadControllers(process, cluster)
    return
  }
  kubeletStops(process)
  if (cluster.manager !== process) return
  cluster.manager = undefined
  cluster.managerTimer = world.clock.schedule(world.clock.now() + between(world.random, [12_000, 17_000]), () =>
    nextManager(cluster),
  )
  // Alone it cannot renew its lease, and ends itself as it does when the others are lost.
  after(process, world.k3s.timing.quorumExitMs, () => {
    if (!computer.isUp()) process.exit(1, 'fatal', 'leaderelection lost')
  })
}

function nextManager(cluster: EtcdCluster): void {
  cluster.managerTimer = undefined
  for (const { process } of cluster.members.values()) {
    if (process?.alive === true && process.phase === 'ready' && process.computer.isUp()) {
      leadControllers(process, cluster)
      return
    }
  }
}
