import type {
  ContainerCpu,
  ContainerDevice,
  ContainerFeatures,
  ContainerMount,
  ContainerNic,
  ContainerRootDisk,
  ContainerSpec,
} from '../../src/model/container.ts'
import type {
  VmAmdSev,
  VmAudio,
  VmCloudInit,
  VmCpu,
  VmDisk,
  VmDiskSpeed,
  VmEfiDisk,
  VmMemory,
  VmNic,
  VmNumaNode,
  VmPci,
  VmRng,
  VmSmbios,
  VmSpec,
  VmUsb,
  VmVirtiofs,
  VmWatchdog,
} from '../../src/model/vm.ts'

/** One field, changed once: its name in the table, and what is declared before and after. */
export interface FieldCase<Spec> {
  readonly field: string
  readonly from: Partial<Spec>
  readonly to: Partial<Spec>
}

/** Before and after of every field of a block. The compiler sees to it that none is missing. */
type Pairs<Block> = { readonly [Field in keyof Required<Block>]: readonly [Block[Field], Block[Field]] | 'place' }

/** `place` says where a device is; with another place it is another device. */
function changesOf<Block extends object>(
  pairs: Pairs<Block>,
  base: Block,
): readonly (readonly [string, Block, Block])[] {
  return Object.entries(pairs as Record<string, readonly [unknown, unknown] | 'place'>).flatMap(([field, pair]) => {
    if (pair === 'place') return []
    const [before, after] = pair
    return [[field, set(base, field, before), set(base, field, after)] as const]
  })
}

function set<Block extends object>(base: Block, field: string, value: unknown): Block {
  const { [field as keyof Block]: _, ...rest } = base
  return (value === undefined ? rest : { ...rest, [field]: value }) as Block
}

export const IMAGE = 'local:import/noble-server-cloudimg-amd64.qcow2'
export const TEMPLATE = 'local:vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
const SNIPPET = 'local:snippets/k3s-server-fun-bedbug.yaml'

const system: VmDisk = { slot: 'scsi0', storage: 'local', sizeGb: 20, importFrom: IMAGE }
/** A disk that holds data. */
const data: VmDisk = { slot: 'scsi1', storage: 'local-zfs', sizeGb: 5 }
const card: VmNic = { slot: 'net0', bridge: 'vmbr0', model: 'virtio' }

export const VM: VmSpec = {
  host: 'fun-bedbug',
  vmid: 114,
  name: 'f39',
  power: 'running',
  disks: [system, data],
  nics: [card],
  agent: { enabled: true },
}

