import type { Foreign } from '../../kubernetes/objects.ts'

export const FINALIZER = 'finalizer.managedresource.crossplane.io'

/** Group, version, plural, kind and scope of what the operator reads in the simulated cluster. */
export const PROVIDER_KINDS = [
  ['virtualenvironmentvm.proxmoxbpg.crossplane.io', 'v1alpha1', 'environmentvms', 'EnvironmentVM', 'Cluster'],
  [
    'virtualenvironmentdownloadfile.proxmoxbpg.crossplane.io',
    'v1alpha1',
    'environmentdownloadfiles',
    'EnvironmentDownloadFile',
    'Cluster',
  ],
  ['proxmoxbpg.crossplane.io', 'v1beta1', 'providerconfigs', 'ProviderConfig', 'Cluster'],
  ['croft.dev', 'v1alpha1', 'approvals', 'Approval', 'Namespaced'],
  ['croft.dev', 'v1alpha1', 'proxmoxpools', 'ProxmoxPool', 'Namespaced'],
] as const

export interface ProviderVm {
  readonly vmid: number
  readonly node: string
  readonly name: string
  readonly mac: string
  /** A registered address of cloud-init; the provider calls it initialization. */
  readonly seeded: boolean
}

/** Several machines on these hosts, every second one with cloud-init. */
export function providerVms(count: number, nodes: readonly string[], from = 2001): readonly ProviderVm[] {
  return Array.from({ length: count }, (_, index) => ({
    vmid: from + index,
    node: nodes[index % nodes.length] ?? '',
    name: `node-${from + index}`,
    mac: `BC:24:11:76:${hex(index >> 8)}:${hex(index & 255)}`,
    seeded: index % 2 === 0,
  }))
}

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0').toUpperCase()
}

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIL1ggUn7FpmqK8fLek8kx7T9VhPqLaTwxRQ3pohKi45R a'

/** The configuration that provider 0.80.0 leaves on Proxmox for a machine of a few lines, as seen on the simulator. */
export function providerConfigOf({ vmid, name, mac, seeded }: ProviderVm): Record<string, string> {
  return {
    acpi: '1',
    agent: 'enabled=0,fstrim_cloned_disks=0,type=virtio',
    balloon: '0',
    bios: 'seabios',
    boot: 'order=scsi0;net0',
    cores: '2',
    cpu: 'cputype=qemu64',
    cpuunits: '1024',
    description: 'made by Crossplane',
    keyboard: 'en-us',
    memory: '2048',
    name,
    net0: `virtio=${mac},bridge=vmbr0,firewall=0`,
    numa: '0',
    onboot: '1',
    ostype: 'other',
    protection: '0',
    scsi0: `local-zfs:vm-${vmid}-disk-0,aio=io_uring,backup=1,cache=none,discard=ignore,iothread=0,replicate=1,size=10G,ssd=0`,
    scsihw: 'virtio-scsi-pci',
    sockets: '1',
    tablet: '1',
    tags: 'k3s',
    template: '0',
    smbios1: `uuid=b66ead57-f3de-43e2-ae90-${vmid.toString(16).padStart(12, '0')}`,
    vmgenid: `dafeaa23-5f4e-405f-a329-${vmid.toString(16).padStart(12, '0')}`,
    meta: 'creation-qemu=10.0.13,ctime=1794818257',
    ...(seeded
      ? {
          ciuser: 'ubuntu',
          ide2: `local-zfs:vm-${vmid}-cloudinit,media=cdrom`,
          ipconfig0: 'ip=dhcp',
          sshkeys: encodeURIComponent(KEY),
        }
      : {}),
  }
}

