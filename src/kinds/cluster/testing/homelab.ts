// A small homelab for tests: two hosts, a network with a pool, an image, a class, and the test's additions.

import type { Declaration } from '../../../model/declaration.ts'
import type { ClusterDeclaration } from '../../../model/estate.ts'
import type { VmSpec } from '../../../model/vm.ts'
import type { FieldProblem, Part } from '../../kind.ts'
import { declare, expand } from '../../machines/testing/fixture.ts'

const bindings = { networks: { lan: { bridge: 'vmbr0' } }, storages: { fast: 'local-zfs', files: 'local' } }

export const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGj1Zr3mQyv9dQm0yq0S3mX8w1vK5n2bJ7cT4uR6hLpA admin'

export function surroundings(more: { readonly network?: object; readonly worker?: object } = {}): Declaration[] {
  return [
    declare('Proxmox', 'default', { endpoint: 'https://127.0.0.1:8006', token: { env: 'T' } }),
    declare('Host', 'alpha', { bindings }),
    declare('Host', 'beta', { bindings: { ...bindings, networks: { lan: { bridge: 'vmbr25gbe' } } } }),
    declare('AddressPool', 'lan', { cidr: '10.0.0.0/16' }),
    declare('Network', 'lan', {
      addressPool: 'lan',
      gateway: '10.0.0.1',
      dns: { servers: ['10.0.0.1'], domain: 'home.arpa' },
      ...more.network,
    }),
    declare('Image', 'noble', { url: 'https://example.com/noble.qcow2', storage: 'files' }),
    declare('MachineClass', 'worker', {
      cpu: { cores: 2 },
      memory: '4Gi',
      disks: [{ size: '20Gi', image: 'noble', storage: 'fast' }],
      ...more.worker,
    }),
  ]
}

export const THREE = [
  { name: 's1', host: 'alpha' },
  { name: 's2', host: 'beta' },
  { name: 's3', host: 'alpha' },
]

/** Fields of a cluster that is valid among the surroundings. */
export function fields(more: object = {}): object {
  return {
    version: 'v1.34.3+k3s1',
    endpoint: { vip: '10.0.3.79' },
    network: 'lan',
    class: 'worker',
    servers: THREE,
    ...more,
  }
}

export interface Grown {
  readonly cluster: Omit<ClusterDeclaration, 'estate'>
  readonly parts: readonly Part[]
  readonly warnings: readonly FieldProblem[]
}

/** The cluster and its machines; fails with the problems when there are any. */
export function grow(spec: object, around = surroundings(), name = 'homelab'): Grown {
  const expanded = outcome(spec, around, name)
  if ('role' in expanded && expanded.role === 'cluster')
    return { cluster: expanded.cluster, parts: expanded.parts, warnings: expanded.warnings ?? [] }
  throw new Error(JSON.stringify(expanded))
}

export function outcome(spec: object, around = surroundings(), name = 'homelab') {
  const cluster = declare('Cluster', name, spec)
  return expand(cluster, [...around, cluster])
}

/** Returns the problems as `place: message`. */
export function complaints(spec: object, around = surroundings(), name = 'homelab'): readonly string[] {
  const expanded = outcome(spec, around, name)
  return 'problems' in expanded ? expanded.problems.map(({ path, message }) => `${path.join('.')}: ${message}`) : []
}

export function vmOf(parts: readonly Part[], name: string): VmSpec {
  const desired = parts.find(({ key }) => key === `Machine/${name}`)?.desired
  if (desired?.type !== 'vm') throw new Error(`there is no machine ${name}`)
  return desired.vm
}
