import type { Random } from '../../../lib/random.ts'
import type { ObservedPower, PowerDecision, PowerNode } from '../../../model/observed-power.ts'
import {
  type PowerDone,
  type PowerRequests,
  type PowerSpec,
  type PowerWorkload,
  WORKLOAD_TIERS,
} from '../../../model/power.ts'
import type { Step } from '../../../model/step.ts'
import type { coordinatePower } from '../coordinate.ts'
import { waitName } from '../view.ts'
import { NOW } from './fixture.ts'

type Planner = typeof coordinatePower

interface Work {
  readonly kind: PowerWorkload['kind']
  readonly name: string
  readonly tier: PowerWorkload['tier']
  /** The replicas that a person wants. */
  readonly wanted: number
  replicas: number
  remembered: number | undefined
  /** Nodes that its pods are on. */
  pods: string[]
  readonly volume: boolean
}

interface Machine {
  readonly name: string
  readonly role: 'server' | 'agent'
  power: 'on' | 'off'
  k3s: 'running' | 'stopped'
  mark: { cordoned: boolean; tainted: boolean } | undefined
  cordoned: boolean
  tainted: boolean
  booted: boolean
}

/** A small cluster where a planner's steps take effect later, or never. */
export interface SmallWorld {
  readonly faults: string[]
  /** One tick: observes, decides, acts, and applies random faults. */
  tick(): PowerDecision
  order(state: 'on' | 'off'): void
  /** Ends random faults: from now on everything works. */
  calm(): void
  /** Returns the faults of a cluster that counts as on. */
  wrongs(): readonly string[]
  decision(): PowerDecision | undefined
}

