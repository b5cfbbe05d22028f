import type { ResourceKey } from '../model/declaration.ts'
import { croftKind } from './fields/croft-kind.ts'
import { badValue, fieldProblem, missingField } from './fields/problem.ts'
import type { FieldProblem, Lookup } from './kind.ts'
import { findHost, unknownHost } from './machines/bindings.ts'
import { powerSchema, type WrittenPower } from './power/schema.ts'
import { hostOf, raisedLevels, specOf } from './power/spec.ts'

/** The label of machines that others depend on. */
const INFRASTRUCTURE = 'croft.dev/infrastructure'

/** A cluster or a site that is switched off and on in order. */
export const power = croftKind<WrittenPower>({
  kind: 'Power',
  plural: 'powers',
  shortNames: ['pw'],
  summary: 'A cluster or a site that is switched off and on in order: tiers, deadlines, schedule, UPS levels.',
  schema: powerSchema,

  check(spec) {
    const problems: FieldProblem[] = []
    if (spec.cluster === undefined && spec.hosts.length === 0 && spec.machines.length === 0)
      problems.push(
        missingField(['spec', 'cluster'], 'there is nothing to switch', 'name a cluster, hosts or machines'),
      )
    if (spec.schedule !== undefined && !isTimeZone(spec.schedule.timeZone))
      problems.push(
        badValue(
          ['spec', 'schedule', 'timeZone'],
          `${spec.schedule.timeZone} is not a time zone`,
          'a name like Europe/Berlin',
        ),
      )
    if (spec.ups !== undefined && spec.hosts.length === 0)
      problems.push(
        badValue(
          ['spec', 'ups'],
          'there is no host that croft could switch off when the battery runs out',
          'name the hosts that the UPS feeds under hosts, or leave ups out',
        ),
      )
    const names = spec.hooks.map(({ name }) => name)
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index)
        problems.push(
          badValue(['spec', 'hooks', index, 'name'], `there are two hooks ${name}`, 'give each its own name'),
        )
    })
    return problems
  },

  expand(declaration, lookup) {
    const problems: FieldProblem[] = []
    const { spec } = declaration
    if (spec.cluster !== undefined && lookup.declaration('Cluster', spec.cluster) === undefined)
      problems.push(fieldProblem('unknown-reference', ['spec', 'cluster'], `there is no Cluster ${spec.cluster}`))
    const hosts = spec.hosts.map((host, index) => hostOf(host, index, declaration, lookup, problems))
    spec.hooks.forEach(({ on }, index) => {
      if (findHost(on, declaration.namespace, lookup) === undefined)
        problems.push(unknownHost(on, ['spec', 'hooks', index, 'on'], lookup))
    })
    for (const sort of ['dns', 'storage'] as const)
      spec.checks[sort].forEach((check, index) => {
        if (lookup.declaration('HealthCheck', check) !== undefined) return
        const message = `there is no HealthCheck ${check}`
        problems.push(fieldProblem('unknown-reference', ['spec', 'checks', sort, index], message))
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
    return {
      role: 'power',
      power: { key, name, spec: made, policy, origin, generation },
      warnings: raisedLevels(declaration, made.hosts),
    }
  },
})

function machineKey(
  reference: string,
  path: readonly (string | number)[],
  lookup: Lookup,
  problems: FieldProblem[],
): readonly ResourceKey[] {
  const [kind = '', name = ''] = reference.split('/')
  const found = lookup.declaration(kind, name)
  if (found !== undefined) return [found.key]
  problems.push(fieldProblem('unknown-reference', path, `there is no ${reference}`))
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
