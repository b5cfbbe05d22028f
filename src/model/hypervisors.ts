/** The facts about a hypervisor that all parts need. The kinds, the plan and the commands read this table. */
export interface HypervisorRow {
  /** The kind of its connections. */
  readonly kind: string
  readonly driver: string
  /** The block of a Machine with this hypervisor's own fields. */
  readonly field: string
  /** Whether one connection reaches one host or several. */
  readonly reaches: 'hosts' | 'host'
  /** The place that declares the ids for croft's choice. Absent: croft chooses none. */
  readonly ids?: string
  /** The permission that lets croft see every machine. */
  readonly visibility: string
  /** Whether its machines are in pools that separate tenants. */
  readonly pools: boolean
  /** The storage of a seed if neither the seed nor a disk names one. */
  readonly seedStorage?: string
  /** OpenTofu's names for its guests: provider, resource by type of guest, whether an id starts with the host. */
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

/** Returns the permission that would let croft see everything. */
export function visibilityOf(driver: string): string {
  return hypervisorRow(driver)?.visibility ?? 'let the connection see everything'
}
