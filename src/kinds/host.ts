import type { Declaration } from '../model/declaration.ts'
import type { Connection } from '../model/estate.ts'
import { croftKind } from './fields/croft-kind.ts'
import { hostName } from './fields/text.ts'
import type { HostConfigSpec } from './host-config/schema.ts'
import { isSelected } from './host-config/select.ts'
import { hostConnection } from './host-config.ts'
import type { FieldProblem } from './kind.ts'
import { type HostSpec, hostSchema } from './schemas/host.ts'
import { sshTargetOf } from './ssh-target.ts'

/** A physical box that machines run on. */
export const host = croftKind<HostSpec>({
  kind: 'Host',
  plural: 'hosts',
  shortNames: ['h'],
  summary: 'A physical box: how it is reached and woken, and what the logical networks and storages are called there.',
  schema: hostSchema,

  check(spec, manifest) {
    const problems: FieldProblem[] = []
    if (spec.node === undefined && !hostName.safeParse(manifest.metadata.name).success) {
      problems.push({
        code: 'bad-value',
        path: ['metadata', 'name'],
        message: 'metadata.name cannot be the name of a host',
        hint: 'say what Proxmox calls it in spec.node',
      })
    }
    if (spec.ssh?.sudo !== undefined && spec.ssh.sudo !== 'none' && spec.ssh.user === 'root') {
      problems.push({
        code: 'bad-value',
        path: ['spec', 'ssh', 'sudo'],
        message: 'the user is root already and needs no sudo',
        hint: 'leave sudo out, or name the user',
      })
    }
    return problems
  },

  expand(declaration, lookup) {
    const configured = (lookup.all('HostConfig') as readonly Declaration<HostConfigSpec>[]).some((config) =>
      isSelected(config.spec, declaration),
    )
    const target = sshTargetOf(declaration, lookup)
    if ('problems' in target) return configured ? target : { role: 'fact' }
    const connection: Connection = {
      name: hostConnection(declaration.name),
      driver: 'ssh',
      endpoint: target.local === true ? 'local' : `ssh://${target.user}@${target.address}:${target.port}`,
      ssh: target,
      estate: declaration.spec.estate,
      ids: { from: 0, to: 0 },
      limits: { perHost: 8, perStorage: 1, reads: 4 },
      origin: declaration.origin,
    }
    // A host without configuration is not read: it may be asleep.
    return configured ? { role: 'connection', connection } : { role: 'fact', idle: connection }
  },
})
