import { defined } from '../../lib/defined.ts'
import type {
  VmAmdSev,
  VmClone,
  VmCloudInit,
  VmCpu,
  VmDisk,
  VmDiskSpeed,
  VmMemory,
  VmNic,
  VmNumaNode,
  VmPci,
  VmSpec,
  VmUsb,
  VmVirtiofs,
} from '../../model/vm.ts'
import { guestBasics } from './guest-fields.ts'
import type { VmFields } from './vm-schema.ts'

type DiskBlock = NonNullable<VmFields['disk']>[number]
type NetworkDevice = NonNullable<VmFields['networkDevice']>[number]
type Initialization = NonNullable<VmFields['initialization']>

/** The provider's own defaults, for what a VM cannot be made without. */
const DATASTORE = 'local-lvm'
const BRIDGE = 'vmbr0'
const NIC_MODEL = 'virtio'
const DISK_GB = 8
const CDROM_SLOT = 'ide3'
const CLOUD_INIT_SLOT = 'ide2'

/**
 * Converts the provider's fields to a VM. Undeclared fields are left out, so that they are not compared: the provider's
 * defaults apply only where Proxmox needs a value for creation, and never to an adopted VM.
 */
export function vmSpec(fields: VmFields, host: string, name: string, adopted: boolean): VmSpec {
  const own = defined<VmSpec>({
    host,
    name: fields.name ?? name,
    onBoot: fields.onBoot,
    cpu: fields.cpu && defined<VmCpu>(fields.cpu),
    memory: fields.memory && memory(fields.memory),
    machine: fields.machine,
    bios: fields.bios,
    scsiHardware: fields.scsiHardware,
    tablet: fields.tabletDevice,
    keyboard: fields.keyboardLayout,
    // A copy has the disks that it was copied with.
    disks: (fields.disk ?? []).map((disk) => vmDisk(disk, adopted || fields.clone !== undefined)),
    efiDisk:
      fields.efiDisk &&
      defined({
        storage: fields.efiDisk.datastoreId ?? DATASTORE,
        type: fields.efiDisk.type,
        preEnrolledKeys: fields.efiDisk.preEnrolledKeys,
        format: fields.efiDisk.fileFormat,
      }),
    tpm:
      fields.tpmState &&
      defined({ storage: fields.tpmState.datastoreId ?? DATASTORE, version: fields.tpmState.version }),
    cdrom: fields.cdrom
      ?.filter((drive) => drive.enabled !== false)
      .map((drive) => ({ slot: drive.interface ?? CDROM_SLOT, file: drive.fileId ?? 'cdrom' })),
    nics: (fields.networkDevice ?? []).flatMap((nic, index) => (nic.enabled === false ? [] : [vmNic(nic, index)])),
    cloudInit: fields.initialization && cloudInit(fields.initialization),
    agent:
      fields.agent &&
      defined({ enabled: fields.agent.enabled ?? false, trim: fields.agent.trim, type: fields.agent.type }),
    serial: fields.serialDevice?.map((port, index) => ({ slot: `serial${index}`, device: port.device ?? 'socket' })),
    vga: fields.vga && defined({ type: fields.vga.type, memoryMb: fields.vga.memory, clipboard: fields.vga.clipboard }),
    bootOrder: fields.bootOrder,
  })
  // To spread objects behind each other takes V8 several times as long, and this is done for each machine.
  return Object.assign(own, guestBasics(fields), defined<Devices>(vmDevices(fields)))
}

function memory({ dedicated, floating, ...rest }: NonNullable<VmFields['memory']>): VmMemory {
  return defined<VmMemory>({ dedicatedMb: dedicated, floatingMb: floating, ...rest })
}

function vmDisk(fields: DiskBlock, adopted: boolean): VmDisk {
  const { interface: slot, datastoreId, size, fileId, fileFormat, pathInDatastore: _path, speed, ...rest } = fields
  const importFrom = fields.importFrom ?? fileId
  return defined<VmDisk>({
    ...rest,
    slot,
    storage: datastoreId ?? DATASTORE,
    sizeGb: size ?? (importFrom === undefined && !adopted ? DISK_GB : undefined),
    importFrom,
    format: fileFormat,
    speed: speed && diskSpeed(speed),
  })
}

function diskSpeed(fields: NonNullable<DiskBlock['speed']>): VmDiskSpeed {
  const { readBurstable, writeBurstable, iopsReadBurstable, iopsWriteBurstable, ...rest } = fields
  return defined<VmDiskSpeed>({
    ...rest,
    readBurst: readBurstable,
    writeBurst: writeBurstable,
    iopsReadBurst: iopsReadBurstable,
    iopsWriteBurst: iopsWriteBurstable,
  })
}

