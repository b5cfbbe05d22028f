import { defined } from '../../lib/defined.ts'
import type { Declaration, ResourceKey } from '../../model/declaration.ts'
import type { PowerHost, PowerSpec } from '../../model/power.ts'
import { milliseconds } from '../fields/duration.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import { connectionOf, findHost, hypervisorsIn, nodeOf, unknownHost } from '../machines/bindings.ts'
import type { HostSpec } from '../schemas/host.ts'
import { sshTargetOf } from '../ssh-target.ts'
import type { WrittenPower } from './schema.ts'

/** A Power as the planner has it: durations in milliseconds, hosts with the ways to them. */
export function specOf(
  { spec, namespace }: Declaration<WrittenPower>,
  lookup: Lookup,
  hosts: readonly PowerHost[],
  machines: readonly ResourceKey[],
  infrastructure: readonly ResourceKey[],
): PowerSpec {
  const { deadlines, holds } = spec
  const rule = ({ after, choice }: { readonly after: string; readonly choice: 'wait' | 'force' | 'abort' }) => ({
    afterMs: milliseconds(after),
    choice,
  })
  return {
    ...defined({ cluster: spec.cluster }),
    state: spec.state,
    hosts: spec.ups === undefined ? hosts : orderedByUps(hosts, spec.ups.name),
    machines: machines.filter((key) => !infrastructure.includes(key)),
    infrastructure,
    rules: spec.tiers,
    hooks: spec.hooks.map((hook) => {
      const host = findHost(hook.on, namespace, lookup)
      const target = host === undefined ? undefined : sshTargetOf(host, lookup)
      return { ...hook, ...(target === undefined || 'problems' in target ? {} : { target }) }
    }),
    deadlines: {
      scale: rule(deadlines.scale),
      detach: rule(deadlines.detach),
      drain: rule(deadlines.drain),
      stop: rule(deadlines.stop),
      start: rule(deadlines.start),
    },
    holds: {
      people: holds.people,
      idleMs: milliseconds(holds.peopleIdle),
      backups: holds.backups,
      jobs: holds.jobs,
      jobsMs: milliseconds(holds.jobsAtMost),
    },
    ...defined({ schedule: spec.schedule }),
    idleMs: milliseconds(spec.idle),
    ...defined({ ups: spec.ups }),
    ha: spec.ha,
    strangers: spec.strangers,
    checks: spec.checks,
  }
}

/**
 * Returns which UPS feeds which host, and which single host can report it. croft's own box and the boxes of NUT servers
 * get the highest level: they switch off the rest, so they go last.
 */
function orderedByUps(hosts: readonly PowerHost[], main: string): readonly PowerHost[] {
  const fed = hosts.map((host) => ({ ...host, fedBy: upsOf(host.fedBy, main) }))
  const all = [...new Set(fed.map(({ fedBy }) => fedBy))]
  const highest = Math.max(...hosts.map(({ level }) => level))
  return fed.map((host) => {
    const tells = all.filter((ups) => isServedBy(ups, host))
    return { ...host, tells, level: host.own || tells.length > 0 ? highest : host.level }
  })
}

/** Completes a UPS name without a server by the server of the Power. */
function upsOf(named: string | undefined, main: string): string {
  if (named === undefined) return main
  return named.includes('@') ? named : `${named}${main.slice(main.indexOf('@'))}`
}

function isServedBy(ups: string, { name, own, ssh, node }: PowerHost): boolean {
  const server = ups.slice(ups.indexOf('@') + 1).replace(/:[0-9]+$/, '')
  if (/^(?:localhost|127\.[0-9.]+)$/.test(server)) return own
  return [name, node, ssh?.address].includes(server)
}

/** Warns of declared levels that have no effect, because the host has to go last. */
export function raisedLevels(
  { spec }: Declaration<WrittenPower>,
  hosts: readonly PowerHost[],
): readonly FieldProblem[] {
  return spec.hosts.flatMap(({ name, level }, index) => {
    const host = hosts.find((one) => one.name === name)
    if (host === undefined || level === undefined || level >= host.level) return []
    const why = host.own ? `croft runs on ${name}` : `the NUT server of ${host.tells.join(', ')} runs on ${name}`
    return [
      {
        code: 'raised-level',
        path: ['spec', 'hosts', index, 'level'],
        severity: 'warning' as const,
        message: `${why}: it goes off with level ${host.level}, not ${level}, because nothing could switch off the others without it`,
        hint: 'leave level out',
      },
    ]
  })
}

/** Returns a box with its connections. Undefined: unknown name, which is reported. */
export function hostOf(
  { name, level, watts }: WrittenPower['hosts'][number],
  index: number,
  declaration: Declaration<WrittenPower>,
  lookup: Lookup,
  problems: FieldProblem[],
): PowerHost | undefined {
  const path = ['spec', 'hosts', index, 'name'] as const
  const found = findHost(name, declaration.namespace, lookup)
  if (found === undefined) {
    problems.push(unknownHost(name, path, lookup))
    return undefined
  }
  const { spec } = found
  const connection = hypervisorOf(found, lookup)
  const ssh = spec.ssh === undefined && spec.local !== true ? undefined : sshTargetOf(found, lookup)
  if (spec.wake === undefined && spec.bmc === undefined)
    problems.push({
      code: 'cannot-wake',
      path,
      severity: 'error',
      message: `Host ${name} has neither wake nor bmc: croft could not switch it on again`,
      hint: `add wake: {mac: …} or bmc to Host ${name}`,
    })
  return {
    name,
    level: level ?? 1,
    own: spec.local === true,
    ...(connection === undefined ? {} : { connection, node: nodeOf(found) }),
    ...(ssh === undefined || 'problems' in ssh ? {} : { ssh }),
    ...defined({ wake: spec.wake }),
    ...(spec.bmc === undefined ? {} : { bmc: bmcOf(spec.bmc) }),
    tells: [],
    ...defined({ fedBy: spec.ups, watts }),
  }
}

function bmcOf({
  password,
  fingerprint,
  system,
  ...rest
}: NonNullable<HostSpec['bmc']>): NonNullable<PowerHost['bmc']> {
  return {
    ...rest,
    password: secretReferenceOf(password),
    ...defined({ fingerprint, system }),
  }
}

/** The hypervisor that a host carries; undefined for a plain box. */
function hypervisorOf(host: Declaration<HostSpec>, lookup: Lookup): string | undefined {
  const named = connectionOf(host, [], lookup)
  if ('connection' in named && named.connection !== undefined) return named.connection
  const { networks, storages } = host.spec.bindings
  if (Object.keys(networks).length + Object.keys(storages).length === 0) return undefined
  const all = hypervisorsIn(lookup)
  return all.length === 1 ? all[0]?.name : undefined
}
