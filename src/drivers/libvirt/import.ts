import { defined } from '../../lib/defined.ts'
import type { ObservedResource } from '../../model/resource.ts'
import type { ImportedGuest } from '../port.ts'
import { configOf, slotOf } from './names.ts'

const GIB = 1024 ** 3

/** Returns a domain as a Machine. Networks and pools have the host's names: its Host must bind them. */
export function importGuest(observed: ObservedResource): Promise<ImportedGuest | undefined> {
  return Promise.resolve(imported(observed))
}

function imported(observed: ObservedResource): ImportedGuest | undefined {
  const config = configOf(observed)
  if (config === undefined || observed.type !== 'vm') return undefined
  const { domain } = config
  const unmanaged: string[] = []
  const notes: string[] = []
  let counted = 0
  // A Machine's disks are on one bus, numbered from its start.
  const bus = (['virtio', 'scsi', 'sata'] as const).find((one) =>
    domain.disks.some((disk) => disk.device === 'disk' && slotOf(disk.dev, disk.bus) === `${one}0`),
  )
  const disks = domain.disks.flatMap((disk) => {
    const size = config.volumes[`${disk.pool ?? ''}:${disk.volume ?? ''}`]
    const slot = slotOf(disk.dev, disk.bus)
    if (disk.device !== 'disk' || slot === undefined || disk.pool === undefined || size === undefined) {
      unmanaged.push(`disk ${disk.dev} (${disk.device}${disk.path === undefined ? '' : `, ${disk.path}`})`)
      return []
    }
    if (size % GIB !== 0) {
      unmanaged.push(`disk ${disk.dev}: ${size} bytes, which is not a whole number of Gi`)
      return []
    }
    if (slot !== `${bus ?? ''}${counted}`) {
      unmanaged.push(`disk ${disk.dev}, which is on another bus or leaves a gap`)
      return []
    }
    counted++
    return [{ storage: disk.pool, size: `${size / GIB}Gi` }]
  })
  const networks = domain.nics.map((nic) => defined({ network: nic.source ?? '', mac: nic.mac }))
  for (const { device } of domain.pci) unmanaged.push(`PCI device ${device}`)
  for (const { device } of domain.usb) unmanaged.push(`USB device ${device}`)
  if (config.snapshots > 0) notes.push(`${config.snapshots} snapshots stay with it and are not declared`)
  return {
    kind: 'Machine',
    fields: {
      host: observed.host,
      libvirt: {
        uuid: observed.externalId,
        adopt: true,
        ...(domain.architecture === 'aarch64' ? { architecture: 'arm64' } : {}),
        ...(bus === undefined || bus === 'virtio' ? {} : { bus }),
      },
      cpu: { cores: domain.cores ?? 1, ...(domain.cpu === undefined ? {} : { type: domain.cpu }) },
      memory: `${domain.memoryMb ?? 0}Mi`,
      disks,
      networks,
      power: (observed.close?.power ?? observed.power) === 'running' ? 'on' : 'off',
      onBoot: config.onBoot,
      agent: domain.agent,
      ...(config.human === '' ? {} : { description: config.human }),
      ...(config.humanTags.length === 0 ? {} : { tags: config.humanTags }),
    },
    unmanaged,
    notes,
  }
}
