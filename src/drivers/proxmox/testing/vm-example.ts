import { DEFAULT_POLICY, type Policy } from '../../../model/declaration.ts'
import type { Connection } from '../../../model/estate.ts'
import type { ObservedResource, Resource } from '../../../model/resource.ts'
import type { VmSpec } from '../../../model/vm.ts'
import { printDescription, readMark } from '../marks.ts'

/** Examples for tests. */
export const EXAMPLE_UID = '0123456789abcdef'

export const EXAMPLE_VM: VmSpec = { host: 'pve1', name: 'web-1', disks: [], nics: [] }

export const EXAMPLE_CONNECTION: Connection = {
  name: 'default',
  driver: 'proxmox',
  endpoint: 'https://pve:8006',
  token: { env: 'TOKEN' },
  estate: 'home',
  ids: { from: 100, to: 200 },
  limits: { perHost: 1, perStorage: 1, reads: 2 },
  origin: { file: 'a.yaml', line: 1, column: 1 },
}

export function exampleResource(vm: Partial<VmSpec> = {}, policy: Partial<Policy> = {}): Resource {
  return {
    key: 'EnvironmentVM/web-1',
    uid: EXAMPLE_UID,
    kind: 'EnvironmentVM',
    name: 'web-1',
    driver: 'proxmox',
    connection: 'default',
    estate: 'home',
    desired: { type: 'vm', vm: { ...EXAMPLE_VM, ...vm } },
    needs: [],
    policy: { ...DEFAULT_POLICY, ...policy },
    origin: { file: 'a.yaml', line: 1, column: 1 },
    generation: 'g1',
  }
}

/** A running guest of ours, with additional configuration. */
export function exampleObserved(
  config: Readonly<Record<string, unknown>> = {},
  more: Partial<ObservedResource> = {},
): ObservedResource {
  const written = { uid: EXAMPLE_UID, owner: 'EnvironmentVM/web-1', estate: 'home', deletion: 'Delete' as const }
  const all = {
    name: 'web-1',
    tags: `croft;croft-${EXAMPLE_UID}`,
    description: printDescription('', written, '114'),
    ...config,
  }
  const mark = readMark(all, '114')
  return {
    connection: 'default',
    type: 'vm',
    externalId: '114',
    host: 'pve1',
    name: 'web-1',
    ...(mark === undefined ? {} : { mark }),
    power: 'running',
    close: {
      digest: 'd1',
      atMs: 0,
      config: all,
    },
    ...more,
  }
}
