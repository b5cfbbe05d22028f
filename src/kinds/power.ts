import { z } from 'zod'
import type { Declaration } from '../model/declaration.ts'
import type { ResourceKey } from '../model/key.ts'
import type { PowerHost, PowerSpec } from '../model/power.ts'
import { labels } from './cluster/node-schema.ts'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import { duration, milliseconds } from './fields/duration.ts'
import { whole } from './fields/number.ts'
import { schedule } from './fields/schedule.ts'
import { secretReferenceOf } from './fields/ssh.ts'
import { line, logicalName, objectName } from './fields/text.ts'
import type { HostSpec } from './host.ts'
import type { FieldProblem, Kind, Lookup } from './kind.ts'
import { connectionOf, findHost, nodeOf, unknownHost } from './machines/bindings.ts'
import { freeText } from './settings/field-schema.ts'
import { sshTargetOf } from './ssh-target.ts'

/** The label by which a machine says that others cannot do without it. */
export const INFRASTRUCTURE = 'croft.dev/infrastructure'

const word = line.clone()
// Handed over as one argument of a program: no shell reads it.
word.register(freeText, { free: true })

const workloadTier = z.enum(['gitops', 'operators', 'apps', 'databases', 'storage-clients', 'storage', 'system'])
const anyTier = z.enum([
  'gitops',
  'operators',
  'apps',
  'databases',
  'storage-clients',
  'volumes',
  'storage',
  'workers',
  'servers',
  'machines',
  'hosts',
  'infrastructure',
  'last-hosts',
])

function deadline(after: string, choice: 'wait' | 'force' | 'abort') {
  return z
    .strictObject({
      after: duration.default(after),
      /** wait: go on waiting. force: the hard way, or without it. abort: go back. */
      choice: z.enum(['wait', 'force', 'abort']).default(choice),
    })
    .default({ after, choice })
}

const machineReference = z
  .string()
  .max(300)
  .regex(/^(?:Machine|EnvironmentVM|EnvironmentContainer)\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/, {
    error: 'Machine/…, EnvironmentVM/… or EnvironmentContainer/…',
  })

const day = z.string().regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: 'a day like 2026-12-24' })

