import { parseProperties } from '../property-string.ts'
import { textOf, type VmOption } from './option.ts'

/** Devices to boot from. Not declared, a new guest boots from its first disk and an existing one is left alone. */
export const bootOrder: VmOption = {
  create({ spec: vm }, params) {
    const first = vm.disks[0]?.slot
    const order = vm.bootOrder ?? (first === undefined ? [] : [first])
    if (order.length > 0) params.boot = printOrder(order)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.bootOrder === undefined) return
    const text = textOf(config.boot) ?? ''
    const from = (parseProperties(text, 'legacy').get('order') ?? '').split(';').filter((device) => device !== '')
    const to = vm.bootOrder
    if (from.length === to.length && from.every((device, at) => device === to[at])) return
    changes.push({ path: 'bootOrder', from, to, effect: 'restart' })
  },
  update({ spec: vm }, _config, params, chosen) {
    if (chosen.has('bootOrder') && vm.bootOrder !== undefined) params.boot = printOrder(vm.bootOrder)
  },
}

function printOrder(devices: readonly string[]): string {
  return `order=${devices.join(';')}`
}
