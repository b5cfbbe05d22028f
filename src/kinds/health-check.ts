import { z } from 'zod'
import { defined } from '../lib/defined.ts'
import type { Declaration } from '../model/declaration.ts'
import type { HealthCheckSpec, Probe } from '../model/health-check.ts'
import { croftKind } from './fields/croft-kind.ts'
import { duration, milliseconds } from './fields/duration.ts'
import { whole } from './fields/number.ts'
import { secretReference, secretReferenceOf } from './fields/ssh.ts'
import { line, matching, objectName } from './fields/text.ts'
import type { Lookup } from './kind.ts'
import { freeText } from './settings/field-schema.ts'
import { sshTargetOf } from './ssh-target.ts'

/** Compared with what comes back, or handed over as one argument: it reaches no shell and no property string. */
function free() {
  const schema = line.clone()
  schema.register(freeText, { free: true })
  return schema
}

const host = matching(/^[A-Za-z0-9_:][A-Za-z0-9.:_-]*$/, 'a name or an address', 253)

const schema = z
  .strictObject({
    description: line.optional(),
    every: duration.default('60s'),
    timeout: duration.default('5s'),
    failures: whole(1, 100).default(3),
    tcp: z.strictObject({ host, port: whole(1, 65_535) }).optional(),
    http: z
      .strictObject({
        url: matching(
          /^https?:\/\/[^\s@]+$/,
          'an address that begins with http:// or https://, without user or password',
          2000,
        ),
        status: z.array(whole(100, 599)).min(1).max(20).default([200]),
        contains: free().optional(),
        token: secretReference.optional(),
        fingerprint: matching(/^[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){31}$/, '32 pairs of digits, AA:BB:…').optional(),
      })
      .optional(),
    dns: z
      .strictObject({
        name: host,
        type: z.enum(['A', 'AAAA', 'CNAME', 'TXT']).default('A'),
        server: host.optional(),
        expect: free().optional(),
      })
      .optional(),
    cluster: objectName.optional(),
    command: z.strictObject({ on: objectName, run: z.array(free()).min(1).max(50) }).optional(),
  })
  .refine(
    (spec) =>
      [spec.tcp, spec.http, spec.dns, spec.cluster, spec.command].filter((one) => one !== undefined).length === 1,
    {
      error: 'one of tcp, http, dns, cluster and command',
    },
  )

type WrittenCheck = z.output<typeof schema>

/** A check whether something works: before upgrades, on the page, in notifications. */
export const healthCheck = croftKind<WrittenCheck>({
  kind: 'HealthCheck',
  plural: 'healthchecks',
  shortNames: ['check'],
  summary: 'A question that is asked again and again: TCP, HTTP, DNS, a cluster, or a command.',
  schema,
  expand: (declaration, lookup) => ({
    role: 'check',
    name: declaration.name,
    check: healthCheckSpec(declaration, lookup),
  }),
})

/** Converts a declaration to a check: a command on a Host gets the SSH access. */
export function healthCheckSpec({ spec: written }: Declaration, lookup: Lookup): HealthCheckSpec {
  const spec = written as WrittenCheck
  return {
    everyMs: Math.max(1_000, milliseconds(spec.every)),
    timeoutMs: Math.max(100, milliseconds(spec.timeout)),
    failures: spec.failures,
    probe: probeOf(spec, lookup),
  }
}

function probeOf({ tcp, http, dns, cluster, command }: WrittenCheck, lookup: Lookup): Probe {
  if (tcp !== undefined) return { ask: 'tcp', ...tcp }
  if (http !== undefined) {
    const { token, ...rest } = http
    return defined<Extract<Probe, { ask: 'http' }>>({
      ask: 'http',
      ...rest,
      token: token === undefined ? undefined : secretReferenceOf(token),
    })
  }
  if (dns !== undefined) return defined<Extract<Probe, { ask: 'dns' }>>({ ask: 'dns', ...dns })
  if (command !== undefined) {
    const declared = lookup.declaration('Host', command.on)
    const host = declared === undefined ? undefined : sshTargetOf(declared, lookup)
    return { ask: 'command', ...command, ...(host === undefined || 'problems' in host ? {} : { host }) }
  }
  return { ask: 'cluster', cluster: cluster ?? '' }
}
