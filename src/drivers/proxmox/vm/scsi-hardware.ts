import { textOf, type VmOption } from './option.ts'

const ON_CREATE = 'virtio-scsi-pci'
/** What an old guest without the key has. */
const LEFT_OUT = 'lsi'

/** The SCSI controller. Modern guests get virtio unless something else is declared. */
export const scsiHardware: VmOption = {
  create({ spec: vm }, params) {
    params.scsihw = vm.scsiHardware ?? ON_CREATE
  },
  compare({ spec: vm }, config, changes) {
    const to = vm.scsiHardware
    const from = textOf(config.scsihw) ?? LEFT_OUT
    if (to !== undefined && to !== from) changes.push({ path: 'scsiHardware', from, to, effect: 'restart' })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (chosen.has('scsiHardware') && vm.scsiHardware !== undefined) params.scsihw = vm.scsiHardware
  },
}