const schema = z.strictObject({
  description: line.optional(),
  /** The Cluster that goes off and on, with its workloads and nodes. */
  cluster: objectName.optional(),
  /** What holds while nobody orders otherwise and the schedule has not spoken. */
  state: z.enum(['on', 'off']).default('on'),
  /** Hosts that are switched as well. */
  hosts: z
    .array(
      z.strictObject({
        name: objectName,
        /** In which level of the UPS it goes: 1 first. */
        level: whole(1, 9).default(1),
        /** What it takes, in watts, on and off: for the estimate of energy. */
        watts: z.strictObject({ on: whole(0, 100_000), off: whole(0, 10_000).default(0) }).optional(),
      }),
    )
    .max(200)
    .default([]),
  /** Further machines that go off after the nodes. */
  machines: z.array(machineReference).max(500).default([]),
  /** Gateway, DNS, DHCP: last off, first on. Machines with the label croft.dev/infrastructure: "true" are, too. */
  infrastructure: z.array(machineReference).max(50).default([]),
  /** In which tier workloads are that croft cannot tell by itself. The first rule that fits counts. */
  tiers: z
    .array(
      z.strictObject({
        tier: workloadTier,
        namespaces: z.array(logicalName).max(50).default([]),
        labels: labels.default({}),
      }),
    )
    .max(100)
    .default([]),
  /** Programs that are run on a Host before a tier goes down, or after it came up. */
  hooks: z
    .array(
      z.strictObject({
        name: logicalName,
        tier: anyTier,
        when: z.enum(['off', 'on']),
        on: objectName,
        run: z.array(word).min(1).max(50),
      }),
    )
    .max(50)
    .default([]),
  deadlines: z
    .strictObject({
      scale: deadline('10m', 'abort'),
      detach: deadline('10m', 'abort'),
      drain: deadline('10m', 'abort'),
      stop: deadline('10m', 'wait'),
      start: deadline('15m', 'force'),
    })
    .prefault({}),
  /** What keeps it from going off. */
  holds: z
    .strictObject({
      people: z.boolean().default(true),
      /** Somebody who has typed nothing for so long has gone home. */
      peopleIdle: duration.default('8h'),
      backups: z.boolean().default(true),
      jobs: z.boolean().default(true),
      /** A job that has run for so long is stuck, and holds nothing. */
      jobsAtMost: duration.default('1d'),
    })
    .prefault({}),
  schedule: z
    .strictObject({
      timeZone: z
        .string()
        .max(60)
        .regex(/^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/, { error: 'a time zone like Europe/Berlin' })
        .default('UTC'),
      off: z.array(schedule).max(20).default([]),
      on: z.array(schedule).max(20).default([]),
      except: z.array(day).max(400).default([]),
    })
    .optional(),
  /** How long a node with power: onDemand may have nothing to run before it is put to sleep. */
  idle: duration.default('10m'),
  ups: z
    .strictObject({
      /** As NUT calls it. */
      name: z
        .string()
        .max(200)
        .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.:-]*$/, { error: 'a UPS like rack@192.168.4.2' }),
      levels: z
        .array(z.strictObject({ below: whole(1, 99), level: whole(1, 9) }))
        .min(1)
        .max(9)
        .default([
          { below: 40, level: 1 },
          { below: 20, level: 2 },
          { below: 10, level: 9 },
        ]),
    })
    .optional(),
  /** Is HA disarmed before guests stop, and armed again at start? */
  ha: z.boolean().default(true),
  /** Guests that nobody declared, on a host that is to go off. */
  strangers: z.enum(['hold', 'shutdown']).default('hold'),
  /** HealthChecks that must pass on the way up. */
  checks: z
    .strictObject({
      dns: z.array(objectName).max(20).default([]),
      storage: z.array(objectName).max(20).default([]),
    })
    .prefault({}),
})

type Written = z.output<typeof schema>

/** A cluster or a site that is switched off and on in order. */
export const power: Kind<Written> = {
  kind: 'Power',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'powers',
  shortNames: ['pw'],
  summary: 'A cluster or a site that is switched off and on in order: tiers, deadlines, schedule, UPS levels.',
  schema,

  check(spec, manifest) {
    const problems: FieldProblem[] = [...checkAnnotations(manifest)]
    if (spec.cluster === undefined && spec.hosts.length === 0 && spec.machines.length === 0)
      problems.push({
        code: 'missing-field',
        path: ['spec', 'cluster'],
        message: 'there is nothing to switch',
        hint: 'name a cluster, hosts or machines',
      })
    if (spec.schedule !== undefined && !isTimeZone(spec.schedule.timeZone))
      problems.push({
        code: 'bad-value',
        path: ['spec', 'schedule', 'timeZone'],
        message: `${spec.schedule.timeZone} is no time zone`,
        hint: 'a name like Europe/Berlin',
      })
    const names = spec.hooks.map(({ name }) => name)
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index)
        problems.push({
          code: 'bad-value',
          path: ['spec', 'hooks', index, 'name'],
          message: `there are two hooks ${name}`,
          hint: 'give each its own name',
        })
    })
    return problems
  },

  policy: (_spec, manifest) => annotatedPolicy(manifest),

  expand(declaration, lookup) {
    const problems: FieldProblem[] = []
    const { spec } = declaration
    if (spec.cluster !== undefined && lookup.declaration('Cluster', spec.cluster) === undefined)
      problems.push({
        code: 'unknown-reference',
        path: ['spec', 'cluster'],
        message: `there is no Cluster ${spec.cluster}`,
      })
    const hosts = spec.hosts.map((host, index) => hostOf(host, index, declaration, lookup, problems))
    spec.hooks.forEach(({ on }, index) => {
      if (findHost(on, declaration.namespace, lookup) === undefined)
        problems.push(unknownHost(on, ['spec', 'hooks', index, 'on'], lookup))
    })
    for (const sort of ['dns', 'storage'] as const)
      spec.checks[sort].forEach((check, index) => {
        if (lookup.declaration('HealthCheck', check) !== undefined) return
        const message = `there is no HealthCheck ${check}`
        problems.push({ code: 'unknown-reference', path: ['spec', 'checks', sort, index], message })
      })
    const infrastructure = [
      ...spec.infrastructure.flatMap((one, index) =>
        machineKey(one, ['spec', 'infrastructure', index], lookup, problems),
      ),
      ...labelled(lookup),
    ]
    const machines = spec.machines.flatMap((one, index) =>
      machineKey(one, ['spec', 'machines', index], lookup, problems),
    )
    if (problems.length > 0) return { problems }
    const { key, name, policy, origin, generation } = declaration
    const made = specOf(
      declaration,
      lookup,
      hosts.flatMap((host) => host ?? []),
      machines,
      [...new Set(infrastructure)],
    )
    return { role: 'power', power: { key, name, spec: made, policy, origin, generation } }
  },
}

