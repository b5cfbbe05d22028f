import { z } from 'zod'
import type { Declaration } from '../model/declaration.ts'
import type { Connection } from '../model/estate.ts'
import type { SshTarget } from '../model/secret.ts'
import { croftKind } from './fields/croft-kind.ts'
import { certificateFingerprint } from './fields/fingerprint.ts'
import { vmid, whole } from './fields/number.ts'
import { secretReference, secretReferenceOf } from './fields/ssh.ts'
import { logicalName, matching, objectName } from './fields/text.ts'
import type { FieldProblem, Lookup } from './kind.ts'
import type { HostSpec } from './schemas/host.ts'
import { sshTargetOf } from './ssh-target.ts'

/** Defaults of a connection. */
export const PROXMOX_IDS = { from: 100, to: 999_999 }
/**
 * Proxmox loses a task that begins while another of its tasks ends. Of a creation that leaves an id which only root can clear:
 * at 3 none was lost, at 12 one of a hundred.
 */
export const PROXMOX_LIMITS = { perHost: 32, perStorage: 16, reads: 4, creations: 3 }

const schema = z.strictObject({
  endpoint: matching(
    /^https:\/\/(?:[a-zA-Z0-9.-]+|\[[0-9a-fA-F:]+\])(?::[1-9][0-9]{0,4})?\/?$/,
    'an address like https://192.168.4.175:8006, without user, path or query',
    300,
  ),
  fingerprint: certificateFingerprint.optional(),
  token: secretReference,
  estate: logicalName.default('default'),
  vmids: z
    .strictObject({ from: vmid.default(PROXMOX_IDS.from), to: vmid.default(PROXMOX_IDS.to) })
    .refine((range) => range.from <= range.to, { error: 'a range whose from is not above its to' })
    .default(PROXMOX_IDS),
  limits: z
    .strictObject({
      perHost: whole(1, 100).default(PROXMOX_LIMITS.perHost),
      perStorage: whole(1, 100).default(PROXMOX_LIMITS.perStorage),
      reads: whole(1, 20).default(PROXMOX_LIMITS.reads),
      creations: whole(1, 100).default(PROXMOX_LIMITS.creations),
    })
    .default(PROXMOX_LIMITS),
})

type ProxmoxSpec = z.output<typeof schema>

/** Access to a Proxmox cluster, or to a single host. */
export const proxmox = croftKind<ProxmoxSpec>({
  kind: 'Proxmox',
  plural: 'proxmoxes',
  shortNames: ['pve'],
  summary: 'How a Proxmox cluster is reached: address, pinned certificate, reference to a token.',
  schema,

  check(spec, manifest) {
    const problems: FieldProblem[] = []
    if (!objectName.safeParse(manifest.metadata.name).success) return problems
    if (spec.fingerprint === undefined) {
      problems.push({
        code: 'no-fingerprint',
        path: ['spec', 'endpoint'],
        severity: 'warning',
        message: "the certificate is not pinned: the system's trust store decides whether the token is sent",
        hint: 'add fingerprint, as Proxmox shows it under Node, System, Certificates',
      })
    }
    return problems
  },

  expand(declaration, lookup) {
    const connection = connectionOf(declaration.name, declaration.spec, declaration.origin)
    const hosts = sshHosts(declaration.name, lookup)
    return { role: 'connection', connection: Object.keys(hosts).length === 0 ? connection : { ...connection, hosts } }
  },
})

/** Returns this connection's hosts with SSH access. Their problems are reported at their use. */
export function sshHosts(name: string, lookup: Lookup): Readonly<Record<string, SshTarget>> {
  const declared = lookup.all('Proxmox')
  const only = (declared.length > 0 ? declared : lookup.all('ProviderConfig')).length < 2
  const hosts: Record<string, SshTarget> = Object.create(null)
  for (const host of lookup.all('Host') as readonly Declaration<HostSpec>[]) {
    const { connection, node, ssh, local } = host.spec
    const ours = connection === name || (connection === undefined && only)
    if (!ours || (ssh === undefined && local !== true)) continue
    const target = sshTargetOf(host, lookup)
    if (!('problems' in target)) hosts[node ?? host.name] = target
  }
  return hosts
}

function connectionOf(name: string, spec: ProxmoxSpec, origin: Connection['origin']): Connection {
  return {
    name,
    driver: 'proxmox',
    endpoint: spec.endpoint.replace(/\/$/, ''),
    ...(spec.fingerprint === undefined ? {} : { fingerprint: spec.fingerprint.toUpperCase() }),
    token: secretReferenceOf(spec.token),
    estate: spec.estate,
    ids: spec.vmids,
    limits: spec.limits,
    origin,
  }
}