function vmNic({ enabled: _enabled, macAddress, vlanId, trunks, rateLimit, ...nic }: NetworkDevice, index: number) {
  return defined<VmNic>({
    ...nic,
    slot: `net${index}`,
    bridge: nic.bridge ?? BRIDGE,
    model: nic.model ?? NIC_MODEL,
    mac: macAddress?.toUpperCase(),
    vlan: vlanId === 0 ? undefined : vlanId,
    trunks: trunks?.split(';').map(Number),
    mtu: nic.mtu === 0 ? undefined : nic.mtu,
    rateMBps: rateLimit,
  })
}

function cloudInit(fields: Initialization): VmCloudInit {
  const password = fields.userAccount?.passwordSecretRef
  return defined<VmCloudInit>({
    storage: fields.datastoreId ?? DATASTORE,
    slot: fields.interface ?? CLOUD_INIT_SLOT,
    format: fields.fileFormat,
    type: fields.type === 'cloud-init' ? undefined : fields.type,
    user: fields.userAccount?.username,
    password: password && {
      secretRef: defined({ name: password.name, namespace: password.namespace, key: password.key }),
    },
    sshKeys: fields.userAccount?.keys,
    addresses: fields.ipConfig?.map((entry) =>
      defined({
        v4: entry.ipv4?.address,
        gateway4: entry.ipv4?.gateway,
        v6: entry.ipv6?.address,
        gateway6: entry.ipv6?.gateway,
      }),
    ),
    dnsServers: fields.dns?.servers,
    dnsDomain: fields.dns?.domain,
    upgrade: fields.upgrade,
    userData: fields.userDataFileId,
    networkData: fields.networkDataFileId,
    metaData: fields.metaDataFileId,
    vendorData: fields.vendorDataFileId,
  })
}

/** The provider's own defaults, for what a device cannot be made without. */
const AUDIO_DEVICE = 'intel-hda'
const WATCHDOG_MODEL = 'i6300esb'
const SEV_TYPE = 'std'

type Devices = Pick<
  VmSpec,
  'acpi' | 'hotplug' | 'audio' | 'rng' | 'watchdog' | 'smbios' | 'numaNodes' | 'usb' | 'pci' | 'virtiofs' | 'amdSev'
> &
  Pick<VmSpec, 'hookScript' | 'clone' | 'restart'>

/** Devices and settings that are one small block each. */
function vmDevices(fields: VmFields): { readonly [F in keyof Devices]: Devices[F] | undefined } {
  const { audioDevice, rng, watchdog, amdSev } = fields
  return {
    acpi: fields.acpi,
    hotplug: fields.hotplug,
    restart: fields.rebootAfterUpdate === false ? 'never' : undefined,
    clone: fields.clone && clone(fields.clone),
    hookScript: fields.hookScriptFileId,
    audio:
      audioDevice &&
      (audioDevice.enabled === false
        ? false
        : defined({ device: audioDevice.device ?? AUDIO_DEVICE, driver: audioDevice.driver })),
    rng: rng && defined({ source: rng.source, maxBytes: rng.maxBytes, periodMs: rng.period }),
    watchdog:
      watchdog &&
      (watchdog.enabled === false
        ? false
        : defined({ model: watchdog.model ?? WATCHDOG_MODEL, action: watchdog.action })),
    smbios: fields.smbios && defined(fields.smbios),
    numaNodes: fields.numa?.map(({ device, memory, hostnodes, ...rest }) =>
      defined<VmNumaNode>({ slot: device, memoryMb: memory, hostNodes: hostnodes, ...rest }),
    ),
    usb: fields.usb?.map(({ host, ...rest }, index) => defined<VmUsb>({ slot: `usb${index}`, device: host, ...rest })),
    pci: fields.hostpci?.map(({ device, id, rombar, xvga, ...rest }) =>
      defined<VmPci>({ slot: device, device: id, romBar: rombar, primaryGpu: xvga, ...rest }),
    ),
    virtiofs: fields.virtiofs?.map((share, index) => defined<VmVirtiofs>({ slot: `virtiofs${index}`, ...share })),
    amdSev: amdSev && defined<VmAmdSev>({ ...amdSev, type: amdSev.type ?? SEV_TYPE }),
  }
}

function clone(fields: NonNullable<VmFields['clone']>): VmClone {
  return defined<VmClone>({
    vmid: fields.vmId,
    host: fields.nodeName,
    full: fields.full ?? true,
    storage: fields.datastoreId,
  })
}
