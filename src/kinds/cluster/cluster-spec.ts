import { defined } from '../../lib/defined.ts'
import type {
  BackupPolicy,
  ClusterEndpoint,
  ClusterNetwork,
  ClusterSpec,
  MaintenanceWindow,
  NodeSpec,
  Registries,
} from '../../model/cluster.ts'
import type { ArtifactSource } from '../../model/estate.ts'
import { milliseconds } from '../fields/duration.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import { rangesOf } from './address-ranges.ts'
import { type Member, machineOf } from './members.ts'
import { DAYS } from './policy-schema.ts'
import type { ClusterFields } from './schema.ts'

/** The cluster that the fields mean, with its nodes in the order of their names. */
export function clusterSpecOf(
  name: string,
  fields: ClusterFields,
  members: readonly Member[],
  addressesOf: (member: Member) => readonly string[],
): ClusterSpec {
  const nodes = members.map((member) => nodeOf(fields, member, addressesOf(member)))
  const { upgrade, remediation } = fields
  return defined<ClusterSpec>({
    name,
    version: fields.version,
    endpoint: endpointOf(fields, members),
    network: networkOf(fields),
    disable: fields.disable,
    tlsSans: [...new Set(fields.tlsSans)].sort(),
    secretsEncryption: fields.secretsEncryption,
    registries: fields.registries === undefined ? undefined : registriesOf(fields.registries),
    serverFlags: fields.serverFlags,
    nodeFlags: fields.nodeFlags,
    servers: nodes.filter(({ role }) => role === 'server'),
    agents: nodes.filter(({ role }) => role === 'agent'),
    upgrade: {
      method: upgrade.method,
      drain: { timeoutMs: milliseconds(upgrade.drain.timeout), onTimeout: upgrade.drain.onTimeout },
      soakMs: milliseconds(upgrade.soak),
      nodeTimeoutMs: milliseconds(upgrade.nodeTimeout),
      healthChecks: [...new Set(upgrade.healthChecks)].sort(),
      windows: upgrade.windows.map(windowOf),
      agentsSurge: upgrade.agentsSurge,
    },
    remediation: defined<ClusterSpec['remediation']>({
      enabled: remediation.enabled,
      brake: remediation.brake,
      deadAfterMs: milliseconds(remediation.deadAfter),
      pauseMs: milliseconds(remediation.pause),
      evictAfterMs: remediation.evictAfter === undefined ? undefined : milliseconds(remediation.evictAfter),
      dataMayGo: remediation.dataMayGo,
    }),
    backup: fields.backup === undefined ? undefined : backupOf(fields.backup),
    staleState: fields.staleState,
    ghostMembers: fields.ghostMembers,
    allow: fields.allow,
  })
}

/** Returns the sources of K3s. Default: the official release. */
export function artifactsOf({ artifacts = [] }: ClusterFields): readonly ArtifactSource[] {
  if (artifacts.length === 0) return [{ release: true }]
  return artifacts.map(({ mirror, file }) => {
    if (mirror !== undefined) return { mirror: mirror.replace(/\/$/, '') }
    return file === undefined ? { release: true } : { file }
  })
}

function nodeOf(fields: ClusterFields, member: Member, nodeIps: readonly string[]): NodeSpec {
  const { name, role, on, fields: own } = member
  const machine = on.kind === 'Host' ? { host: on.of.name } : { key: machineOf(member) }
  return defined<NodeSpec>({
    name,
    role,
    machine,
    nodeIps,
    externalIps: own.externalAddresses,
    labels: inOrder({ ...fields.labels, ...own.labels }),
    taints: [...new Set([...fields.taints, ...(own.taints ?? [])])].sort(),
    power: own.power,
    flags: own.flags,
  })
}

/** Returns the endpoint. Default: the only server; the check refuses several without an endpoint. */
function endpointOf({ endpoint }: ClusterFields, members: readonly Member[]): ClusterEndpoint {
  if (endpoint?.vip !== undefined) {
    const { vip, kubeVip } = endpoint
    return kubeVip === undefined ? { vip } : { vip, kubeVip: defined<typeof kubeVip>(kubeVip) as never }
  }
  if (endpoint?.dns !== undefined) return { dns: endpoint.dns }
  return { server: endpoint?.server ?? members.find(({ role }) => role === 'server')?.name ?? '' }
}

function networkOf(fields: ClusterFields): ClusterNetwork {
  const { podCidrs, serviceCidrs } = rangesOf(fields)
  return defined<ClusterNetwork>({
    podCidrs,
    serviceCidrs,
    nodeMasks: fields.nodeMasks === undefined ? undefined : defined(fields.nodeMasks),
    flannelBackend: fields.flannelBackend,
    kubeProxy: fields.kubeProxy,
    networkPolicy: fields.networkPolicy,
    clusterDomain: fields.clusterDomain,
  })
}

function registriesOf({ mirrors, configs }: NonNullable<ClusterFields['registries']>): Registries {
  return defined<Registries>({
    mirrors: Object.fromEntries(
      Object.entries(inOrder(mirrors)).map(([host, { endpoint, rewrite }]) => [
        host,
        rewrite === undefined ? { endpoint } : { endpoint, rewrite },
      ]),
    ),
    configs:
      configs === undefined
        ? undefined
        : Object.fromEntries(
            Object.entries(inOrder(configs)).map(([host, { auth, tls }]) => [
              host,
              {
                ...(auth === undefined ? {} : { auth: secretReferenceOf(auth) }),
                ...(tls === undefined ? {} : { tls: tlsOf(tls) }),
              },
            ]),
          ),
  })
}

/** In the form of registries.yaml. */
function tlsOf(tls: {
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  readonly insecureSkipVerify?: boolean | undefined
}): Readonly<Record<string, string | boolean>> {
  return defined<Readonly<Record<string, string | boolean>>>({
    ca_file: tls.caFile,
    cert_file: tls.certFile,
    key_file: tls.keyFile,
    insecure_skip_verify: tls.insecureSkipVerify,
  } as Record<string, string | boolean>)
}

function backupOf({ schedule, keep, to, drill }: NonNullable<ClusterFields['backup']>): BackupPolicy {
  const { directory, nfs, s3 } = to
  const target: BackupPolicy['to'] =
    directory !== undefined
      ? { directory }
      : nfs !== undefined
        ? { nfs }
        : {
            s3: defined<Extract<BackupPolicy['to'], { s3: unknown }>['s3']>({
              endpoint: s3?.endpoint ?? '',
              bucket: s3?.bucket ?? '',
              folder: s3?.folder,
              region: s3?.region,
              credentials: s3?.credentials === undefined ? undefined : secretReferenceOf(s3.credentials),
            }),
          }
  return defined<BackupPolicy>({
    schedule,
    keep,
    to: target,
    drill: drill === undefined ? undefined : { schedule: drill.schedule },
  })
}

function windowOf({ days, from, to, timeZone }: ClusterFields['upgrade']['windows'][number]): MaintenanceWindow {
  const minute = (text: string) => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))
  return defined<MaintenanceWindow>({
    days: days.map((day) => DAYS.indexOf(day)).sort((a, b) => a - b),
    fromMinute: minute(from),
    toMinute: minute(to),
    timeZone,
  })
}

function inOrder<Value>(map: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> {
  return Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)))
}
