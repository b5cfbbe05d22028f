import type { Declaration } from '../model/declaration.ts'
import type { Connection } from '../model/estate.ts'
import type { SshTarget } from '../model/secret.ts'
import { croftKind } from './fields/croft-kind.ts'
import { secretReferenceOf } from './fields/ssh.ts'
import { armProblems } from './hypervisors/libvirt-machine.ts'
import { type LibvirtSpec, libvirtSchema } from './hypervisors/libvirt-schema.ts'
import type { FieldProblem, Lookup } from './kind.ts'
import { hypervisorOf, nodeOf } from './machines/bindings.ts'
import type { HostSpec } from './schemas/host.ts'
import { sshTargetOf } from './ssh-target.ts'

/** Access to libvirt on one host. */
export const libvirt = croftKind<LibvirtSpec>({
  kind: 'Libvirt',
  plural: 'libvirts',
  shortNames: ['virt'],
  summary: 'How libvirt on a host is reached: over SSH with a pinned host key, or on this very computer.',
  schema: libvirtSchema,

  check(spec) {
    const problems: FieldProblem[] = []
    const bad = (field: string, message: string, hint: string) =>
      problems.push({ code: 'bad-value', path: ['spec', ...field.split('.')], message, hint })
    for (const { field, message, hint } of armProblems(spec.machines)) bad(`machines.${field}`, message, hint)
    const remote = spec.endpoint.includes('+ssh')
    if (remote && spec.host !== undefined) bad('host', 'the endpoint names its host already', 'leave one of them out')
    if (remote && spec.ssh === undefined)
      bad('endpoint', 'the host keys are missing, and croft trusts no key on first use', 'add ssh.hostKeys')
    if (!remote && spec.ssh !== undefined)
      bad('ssh', 'the Host says how it is reached', 'write an endpoint with qemu+ssh, or leave ssh out')
    return problems
  },

  expand(declaration, lookup) {
    const ssh = targetOf(declaration, lookup)
    if ('problems' in ssh) return ssh
    return { role: 'connection', connection: connectionOf(declaration, ssh) }
  },
})

/** Default: libvirt on this computer. */
function targetOf(
  declaration: Declaration<LibvirtSpec>,
  lookup: Lookup,
): SshTarget | { readonly problems: readonly FieldProblem[] } {
  const { spec } = declaration
  const name = hostNameOf(declaration, lookup)
  if (spec.endpoint.includes('+ssh')) return remoteTarget(name, spec)
  if (spec.host === undefined)
    return { name, address: 'localhost', port: 22, user: 'root', hostKeys: [], sudo: 'none', local: true }
  const host = lookup.declaration('Host', spec.host)
  if (host !== undefined) return sshTargetOf(host, lookup)
  return {
    problems: [{ code: 'unknown-reference', path: ['spec', 'host'], message: `there is no Host ${spec.host}` }],
  }
}

/** Returns the name by which machines refer to this host: that of its Host, if there is one. */
function hostNameOf({ name }: Declaration<LibvirtSpec>, lookup: Lookup): string {
  const hosts = lookup.all('Host') as readonly Declaration<HostSpec>[]
  const host = hosts.find((one) => hypervisorOf(one, lookup)?.name === name)
  return host === undefined ? name : nodeOf(host)
}

function remoteTarget(name: string, spec: LibvirtSpec): SshTarget {
  const [, user = 'root', address = '', port = '22'] =
    /^qemu\+ssh:\/\/(?:([^@/]+)@)?(\[[^\]]+\]|[^:/]+)(?::(\d+))?\//.exec(spec.endpoint) ?? []
  const { hostKeys = [], key, sudo } = spec.ssh ?? {}
  return {
    name,
    address: address.replace(/^\[|\]$/g, ''),
    port: Number(port),
    user,
    hostKeys,
    // Members of the group libvirt need no root, so sudo is off by default.
    sudo:
      sudo === undefined ? 'none' : typeof sudo === 'object' ? { password: secretReferenceOf(sudo.password) } : sudo,
    ...(key === undefined ? {} : { key: secretReferenceOf(key) }),
  }
}

function connectionOf({ name, spec, origin }: Declaration<LibvirtSpec>, ssh: SshTarget): Connection {
  return {
    name,
    driver: 'libvirt',
    endpoint: spec.endpoint,
    ssh,
    estate: spec.estate,
    // A domain is identified by a UUID derived from its declaration, so it needs no number.
    ids: { from: 1, to: 1 },
    limits: spec.limits,
    origin,
  }
}