export function createSmallWorld(plan: Planner, spec: PowerSpec, random: Random): SmallWorld {
  const faults: string[] = []
  const chance = (share: number) => random.next() < share
  const machines: Machine[] = ['s1', 's2', 's3', 'a1', 'a2'].map((name) => ({
    name,
    role: name.startsWith('s') ? 'server' : 'agent',
    power: 'on',
    k3s: 'running',
    mark: undefined,
    cordoned: false,
    tainted: false,
    booted: true,
  }))
  // A person has cordoned one of them, and that stays.
  const person = machines[4]
  if (person !== undefined) person.cordoned = true
  const works: Work[] = WORKLOAD_TIERS.flatMap((tier, at) => [
    work(tier, `${tier}-1`, 1 + (at % 3), at % 2 === 0 && tier !== 'storage-clients'),
    work(tier, `${tier}-2`, at === 2 ? 0 : 1, false),
  ])
  const attached = new Set<string>()
  const waits = new Map<string, number>()
  let stray: string | undefined = 'a1'
  let requests: PowerRequests = { holds: [] }
  let done: PowerDone | undefined
  let nowMs = NOW
  let wild = true
  let last: PowerDecision | undefined

  const up = (machine: Machine) => machine.power === 'on' && machine.booted && machine.k3s === 'running'
  const servers = machines.filter(({ role }) => role === 'server')
  const quorum = () => servers.filter(up).length >= 2
  let apiFlaps = 0

  function observe(): ObservedPower {
    const api = quorum() && apiFlaps === 0
    const busy = (name: string) => works.filter(({ pods }) => pods.includes(name)).length + (stray === name ? 1 : 0)
    const clients = (name: string) =>
      works.filter(({ tier, pods }) => tier === 'storage-clients' && pods.includes(name)).length
    const nodes = machines.map((machine): PowerNode => {
      const { name, role, power, k3s, mark, cordoned, tainted } = machine
      return {
        name,
        role,
        onDemand: false,
        machine: `Machine/${name}`,
        power,
        kube: !api ? 'unknown' : up(machine) ? 'ready' : 'not-ready',
        back: up(machine),
        unschedulable: api && cordoned,
        tainted: api && tainted,
        ...(api && mark !== undefined ? { mark: { sinceMs: NOW, ...mark } } : {}),
        podsToMove: api ? busy(name) : 'unknown',
        ...(api ? { clientsToMove: clients(name) } : {}),
        k3s: power === 'off' || !machine.booted ? (power === 'off' ? 'stopped' : 'unknown') : k3s,
      }
    })
    return {
      ups: {},
      cluster: {
        api: api ? 'yes' : 'unknown',
        formed: true,
        quorum: quorum() ? 'yes' : 'no',
        workloads: api
          ? works.map(({ kind, name, tier, replicas, remembered, pods }) => ({
              kind,
              namespace: 'default',
              name,
              tier,
              replicas,
              pods: pods.length,
              ready: pods.length,
              ...(remembered === undefined ? {} : { remembered }),
            }))
          : 'unknown',
        attachments: api ? [...attached].map((name) => ({ name, node: name.split('@')[1] ?? '' })) : 'unknown',
        nodes,
        wanting: {},
        dns: { up: servers.some(up) ? 'yes' : 'no', message: '' },
        storage: { up: 'yes', message: '' },
      },
      machines: machines.map(({ name, power }) => ({
        key: `Machine/${name}`,
        name,
        role: 'node',
        power,
        exists: 'yes',
      })),
      hosts: [],
      ha: [],
      holds: [],
      hooks: {},
      checks: {},
      waitedMs: Object.fromEntries([...waits].map(([name, since]) => [name, nowMs - since])),
    }
  }

  function perform(step: Step<'power'>, decision: PowerDecision): void {
    const machine = machines.find(({ name }) => name === step.node)
    const own = works.find(({ name }) => name === step.workload?.name)
    const api = quorum() && apiFlaps === 0
    switch (step.verb) {
      case 'pause':
        if (!api || own === undefined) return
        // Without the CSI client nothing detaches volumes any longer: an attached volume stays attached forever.
        if (own.tier === 'storage-clients' && attached.size > 0 && !late('VolumeAttachment'))
          faults.push(`${own.name} was taken down with ${[...attached].join(', ')} attached`)
        own.remembered ??= own.replicas
        own.replicas = 0
        return
      case 'restore':
        if (!api || own?.remembered === undefined) return
        if (own.replicas === 0) own.replicas = own.remembered
        own.remembered = undefined
        return
      case 'mark-node':
        if (!api || machine === undefined) return
        machine.mark ??= { cordoned: !machine.cordoned, tainted: !machine.tainted }
        machine.cordoned = true
        machine.tainted = true
        return
      case 'unmark-node':
        if (!api || machine?.mark === undefined) return
        if (!up(machine)) faults.push(`${machine.name} was freed while it is down`)
        if (machine.mark.cordoned) machine.cordoned = false
        if (machine.mark.tainted) machine.tainted = false
        machine.mark = undefined
        return
      case 'drain-node':
        if (api && stray === step.node && chance(0.5)) stray = undefined
        for (const one of works) {
          if (step.sparesClients === true && one.tier === 'storage-clients') continue
          if (api && chance(0.5)) one.pods = one.pods.filter((name) => name !== step.node)
        }
        return
      case 'stop-k3s':
      case 'stop-machine':
        if (machine === undefined) return
        if (decision.wanted.state === 'on') faults.push(`${machine.name} was stopped, though on is wanted`)
        if (api && hangs(machine.name)) faults.push(`${machine.name} was stopped with a volume on it`)
        if (machine.role === 'server' && machines.some((one) => one.role === 'agent' && up(one)))
          faults.push(`the server ${machine.name} was stopped before a worker`)
        if (machine.mark === undefined && api && up(machine)) faults.push(`${machine.name} was stopped without a mark`)
        if (step.verb === 'stop-k3s') machine.k3s = 'stopped'
        else if (chance(0.6)) off(machine)
        return
      case 'start-k3s':
        if (machine?.power === 'on' && machine.booted) machine.k3s = 'running'
        return
      case 'start-machine':
        if (machine === undefined) return
        if (decision.wanted.state === 'off') faults.push(`${machine.name} was started, though off is wanted`)
        machine.power = 'on'
        machine.booted = false
        return
      default:
    }
  }

  function hangs(name: string): boolean {
    return [...attached].some((one) => one.endsWith(`@${name}`))
  }

  /** A wait of this sort is over its deadline: then people want it forced or abandoned. */
  function late(what: string): boolean {
    return [...waits].some(([name, since]) => name.includes(what) && nowMs - since >= spec.deadlines.detach.afterMs)
  }

  function off(machine: Machine): void {
    machine.power = 'off'
    machine.booted = false
  }

  /** Autonomous changes: pods start and stop if there is an API and a node, and volumes follow them. */
  function live(): void {
    const detaches = works.some(
      ({ tier, pods }) =>
        tier === 'storage-clients' && pods.some((name) => machines.some((one) => one.name === name && up(one))),
    )
    for (const machine of machines) {
      if (machine.power === 'on' && !machine.booted && chance(0.5)) machine.booted = true
    }
    if (!quorum()) return
    const places = machines.filter((machine) => up(machine) && !machine.cordoned && !machine.tainted)
    for (const one of works) {
      const leaving = one.pods.length > one.replicas && chance(0.6)
      const [first] = one.pods
      if (leaving && up(machines.find(({ name }) => name === first) ?? (machines[0] as Machine))) one.pods.shift()
      if (one.pods.length < one.replicas && places.length > 0 && chance(0.6)) {
        const place = places[Math.floor(random.next() * places.length)]
        if (place !== undefined) {
          one.pods.push(place.name)
          if (one.volume) attached.add(`${one.name}@${place.name}`)
        }
      }
      for (const volume of attached) {
        const [name, node = ''] = volume.split('@')
        if (name === one.name && !one.pods.includes(node) && detaches && chance(0.4)) attached.delete(volume)
      }
    }
  }

  function mischief(): void {
    if (!wild) return
    if (chance(0.03)) waits.clear()
    if (chance(0.02)) apiFlaps = 3
    if (chance(0.01)) {
      const victim = machines[Math.floor(random.next() * machines.length)]
      if (victim !== undefined) off(victim)
    }
    // A controller that was not paused in time.
    if (chance(0.01)) {
      const one = works[Math.floor(random.next() * works.length)]
      if (one !== undefined && one.replicas === 0 && one.wanted > 0 && one.remembered !== undefined)
        one.replicas = one.wanted
    }
  }

  return {
    faults,
    tick() {
      nowMs += 1_000
      if (apiFlaps > 0) apiFlaps -= 1
      const decision = plan(spec, observe(), requests, done, nowMs)
      last = decision
      if (decision.ended !== undefined) {
        const { sinceMs, state } = decision.wanted
        done = { sinceMs, state, ...decision.ended }
      }
      for (const step of decision.steps) if (!wild || chance(0.9)) perform(step, decision)
      const known = new Map(waits)
      waits.clear()
      for (const { tier, what, awaits } of decision.waits) {
        const name = waitName(tier, what, awaits)
        waits.set(name, known.get(name) ?? nowMs)
      }
      live()
      mischief()
      return decision
    },
    order(state) {
      nowMs += 1
      requests = { wanted: { state, by: 'walk', why: '', atMs: nowMs }, holds: [] }
    },
    calm() {
      wild = false
    },
    wrongs: () => [
      ...works
        .filter((one) => one.replicas !== one.wanted)
        .map((one) => `${one.name} has ${one.replicas}, not ${one.wanted}`),
      ...works.filter(({ remembered }) => remembered !== undefined).map(({ name }) => `${name} carries our note`),
      ...machines
        .filter(({ mark, tainted }) => mark !== undefined || tainted)
        .map(({ name }) => `${name} carries our mark`),
      ...machines.filter((one) => one.cordoned !== (one === person)).map(({ name }) => `${name} has another cordon`),
      ...machines.filter((one) => !up(one)).map(({ name }) => `${name} is not up`),
    ],
    decision: () => last,
  }

  function work(tier: PowerWorkload['tier'], name: string, wanted: number, volume: boolean): Work {
    return { kind: 'Deployment', name, tier, wanted, replicas: wanted, remembered: undefined, pods: [], volume }
  }
}
