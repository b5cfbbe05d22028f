import type { VmSpec } from '../../../model/vm.ts'
import { device } from '../parts.ts'
import { textOf, type VmOption } from './option.ts'

/** Serial ports: `socket`, or a device of the host, which only root may give. */
export const serial: VmOption = {
  create({ spec: vm }, params) {
    for (const { slot, device } of vm.serial ?? []) params[slot] = device
  },
  compare({ spec: vm }, config, changes) {
    for (const { slot, device } of vm.serial ?? []) {
      const from = textOf(config[slot])
      if (from !== device) changes.push({ path: `serial.${slot}`, from, to: device, effect: 'restart' })
    }
  },
  update({ spec: vm }, _config, params, chosen) {
    for (const { slot, device } of vm.serial ?? []) if (chosen.has(`serial.${slot}`)) params[slot] = device
  },
}

/** The screen. */
export const vga = device<VmSpec, NonNullable<VmSpec['vga']>>({
  path: 'vga',
  key: 'vga',
  bare: 'type',
  effect: 'restart',
  // Nothing of it declared is nothing to write.
  declared: (vm) => (vm.vga !== undefined && Object.keys(vm.vga).length > 0 ? vm.vga : undefined),
  whenMissing: 'its parts',
  parts: [
    { field: 'type', key: 'type', fallback: 'std' },
    { field: 'clipboard', key: 'clipboard' },
    { field: 'memoryMb', key: 'memory' },
  ],
})
