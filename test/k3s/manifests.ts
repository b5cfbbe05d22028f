import type { K3sHost } from './hosts.ts'
import { IMAGE } from './image.ts'

/** What the lane's directory says at one moment. */
export interface Declared {
  readonly version: string
  readonly servers: readonly string[]
  readonly agents: readonly string[]
  readonly hosts: readonly K3sHost[]
  readonly key: string
  readonly mirror: string
  readonly serverFlags?: Readonly<Record<string, unknown>> | undefined
  readonly endpoint?: Readonly<Record<string, string>> | undefined
  readonly power?: boolean
  /** Further fields of the Cluster, or others than the lane's own. */
  readonly more?: Readonly<Record<string, unknown>>
}

/** Flags for a K3s whose host is a container, with files above files and settings that cannot be written. */
export const CONTAINER_FLAGS = {
  snapshotter: 'native',
  'pause-image': IMAGE,
  'kubelet-arg': ['fail-cgroupv1=false'],
  'kube-proxy-arg': [
    'conntrack-max-per-core=0',
    'conntrack-tcp-timeout-established=0s',
    'conntrack-tcp-timeout-close-wait=0s',
  ],
}

/** As JSON, which is YAML: one document for each object. */
export function manifests(declared: Declared): string {
  const { servers, agents, version } = declared
  const hosts = declared.hosts.map(({ name, address, mac, hostKey }) => ({
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Host',
    metadata: { name },
    spec: {
      ssh: { address, hostKeys: [hostKey], key: { file: declared.key } },
      wake: { mac, broadcast: '10.78.0.255' },
    },
  }))
  const cluster = {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'lab' },
    spec: {
      version,
      endpoint: declared.endpoint ?? { server: servers[0] },
      servers: servers.map((name) => ({ machine: `Host/${name}` })),
      ...(agents.length === 0 ? {} : { agents: agents.map((name) => ({ machine: `Host/${name}` })) }),
      flannelBackend: 'host-gw',
      disable: ['traefik', 'servicelb', 'metrics-server', 'local-storage', 'coredns'],
      secretsEncryption: true,
      artifacts: [{ mirror: declared.mirror }],
      nodeFlags: CONTAINER_FLAGS,
      ...(declared.serverFlags === undefined ? {} : { serverFlags: declared.serverFlags }),
      upgrade: { soak: '5s', drain: { timeout: '1m', onTimeout: 'force' } },
      ...declared.more,
    },
  }
  const power = {
    apiVersion: 'croft.dev/v1alpha1',
    kind: 'Power',
    metadata: { name: 'site' },
    spec: { cluster: 'lab', hosts: [...servers, ...agents].map((name) => ({ name })), holds: { people: false } },
  }
  const all = [...hosts, cluster, ...(declared.power === true ? [power] : [])]
  return all.map((one) => `${JSON.stringify(one, undefined, 2)}\n`).join('---\n')
}