function specOf(
  { spec, namespace }: Declaration<Written>,
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
    ...(spec.cluster === undefined ? {} : { cluster: spec.cluster }),
    state: spec.state,
    hosts,
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
    ...(spec.schedule === undefined ? {} : { schedule: spec.schedule }),
    idleMs: milliseconds(spec.idle),
    ...(spec.ups === undefined ? {} : { ups: spec.ups }),
    ha: spec.ha,
    strangers: spec.strangers,
    checks: spec.checks,
  }
}

function hostOf(
  { name, level, watts }: Written['hosts'][number],
  index: number,
  declaration: Declaration<Written>,
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
      message: `Host ${name} has neither wake nor bmc: nobody could switch it on again`,
      hint: `add wake: {mac: …} or bmc to Host ${name}`,
    })
  return {
    name,
    level,
    own: spec.local === true,
    ...(connection === undefined ? {} : { connection, node: nodeOf(found) }),
    ...(ssh === undefined || 'problems' in ssh ? {} : { ssh }),
    ...(spec.wake === undefined ? {} : { wake: spec.wake }),
    ...(spec.bmc === undefined ? {} : { bmc: bmcOf(spec.bmc) }),
    ...(spec.ups === undefined ? {} : { ups: spec.ups }),
    ...(watts === undefined ? {} : { watts }),
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
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(system === undefined ? {} : { system }),
  }
}

/** The hypervisor that a host carries; undefined for a plain box. */
function hypervisorOf(host: Declaration<HostSpec>, lookup: Lookup): string | undefined {
  const named = connectionOf(host, [], lookup)
  if ('connection' in named && named.connection !== undefined) return named.connection
  const { networks, storages } = host.spec.bindings
  if (Object.keys(networks).length + Object.keys(storages).length === 0) return undefined
  const all = [...lookup.all('Proxmox'), ...lookup.all('Libvirt')]
  return all.length === 1 ? all[0]?.name : undefined
}

function machineKey(
  reference: string,
  path: readonly (string | number)[],
  lookup: Lookup,
  problems: FieldProblem[],
): readonly ResourceKey[] {
  const [kind = '', name = ''] = reference.split('/')
  const found = lookup.declaration(kind, name)
  if (found !== undefined) return [found.key]
  problems.push({ code: 'unknown-reference', path, message: `there is no ${reference}` })
  return []
}

function labelled(lookup: Lookup): readonly ResourceKey[] {
  return ['Machine', 'EnvironmentVM', 'EnvironmentContainer'].flatMap((kind) =>
    lookup
      .all(kind)
      .filter(({ labels: own }) => own[INFRASTRUCTURE] === 'true')
      .map(({ key }) => key),
  )
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return true
  } catch {
    return false
  }
}
