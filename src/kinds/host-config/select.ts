import type { Declaration } from '../../model/declaration.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { HostConfigSpec } from './schema.ts'

/** The hosts that a configuration is for, and what is wrong with how they are named. */
export function selectedHosts(
  spec: Pick<HostConfigSpec, 'hosts'>,
  lookup: Lookup,
): { readonly hosts: readonly Declaration[]; readonly problems: readonly FieldProblem[] } {
  const all = lookup.all('Host')
  const { names, labels } = Array.isArray(spec.hosts) ? { names: spec.hosts, labels: undefined } : spec.hosts
  const problems: FieldProblem[] = []
  const known = new Set(all.map((host) => host.name))
  for (const name of names ?? [])
    if (!known.has(name))
      problems.push({
        code: 'unknown-host',
        path: ['spec', 'hosts'],
        message: `no Host is called ${name}`,
        hint: known.size === 0 ? 'declare it with kind: Host' : `there are ${[...known].sort().join(', ')}`,
      })
  if (names === undefined && labels === undefined)
    problems.push({ code: 'no-hosts', path: ['spec', 'hosts'], message: 'it names neither hosts nor labels' })
  const hosts = all.filter((host) => isSelected(spec, host))
  return { hosts, problems }
}

export function isSelected(spec: Pick<HostConfigSpec, 'hosts'>, host: Declaration): boolean {
  const { names, labels } = Array.isArray(spec.hosts) ? { names: spec.hosts, labels: undefined } : spec.hosts
  if (names?.includes(host.name) === true) return true
  const wanted = Object.entries(labels ?? {})
  return wanted.length > 0 && wanted.every(([name, value]) => host.labels[name] === value)
}
