import { countOf } from '../foreign.ts'
import { type Properties, parseProperties, printProperties } from '../property-string.ts'
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
export const vga: VmOption = {
  create({ spec: vm }, params) {
    const text = printProperties(withVga(new Map(), vm.vga ?? {}), 'type')
    if (text !== '') params.vga = text
  },
  compare({ spec: vm }, config, changes) {
    if (vm.vga === undefined) return
    const seen = parseProperties(textOf(config.vga) ?? '', 'type')
    const type = seen.get('type') ?? 'std'
    if (vm.vga.type !== undefined && vm.vga.type !== type)
      changes.push({ path: 'vga.type', from: type, to: vm.vga.type, effect: 'restart' })
    const memory = countOf(seen.get('memory'))
    if (vm.vga.memoryMb !== undefined && vm.vga.memoryMb !== memory)
      changes.push({ path: 'vga.memoryMb', from: memory, to: vm.vga.memoryMb, effect: 'restart' })
  },
  update({ spec: vm }, config, params, chosen) {
    if (vm.vga === undefined || (!chosen.has('vga.type') && !chosen.has('vga.memoryMb'))) return
    const { type, memoryMb } = vm.vga
    const next = withVga(parseProperties(textOf(config.vga) ?? '', 'type'), {
      ...(type !== undefined && chosen.has('vga.type') ? { type } : {}),
      ...(memoryMb !== undefined && chosen.has('vga.memoryMb') ? { memoryMb } : {}),
    })
    params.vga = printProperties(next, 'type')
  },
}

function withVga(properties: Properties, declared: { readonly type?: string; readonly memoryMb?: number }): Properties {
  if (declared.type !== undefined) properties.set('type', declared.type)
  if (declared.memoryMb !== undefined) properties.set('memory', String(declared.memoryMb))
  return properties
}