/** All fields of the provider's state: Crossplane writes the undeclared ones into `forProvider`. */
function stateOf({ vmid, node, name, mac, seeded }: ProviderVm): Foreign {
  return {
    acpi: true,
    bios: 'seabios',
    cpu: [
      {
        affinity: '',
        architecture: '',
        cores: 2,
        hotplugged: 0,
        limit: 0,
        numa: false,
        sockets: 1,
        type: 'qemu64',
        units: 1024,
      },
    ],
    description: 'made by Crossplane',
    disk: [
      {
        aio: 'io_uring',
        backup: true,
        cache: 'none',
        datastoreId: 'local-zfs',
        discard: 'ignore',
        fileFormat: 'raw',
        fileId: '',
        importFrom: '',
        interface: 'scsi0',
        iothread: false,
        pathInDatastore: `vm-${vmid}-disk-0`,
        replicate: true,
        serial: '',
        size: 10,
        ssd: false,
      },
    ],
    ...(seeded
      ? {
          initialization: [
            {
              datastoreId: 'local-zfs',
              interface: 'ide2',
              ipConfig: [{ ipv4: [{ address: 'dhcp', gateway: '' }] }],
              metaDataFileId: '',
              networkDataFileId: '',
              type: '',
              userAccount: [{ keys: [KEY], username: 'ubuntu' }],
              userDataFileId: '',
              vendorDataFileId: '',
            },
          ],
        }
      : {}),
    keyboardLayout: 'en-us',
    kvmArguments: '',
    macAddresses: [mac],
    machine: '',
    memory: [{ dedicated: 2048, floating: 0, hugepages: '', keepHugepages: false, shared: 0 }],
    migrate: false,
    name,
    networkDevice: [
      {
        bridge: 'vmbr0',
        disconnected: false,
        enabled: true,
        firewall: false,
        macAddress: mac,
        model: 'virtio',
        mtu: 0,
        queues: 0,
        rateLimit: 0,
        trunks: '',
        vlanId: 0,
      },
    ],
    nodeName: node,
    onBoot: true,
    protection: false,
    reboot: false,
    rebootAfterUpdate: true,
    scsiHardware: 'virtio-scsi-pci',
    started: true,
    stopOnDestroy: false,
    tabletDevice: true,
    tags: ['k3s'],
    template: false,
    timeoutClone: 1800,
    timeoutCreate: 1800,
    timeoutMigrate: 1800,
    timeoutMoveDisk: 1800,
    timeoutReboot: 1800,
    timeoutShutdownVm: 1800,
    timeoutStartVm: 1800,
    timeoutStopVm: 300,
    vmId: vmid,
  }
}

/** An object as Crossplane and its provider leave it behind: late-initialised, with finalizer and external name. */
export function madeByCrossplane(vm: ProviderVm): Foreign {
  return {
    apiVersion: 'virtualenvironmentvm.proxmoxbpg.crossplane.io/v1alpha1',
    kind: 'EnvironmentVM',
    metadata: {
      name: vm.name,
      annotations: {
        'crossplane.io/external-name': `${vm.vmid}`,
        'crossplane.io/external-create-pending': '2026-10-01T10:00:00Z',
        'crossplane.io/external-create-succeeded': '2026-10-01T10:00:09Z',
        'kubectl.kubernetes.io/last-applied-configuration': '{"kind":"EnvironmentVM"}',
        'upjet.crossplane.io/provider-meta': '{"schema_version":"0"}',
      },
      finalizers: [FINALIZER],
    },
    spec: {
      deletionPolicy: 'Delete',
      managementPolicies: ['*'],
      providerConfigRef: { name: 'default' },
      initProvider: {},
      forProvider: stateOf(vm),
    },
  }
}

/** Returns its status. */
export function statusByCrossplane(vm: ProviderVm): Foreign {
  const conditions = [
    { type: 'LastAsyncOperation', status: 'True', reason: 'Success', lastTransitionTime: '2026-10-01T10:00:30Z' },
    { type: 'Synced', status: 'True', reason: 'ReconcileSuccess', lastTransitionTime: '2026-10-01T10:00:09Z' },
    { type: 'Ready', status: 'True', reason: 'Available', lastTransitionTime: '2026-10-01T10:00:30Z' },
  ]
  return { atProvider: { ...stateOf(vm), id: `${vm.vmid}`, ipv4Addresses: [] }, conditions }
}
