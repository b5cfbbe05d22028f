import type { Declaration } from '../model/declaration.ts'
import type { SshTarget } from '../model/secret.ts'
import { secretReferenceOf } from './fields/ssh.ts'
import type { FieldProblem, Lookup } from './kind.ts'
import type { HostSpec } from './schemas/host.ts'

/** More jump hosts are a mistake, or a cycle. */
const MOST_JUMPS = 3

/**
 * Returns the SSH access of a Host, with jump hosts: the single place for clusters, host configuration and the verbs of
 * `croft host`.
 */
export function sshTargetOf(
  declaration: Declaration,
  lookup: Lookup,
): SshTarget | { readonly problems: readonly FieldProblem[] } {
  return targetOf(declaration as Declaration<HostSpec>, lookup, [])
}

function targetOf(
  declaration: Declaration<HostSpec>,
  lookup: Lookup,
  through: readonly string[],
): SshTarget | { readonly problems: readonly FieldProblem[] } {
  const { ssh, local } = declaration.spec
  const { name } = declaration
  if (ssh === undefined) {
    if (local === true) {
      return { name, address: 'localhost', port: 22, user: 'root', hostKeys: [], sudo: 'none', local: true }
    }
    return problem('no-ssh', ['spec', 'ssh'], `the Host ${name} does not say how it is reached over SSH`, {
      hint: 'add ssh: {address, user, hostKeys}; croft host enroll prints them',
    })
  }
  const jump = ssh.jump === undefined ? undefined : jumpOf(ssh.jump, lookup, [...through, name])
  if (jump !== undefined && 'problems' in jump) return jump
  return {
    name,
    address: ssh.address,
    port: ssh.port,
    user: ssh.user,
    hostKeys: ssh.hostKeys,
    sudo: sudoOf(ssh),
    ...(ssh.key === undefined ? {} : { key: secretReferenceOf(ssh.key) }),
    ...(jump === undefined ? {} : { jump }),
    ...(local === true ? { local } : {}),
  }
}

function sudoOf(ssh: NonNullable<HostSpec['ssh']>): SshTarget['sudo'] {
  if (typeof ssh.sudo === 'object') return { password: secretReferenceOf(ssh.sudo.password) }
  return ssh.sudo ?? (ssh.user === 'root' ? 'none' : 'passwordless')
}

function jumpOf(
  name: string,
  lookup: Lookup,
  through: readonly string[],
): SshTarget | { readonly problems: readonly FieldProblem[] } {
  const path = ['spec', 'ssh', 'jump']
  if (through.includes(name))
    return problem('jump-circle', path, `the way leads in a circle: ${[...through, name].join(' → ')}`)
  if (through.length > MOST_JUMPS)
    return problem('too-many-jumps', path, `the way leads through more than ${MOST_JUMPS} other hosts`)
  const found = lookup.declaration('Host', name)
  if (found === undefined) return problem('unknown-host', path, `no Host is called ${name}`)
  return targetOf(found as Declaration<HostSpec>, lookup, through)
}

function problem(
  code: string,
  path: readonly string[],
  message: string,
  more: { readonly hint?: string } = {},
): { readonly problems: readonly FieldProblem[] } {
  return { problems: [{ code, path, message, ...more }] }
}
