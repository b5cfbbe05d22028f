import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { Candidate, Placement } from '../../model/resource.ts'
import type { Expanded, FieldProblem, Lookup } from '../kind.ts'
import type { HostSpec } from '../schemas/host.ts'
import type { MachineSpec } from '../schemas/machine.ts'
import { nodeOf } from './bindings.ts'

type PlacementHost = Declaration<HostSpec>
type OnOneHost = (Expanded & { readonly role: 'resource' }) | { readonly problems: readonly FieldProblem[] }

/** Returns the machine for each possible host, and why it cannot be on the others. The plan chooses. */
export function expandAnywhere(
  machine: Declaration<MachineSpec>,
  pinned: string | undefined,
  lookup: Lookup,
  expandOn: (host: PlacementHost) => OnOneHost,
): OnOneHost {
  const wish = machine.spec.placement ?? {}
  const hosts = hostsFor(machine, lookup)
  if ('problems' in hosts) return hosts
  const candidates: Candidate[] = []
  const unfit: { host: string; why: string }[] = []
  const problems: FieldProblem[] = []
  let sample: (Expanded & { readonly role: 'resource' }) | undefined
  for (const host of hosts) {
    const expanded = expandOn(host)
    if ('problems' in expanded) {
      const [first] = expanded.problems
      problems.push(...expanded.problems)
      // Other hosts report the same problem.
      unfit.push({ host: host.name, why: (first?.message ?? '').replace(`host ${host.name} `, '') })
      continue
    }
    const barred = barredBy(host, wish.labels ?? {}, pinned)
    candidates.push({
      host: host.name,
      node: nodeOf(host),
      desired: expanded.desired,
      needs: expanded.needs,
      busy: busyOf(host),
      ...defined({ barred }),
    })
    if (
      sample === undefined ||
      (barred === undefined && candidates.slice(0, -1).every((one) => one.barred !== undefined))
    )
      sample = expanded
  }
  if (sample === undefined) return { problems: noHost(hosts, problems) }
  const placement: Placement = {
    candidates,
    unfit,
    ...defined({ spread: wish.spread, apart: wish.apart, pinned }),
  }
  return { ...sample, placement }
}

/** Reports whether croft chooses the machine's host. A Host with the name `auto` takes precedence. */
export function isAnywhere(machine: Declaration<MachineSpec>, lookup: Lookup): boolean {
  return machine.spec.host === 'auto' && lookup.declaration('Host', 'auto') === undefined
}

function hostsFor(
  machine: Declaration<MachineSpec>,
  lookup: Lookup,
): readonly PlacementHost[] | { readonly problems: readonly FieldProblem[] } {
  const all = (lookup.all('Host') as readonly PlacementHost[]).filter(
    ({ namespace }) => namespace === undefined || namespace === machine.namespace,
  )
  const connections = lookup.all('Proxmox').map(({ name }) => name)
  const wanted = machine.spec.placement?.connection
  const path = ['spec', 'placement', 'connection']
  if (wanted !== undefined && !connections.includes(wanted))
    return { problems: [{ code: 'unknown-reference', path, message: `there is no connection ${wanted}` }] }
  if (wanted === undefined && connections.length > 1)
    return {
      problems: [
        {
          code: 'missing-field',
          path,
          message: `placement.connection is missing: there are ${connections.join(', ')}`,
          hint: 'a machine stays within one connection: name it',
        },
      ],
    }
  const hosts = all
    .filter(({ spec }) => wanted === undefined || spec.connection === undefined || spec.connection === wanted)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  if (hosts.length > 0) return hosts
  const message = 'host is auto, and no Host is declared that it could be on'
  return { problems: [{ code: 'no-host', path: ['spec', 'host'], message, hint: 'declare a Host with its bindings' }] }
}

function barredBy(
  host: PlacementHost,
  labels: Readonly<Record<string, string>>,
  pinned: string | undefined,
): string | undefined {
  if (pinned !== undefined && host.name !== pinned) return `is not where its devices are: they are on ${pinned}`
  const missing = Object.entries(labels).find(([name, value]) => host.labels[name] !== value)
  if (missing !== undefined) return `does not carry the label ${missing[0]}=${missing[1]}`
  return host.spec.placement?.closed === true ? 'takes no new machines: placement.closed is set' : undefined
}

function busyOf(host: PlacementHost): { readonly above: number; readonly forMs: number } {
  const { busyAbove, busyForMinutes } = host.spec.placement ?? {}
  return {
    above: busyAbove === undefined ? LIMITS.busyHost.above : busyAbove / 100,
    forMs: busyForMinutes === undefined ? LIMITS.busyHost.forMs : busyForMinutes * 60_000,
  }
}

/** Explains that no host fits: bindings are missing, or general problems, each once. */
function noHost(hosts: readonly PlacementHost[], problems: readonly FieldProblem[]): readonly FieldProblem[] {
  const general = problems.filter(({ code }) => code !== 'unbound')
  if (general.length > 0) {
    const seen = new Set<string>()
    return general.filter(({ message }) => !seen.has(message) && seen.add(message))
  }
  const [first] = problems
  return [
    {
      code: 'unbound',
      path: first?.path ?? ['spec', 'host'],
      message: `no host binds all that it names: ${[...new Set(problems.map(({ message }) => message))].join('; ')}`,
      hint: `complete the bindings of one of ${hosts.map(({ name }) => name).join(', ')}`,
    },
  ]
}
