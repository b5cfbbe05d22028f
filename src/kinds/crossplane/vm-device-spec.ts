import { defined } from '../../lib/defined.ts'
import type { VmAmdSev, VmClone, VmNumaNode, VmPci, VmSpec, VmUsb, VmVirtiofs } from '../../model/vm.ts'
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
