import { defined } from '../../lib/defined.ts'
import type { VmClone, VmPci, VmSpec, VmUsb, VmVirtiofs } from '../../model/vm.ts'
import type { VmFields } from './vm-schema.ts'

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
export function vmDevices(fields: VmFields): { readonly [F in keyof Devices]: Devices[F] | undefined } {
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
    numaNodes: fields.numa?.map((node) =>
      defined({
        slot: node.device,
        cpus: node.cpus,
        memoryMb: node.memory,
        hostNodes: node.hostnodes,
        policy: node.policy,
      }),
    ),
    usb: fields.usb?.map((device, index) =>
      defined<VmUsb>({ slot: `usb${index}`, device: device.host, mapping: device.mapping, usb3: device.usb3 }),
    ),
    pci: fields.hostpci?.map((device) =>
      defined<VmPci>({
        slot: device.device,
        device: device.id,
        mapping: device.mapping,
        mdev: device.mdev,
        pcie: device.pcie,
        romBar: device.rombar,
        romFile: device.romFile,
        primaryGpu: device.xvga,
      }),
    ),
    virtiofs: fields.virtiofs?.map((share, index) =>
      defined<VmVirtiofs>({
        slot: `virtiofs${index}`,
        mapping: share.mapping,
        cache: share.cache,
        directIo: share.directIo,
        exposeAcl: share.exposeAcl,
        exposeXattr: share.exposeXattr,
      }),
    ),
    amdSev:
      amdSev &&
      defined({
        type: amdSev.type ?? SEV_TYPE,
        allowSmt: amdSev.allowSmt,
        kernelHashes: amdSev.kernelHashes,
        noDebug: amdSev.noDebug,
        noKeySharing: amdSev.noKeySharing,
      }),
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
