/** What everybody must know of a hypervisor, one row each. The kinds, the plan and the commands read this table. */
export interface HypervisorRow {
  /** The kind of its connections. */
  readonly kind: string
  readonly driver: string
  /** The block of a Machine with what only this hypervisor knows. */
  readonly field: string
  /** How many hosts one connection reaches. */
  readonly reaches: 'hosts' | 'host'
  /** Where the ids that croft may choose are declared. Without it croft chooses none. */
  readonly ids?: string
  /** What lets croft see every machine. */
  readonly visibility: string
  /** Does it put machines into pools that divide people? */
  readonly pools: boolean
  /** Where a seed goes when neither it nor a disk names a storage. */
  readonly seedStorage?: string
  /** How OpenTofu names its guests: the provider, its resource by type of guest, and whether an id begins with the host. */
  readonly tofu: {
    readonly provider: string
    readonly resources: Readonly<Record<string, string>>
    readonly hostInId: boolean
  }
}

export const HYPERVISORS = [
  {
    kind: 'Proxmox',
    driver: 'proxmox',
    field: 'proxmox',
    reaches: 'hosts',
    ids: 'spec.vmids',
    visibility: 'give the token VM.Audit on /vms (propagate)',
    pools: true,
    tofu: {
      provider: 'bpg/proxmox',
      resources: { vm: 'proxmox_virtual_environment_vm', container: 'proxmox_virtual_environment_container' },
      hostInId: true,
    },
  },
  {
    kind: 'Libvirt',
    driver: 'libvirt',
    field: 'libvirt',
    reaches: 'host',
    visibility: 'let the user of the connection see every domain',
    pools: false,
    seedStorage: 'default',
    tofu: { provider: 'dmacvicar/libvirt', resources: { vm: 'libvirt_domain' }, hostInId: false },
  },
] as const satisfies readonly HypervisorRow[]

export function hypervisorRow(driver: string): HypervisorRow | undefined {
  return HYPERVISORS.find((row) => row.driver === driver)
}

/** What would let croft see what it does not see now. */
export function visibilityOf(driver: string): string {
  return hypervisorRow(driver)?.visibility ?? 'let the connection see everything'
}
