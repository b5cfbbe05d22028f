import type { VmCloudInit } from '../../../model/vm.ts'
import type { ApiFields } from '../foreign.ts'
import { parseProperties } from '../property-string.ts'
import { storageOf } from './disks.ts'
import { textOf, type VmOption } from './option.ts'

const DRIVE_SLOT = /^(?:ide[0-3]|sata[0-5]|scsi(?:[12]?\d|30))$/
const CLOUD_INIT_VOLUME = /(?:^|[:/])(?:vm-\d+-)?cloudinit(?:\.\w+)?$/

/**
 * The drive that carries the cloud-init data. Proxmox allows one; where a guest already has it at another slot, that
 * one serves and nothing is moved.
 */
export const cloudInitDrive: VmOption = {
  create({ spec: vm }, params) {
    if (vm.cloudInit !== undefined) params[vm.cloudInit.slot] = newDrive(vm.cloudInit)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.cloudInit === undefined) return
    const from = storageOf(volumeAt(config, vm.cloudInit.slot) ?? anywhere(config))
    const to = vm.cloudInit.storage
    // A disc can be changed at any time; a new drive is a new device.
    const effect = from === undefined ? 'restart' : 'live'
    if (from !== to) changes.push({ path: 'cloudInit.storage', from, to, effect })
  },
  update({ spec: vm }, config, params, chosen) {
    if (vm.cloudInit === undefined || !chosen.has('cloudInit.storage')) return
    const slot = slotOf(config) ?? vm.cloudInit.slot
    params[slot] = newDrive(vm.cloudInit)
  },
}

/** The format matters when it is made only: what is on the drive is written anew with every start. */
function newDrive({ storage, format }: VmCloudInit): string {
  return `${storage}:cloudinit${format === undefined ? '' : `,format=${format}`}`
}

function volumeAt(config: ApiFields, slot: string): string | undefined {
  const text = textOf(config[slot])
  if (text === undefined || !text.includes('cloudinit')) return undefined
  const properties = parseProperties(text, 'file')
  const volume = properties.get('file') ?? properties.get('volume')
  return volume !== undefined && CLOUD_INIT_VOLUME.test(volume) ? volume : undefined
}

function anywhere(config: ApiFields): string | undefined {
  const slot = slotOf(config)
  return slot === undefined ? undefined : volumeAt(config, slot)
}

function slotOf(config: ApiFields): string | undefined {
  return Object.keys(config).find((key) => DRIVE_SLOT.test(key) && volumeAt(config, key) !== undefined)
}