const cpu: Pairs<VmCpu> = {
  cores: [2, 4],
  sockets: [1, 2],
  type: ['host', 'x86-64-v2-AES'],
  flags: [['+aes'], ['+aes', '-pcid']],
  units: [200, 300],
  limit: [1, 2],
  numa: [false, true],
  hotplugged: [1, 2],
  affinity: [undefined, '0-1'],
  architecture: ['x86_64', 'aarch64'],
}
const memory: Pairs<VmMemory> = {
  dedicatedMb: [2048, 3072],
  floatingMb: [512, 1024],
  shared: [undefined, 32],
  shares: [1000, 2000],
  hugepages: [undefined, '2'],
  keepHugepages: [false, true],
}
const speed: Pairs<VmDiskSpeed> = {
  read: [100, 200],
  readBurst: [300, 400],
  write: [100, 200],
  writeBurst: [300, 400],
  iopsRead: [100, 200],
  iopsReadBurst: [300, 400],
  iopsWrite: [100, 200],
  iopsWriteBurst: [300, 400],
}
const disk: Pairs<Omit<VmDisk, 'speed'>> = {
  slot: 'place',
  storage: ['local-zfs', 'local'],
  sizeGb: [5, 8],
  importFrom: [undefined, IMAGE],
  // libvirt's alone.
  backing: 'place',
  format: 'place',
  cache: ['none', 'writeback'],
  aio: ['io_uring', 'threads'],
  iothread: [false, true],
  ssd: [false, true],
  discard: ['ignore', 'on'],
  backup: [true, false],
  replicate: [true, false],
  serial: ['A1', 'B2'],
  queues: [2, 4],
}
const nic: Pairs<VmNic> = {
  slot: 'place',
  bridge: ['vmbr0', 'vmbr1'],
  model: ['virtio', 'e1000'],
  mac: ['BC:24:11:00:00:01', 'BC:24:11:00:00:02'],
  vlan: [10, 20],
  trunks: [[10], [10, 20]],
  firewall: [false, true],
  disconnected: [false, true],
  mtu: [1400, 1500],
  queues: [1, 2],
  rateMBps: [10, 20],
}
const efiDisk: Pairs<VmEfiDisk> = {
  storage: ['local-zfs', 'local'],
  type: ['2m', '4m'],
  preEnrolledKeys: [false, true],
  format: ['raw', 'qcow2'],
}
const tpm: Pairs<NonNullable<VmSpec['tpm']>> = { storage: ['local-zfs', 'local'], version: ['v1.2', 'v2.0'] }
const cloudInit: Pairs<VmCloudInit> = {
  storage: ['local', 'local-zfs'],
  slot: ['ide2', 'ide0'],
  format: ['qcow2', 'raw'],
  type: ['nocloud', 'configdrive2'],
  user: ['ubuntu', 'ops'],
  password: [{ env: 'A' }, { env: 'B' }],
  sshKeys: [[], ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQ3Vb0m1G8U0M5k9m7bVbqkqzJ4cZ4l2F0pZ8Xx+2/b u@h']],
  addresses: [[{ v4: 'dhcp' }], [{ v4: '10.0.0.5/24', gateway4: '10.0.0.1' }]],
  dnsServers: [['1.1.1.1'], ['9.9.9.9']],
  dnsDomain: ['a.test', 'b.test'],
  upgrade: [true, false],
  userData: [undefined, SNIPPET],
  networkData: [undefined, SNIPPET],
  metaData: [undefined, SNIPPET],
  vendorData: [undefined, SNIPPET],
}
const audio: Pairs<VmAudio> = { device: ['intel-hda', 'AC97'], driver: ['spice', 'none'] }
const rng: Pairs<VmRng> = { source: ['/dev/urandom', '/dev/random'], maxBytes: [512, 1024], periodMs: [500, 1000] }
const watchdog: Pairs<VmWatchdog> = { model: ['i6300esb', 'ib700'], action: ['reset', 'poweroff'] }
const smbios: Pairs<VmSmbios> = {
  uuid: ['11111111-2222-3333-4444-555555555555', '11111111-2222-3333-4444-555555555556'],
  manufacturer: ['ACME Inc', 'Other'],
  product: ['A', 'B'],
  version: ['1', '2'],
  serial: ['1', '2'],
  sku: ['1', '2'],
  family: ['A', 'B'],
}
const numaNode: Pairs<VmNumaNode> = {
  slot: 'place',
  cpus: ['0', '0-1'],
  memoryMb: [1024, 2048],
  hostNodes: ['0', '0-1'],
  policy: ['preferred', 'bind'],
}
const usb: Pairs<VmUsb> = {
  slot: 'place',
  mapping: ['coral', 'stick'],
  device: [undefined, '1234:5678'],
  usb3: [false, true],
}
const pci: Pairs<VmPci> = {
  slot: 'place',
  mapping: ['gpu', 'gpu2'],
  device: [undefined, '0000:01:00.0'],
  mdev: ['nvidia-63', 'nvidia-64'],
  pcie: [false, true],
  romBar: [true, false],
  romFile: ['a.rom', 'b.rom'],
  primaryGpu: [false, true],
}
const virtiofs: Pairs<VmVirtiofs> = {
  slot: 'place',
  mapping: ['share', 'share2'],
  cache: ['auto', 'never'],
  directIo: [false, true],
  exposeAcl: [false, true],
  exposeXattr: [false, true],
}
const amdSev: Pairs<VmAmdSev> = {
  type: ['std', 'es'],
  allowSmt: [true, false],
  kernelHashes: [false, true],
  noDebug: [false, true],
  noKeySharing: [false, true],
}
const startup: Pairs<NonNullable<VmSpec['startup']>> = { order: [1, 2], upSeconds: [10, 20], downSeconds: [10, 20] }
const agent: Pairs<NonNullable<VmSpec['agent']>> = {
  enabled: [true, false],
  trim: [false, true],
  type: ['virtio', 'isa'],
}
const vga: Pairs<NonNullable<VmSpec['vga']>> = {
  type: ['std', 'virtio'],
  memoryMb: [16, 32],
  clipboard: [undefined, 'vnc'],
}

/** Blocks of a VM, by the field they stand in: how a changed one is put into the declaration. */
const VM_BLOCKS: {
  readonly [Field in keyof Required<VmSpec>]: readonly FieldCase<VmSpec>[] | 'tested elsewhere'
} = {
  host: [{ field: 'host', from: {}, to: { host: 'still-fawn' } }],
  // Of no declaration, as with VMs.
  moveHere: 'tested elsewhere',
  vmid: [{ field: 'vmid', from: {}, to: { vmid: 115 } }],
  name: [{ field: 'name', from: {}, to: { name: 'other' } }],
  power: [{ field: 'power', from: {}, to: { power: 'stopped' } }],
  restart: [{ field: 'restart', from: {}, to: { restart: 'never' } }],
  clone: [{ field: 'clone', from: {}, to: { clone: { vmid: 108, full: true } } }],
  seed: 'tested elsewhere',
  // libvirt's alone.
  emulated: 'tested elsewhere',
  template: [{ field: 'template', from: {}, to: { template: true } }],
  onBoot: [{ field: 'onBoot', from: { onBoot: false }, to: { onBoot: true } }],
  startup: inBlock('startup', startup, { order: 1 }, (startup) => ({ startup })),
  protection: [{ field: 'protection', from: { protection: false }, to: { protection: true } }],
  pool: [{ field: 'pool', from: { pool: 'web' }, to: { pool: 'db' } }],
  tags: [{ field: 'tags', from: { tags: ['a'] }, to: { tags: ['a', 'b'] } }],
  description: [{ field: 'description', from: { description: 'a' }, to: { description: 'b' } }],
  cpu: inBlock('cpu', cpu, { cores: 2, type: 'host' }, (cpu) => ({ cpu })),
  memory: inBlock('memory', memory, { dedicatedMb: 2048 }, (memory) => ({ memory })),
  machine: [{ field: 'machine', from: { machine: 'pc' }, to: { machine: 'q35' } }],
  bios: [{ field: 'bios', from: { bios: 'seabios' }, to: { bios: 'ovmf' } }],
  osType: [{ field: 'osType', from: { osType: 'l26' }, to: { osType: 'other' } }],
  scsiHardware: [
    {
      field: 'scsiHardware',
      from: { scsiHardware: 'virtio-scsi-pci' },
      to: { scsiHardware: 'virtio-scsi-single' },
    },
  ],
  acpi: [{ field: 'acpi', from: { acpi: true }, to: { acpi: false } }],
  hotplug: [{ field: 'hotplug', from: {}, to: { hotplug: 'disk,network,usb,memory' } }],
  tablet: [{ field: 'tablet', from: { tablet: true }, to: { tablet: false } }],
  keyboard: [{ field: 'keyboard', from: { keyboard: 'de' }, to: { keyboard: 'fr' } }],
  disks: [
    ...inBlock<VmSpec, Omit<VmDisk, 'speed'>>('disks[]', disk, data, (one) => ({ disks: [system, one] })),
    ...inBlock('disks[].speed', speed, {}, (limits) => ({ disks: [system, { ...data, speed: limits }] })),
    {
      field: 'disks[].format',
      from: { disks: [system, { ...data, storage: 'local', format: 'raw' }] },
      to: { disks: [system, { ...data, storage: 'local', format: 'qcow2' }] },
    },
    { field: 'disks[] (another one)', from: {}, to: { disks: [system, data, { ...data, slot: 'scsi2' }] } },
    { field: 'disks[] (one less)', from: {}, to: { disks: [system] } },
    { field: 'disks[].sizeGb (smaller)', from: {}, to: { disks: [system, { ...data, sizeGb: 3 }] } },
  ],
  efiDisk: [
    ...inBlock('efiDisk', efiDisk, { storage: 'local' }, (efiDisk) => ({ efiDisk })),
    { field: 'efiDisk', from: {}, to: { efiDisk: { storage: 'local' } } },
  ],
  tpm: [
    ...inBlock('tpm', tpm, { storage: 'local' }, (tpm) => ({ tpm })),
    { field: 'tpm', from: {}, to: { tpm: { storage: 'local' } } },
  ],
  cdrom: [
    {
      field: 'cdrom[].file',
      from: { cdrom: [{ slot: 'ide3', file: 'none' }] },
      to: { cdrom: [{ slot: 'ide3', file: 'cdrom' }] },
    },
    { field: 'cdrom[]', from: {}, to: { cdrom: [{ slot: 'ide3', file: 'none' }] } },
  ],
  nics: [
    ...inBlock('nics[]', nic, card, (one) => ({ nics: [one] })),
    { field: 'nics[] (another one)', from: {}, to: { nics: [card, { ...card, slot: 'net1' }] } },
    { field: 'nics[] (one less)', from: {}, to: { nics: [] } },
  ],
  cloudInit: inBlock('cloudInit', cloudInit, { storage: 'local', slot: 'ide2', user: 'ubuntu' }, (cloudInit) => ({
    cloudInit,
  })),
  agent: inBlock('agent', agent, { enabled: true }, (agent) => ({ agent })),
  serial: [
    { field: 'serial[]', from: {}, to: { serial: [{ slot: 'serial0', device: 'socket' }] } },
    {
      field: 'serial[].device',
      from: { serial: [{ slot: 'serial0', device: 'socket' }] },
      to: { serial: [{ slot: 'serial0', device: '/dev/ttyS0' }] },
    },
  ],
  vga: inBlock('vga', vga, { type: 'std' }, (vga) => ({ vga })),
  audio: [
    ...inBlock('audio', audio, { device: 'intel-hda' }, (audio) => ({ audio })),
    { field: 'audio', from: { audio: { device: 'AC97' } }, to: { audio: false } },
  ],
  rng: inBlock('rng', rng, { source: '/dev/urandom' }, (rng) => ({ rng })),
  watchdog: inBlock('watchdog', watchdog, { model: 'i6300esb' }, (watchdog) => ({ watchdog })),
  smbios: inBlock('smbios', smbios, {}, (smbios) => ({ smbios })),
  numaNodes: inBlock('numaNodes[]', numaNode, { slot: 'numa0', cpus: '0' }, (one) => ({ numaNodes: [one] })),
  usb: inBlock('usb[]', usb, { slot: 'usb0', mapping: 'coral' }, (one) => ({ usb: [one] })),
  pci: inBlock('pci[]', pci, { slot: 'hostpci0', mapping: 'gpu' }, (one) => ({ pci: [one] })),
  virtiofs: inBlock('virtiofs[]', virtiofs, { slot: 'virtiofs0', mapping: 'share' }, (one) => ({ virtiofs: [one] })),
  amdSev: inBlock('amdSev', amdSev, { type: 'std' }, (amdSev) => ({ amdSev }), 'from nothing'),
  hookScript: [{ field: 'hookScript', from: {}, to: { hookScript: SNIPPET } }],
  bootOrder: [{ field: 'bootOrder', from: { bootOrder: ['scsi0'] }, to: { bootOrder: ['scsi0', 'net0'] } }],
}

const root: ContainerRootDisk = { storage: 'local-zfs', sizeGb: 4 }
const mounted: ContainerMount = { slot: 'mp0', path: '/data', storage: 'local-zfs', sizeGb: 5 }
const eth0: ContainerNic = { slot: 'net0', name: 'eth0', bridge: 'vmbr0', v4: 'dhcp' }

export const CONTAINER: ContainerSpec = {
  host: 'fun-bedbug',
  vmid: 214,
  name: 'f39',
  power: 'running',
  image: TEMPLATE,
  unprivileged: true,
  rootDisk: root,
  mounts: [mounted],
  nics: [eth0],
}

const containerCpu: Pairs<ContainerCpu> = {
  cores: [1, 2],
  limit: [1, 2],
  units: [200, 300],
  architecture: ['amd64', 'arm64'],
}
const rootDisk: Pairs<ContainerRootDisk> = {
  storage: ['local-zfs', 'local'],
  sizeGb: [4, 6],
  acl: [false, true],
  quota: [false, true],
  replicate: [true, false],
  mountOptions: [['noatime'], ['noatime', 'nodev']],
}
const mount: Pairs<ContainerMount> = {
  slot: 'place',
  path: ['/data', '/srv'],
  storage: ['local-zfs', 'local'],
  sizeGb: [5, 8],
  source: [undefined, '/srv/data'],
  backup: [false, true],
  readOnly: [false, true],
  shared: [false, true],
  acl: [false, true],
  quota: [false, true],
  replicate: [true, false],
  mountOptions: [['noatime'], ['noatime', 'nodev']],
}
const containerNic: Pairs<ContainerNic> = {
  slot: 'place',
  name: ['eth0', 'lan0'],
  bridge: ['vmbr0', 'vmbr1'],
  mac: ['BC:24:11:00:00:01', 'BC:24:11:00:00:02'],
  vlan: [10, 20],
  firewall: [false, true],
  disconnected: [false, true],
  mtu: [1400, 1500],
  rateMBps: [10, 20],
  hostManaged: [false, true],
  v4: ['dhcp', '10.0.0.9/24'],
  gateway4: [undefined, '10.0.0.1'],
  v6: ['auto', 'dhcp'],
  gateway6: [undefined, 'fd00::1'],
}
const features: Pairs<ContainerFeatures> = {
  nesting: [false, true],
  keyctl: [false, true],
  fuse: [false, true],
  mknod: [false, true],
  mount: [undefined, ['nfs']],
}
const device: Pairs<ContainerDevice> = {
  slot: 'place',
  path: [undefined as never, '/dev/kvm'],
  mode: [undefined, '0660'],
  uid: [undefined, 5],
  gid: [undefined, 5],
  denyWrite: [undefined, true],
}
const consoleBlock: Pairs<NonNullable<ContainerSpec['console']>> = {
  enabled: [true, false],
  ttys: [2, 4],
  mode: ['tty', 'shell'],
}

const CONTAINER_BLOCKS: { readonly [Field in keyof Required<ContainerSpec>]: readonly FieldCase<ContainerSpec>[] } = {
  host: [{ field: 'host', from: {}, to: { host: 'still-fawn' } }],
  // Of no declaration, as with VMs.
  moveHere: [],
  vmid: [{ field: 'vmid', from: {}, to: { vmid: 215 } }],
  name: [{ field: 'name', from: {}, to: { name: 'other' } }],
  power: [{ field: 'power', from: {}, to: { power: 'stopped' } }],
  restart: [{ field: 'restart', from: {}, to: { restart: 'never' } }],
  template: [{ field: 'template', from: {}, to: { template: true } }],
  onBoot: [{ field: 'onBoot', from: { onBoot: false }, to: { onBoot: true } }],
  startup: inBlock('startup', startup, { order: 1 }, (startup) => ({ startup })),
  protection: [{ field: 'protection', from: { protection: false }, to: { protection: true } }],
  pool: [{ field: 'pool', from: { pool: 'web' }, to: { pool: 'db' } }],
  tags: [{ field: 'tags', from: { tags: ['a'] }, to: { tags: ['a', 'b'] } }],
  description: [{ field: 'description', from: { description: 'a' }, to: { description: 'b' } }],
  image: [{ field: 'image', from: {}, to: { image: 'local:vztmpl/other.tar.zst' } }],
  osType: [{ field: 'osType', from: { osType: 'debian' }, to: { osType: 'unmanaged' } }],
  unprivileged: [{ field: 'unprivileged', from: {}, to: { unprivileged: false } }],
  cpu: inBlock('cpu', containerCpu, { cores: 1 }, (cpu) => ({ cpu })),
  memory: inBlock<ContainerSpec, NonNullable<ContainerSpec['memory']>>(
    'memory',
    { dedicatedMb: [512, 1024], swapMb: [0, 512] },
    { dedicatedMb: 512 },
    (memory) => ({ memory }),
  ),
  rootDisk: [
    ...inBlock('rootDisk', rootDisk, root, (rootDisk) => ({ rootDisk })),
    { field: 'rootDisk.sizeGb (smaller)', from: {}, to: { rootDisk: { ...root, sizeGb: 2 } } },
  ],
  mounts: [
    ...inBlock('mounts[]', mount, mounted, (one) => ({ mounts: [one] })),
    { field: 'mounts[] (another one)', from: {}, to: { mounts: [mounted, { ...mounted, slot: 'mp1', path: '/b' }] } },
    { field: 'mounts[] (one less)', from: {}, to: { mounts: [] } },
  ],
  nics: [
    ...inBlock('nics[]', containerNic, eth0, (one) => ({ nics: [one] })),
    { field: 'nics[] (another one)', from: {}, to: { nics: [eth0, { ...eth0, slot: 'net1', name: 'eth1' }] } },
    { field: 'nics[] (one less)', from: {}, to: { nics: [] } },
  ],
  dns: inBlock<ContainerSpec, NonNullable<ContainerSpec['dns']>>(
    'dns',
    { servers: [['1.1.1.1'], ['9.9.9.9']], domain: ['a.test', 'b.test'] },
    {},
    (dns) => ({ dns }),
  ),
  features: inBlock('features', features, {}, (features) => ({ features })),
  devices: inBlock(
    'devices[]',
    device,
    { slot: 'dev0', path: '/dev/null' },
    (one) => ({ devices: [one] }),
    'from nothing',
  ),
  console: inBlock('console', consoleBlock, {}, (console) => ({ console })),
  entrypoint: [{ field: 'entrypoint', from: {}, to: { entrypoint: '/sbin/other' } }],
  environment: [{ field: 'environment', from: { environment: { A: '1' } }, to: { environment: { A: '2' } } }],
  hookScript: [{ field: 'hookScript', from: {}, to: { hookScript: SNIPPET } }],
  sshKeys: [
    {
      field: 'sshKeys',
      from: {},
      to: { sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHQ3Vb0m1G8U0M5k9m7bVbqkqzJ4cZ4l2F0pZ8Xx+2/b u@h'] },
    },
  ],
  password: [{ field: 'password', from: {}, to: { password: { env: 'A' } } }],
}

export const VM_CASES: readonly FieldCase<VmSpec>[] = Object.values(VM_BLOCKS).flatMap((cases) =>
  cases === 'tested elsewhere' ? [] : cases,
)
export const CONTAINER_CASES: readonly FieldCase<ContainerSpec>[] = Object.values(CONTAINER_BLOCKS).flat()

/** `from nothing`: what a token may not set cannot be there before either. */
function inBlock<Spec, Block extends object>(
  name: string,
  pairs: Pairs<Block>,
  base: Block,
  put: (block: Block) => Partial<Spec>,
  before: 'a block' | 'from nothing' = 'a block',
): readonly FieldCase<Spec>[] {
  return changesOf(pairs, base).map(([field, from, to]) => ({
    field: `${name}.${field}`,
    from: before === 'a block' ? put(from) : {},
    to: put(to),
  }))
}
