import { type ApiFields, countOf, flagOf } from '../foreign.ts'
import { parseProperties } from '../property-string.ts'
import { hotplugs, scalar, textOf, type VmOption } from './option.ts'

const DEFAULT_MB = 512

export const memoryDedicated = scalar<number>({
  path: 'memory.dedicatedMb',
  key: 'memory',
  effect: (from, to, config) =>
    to > from && hotplugs(config, 'memory') && flagOf(config.numa) === true ? 'live' : 'restart',
  declared: (vm) => vm.memory?.dedicatedMb,
  observed: dedicated,
  print: String,
})

/** Left out, the balloon is there and never shrinks; 0 takes the device away, which only a restart can do. */
export const memoryFloating = scalar<number>({
  path: 'memory.floatingMb',
  key: 'balloon',
  effect: (from, to) => (from === 0 || to === 0 ? 'restart' : 'live'),
  declared: (vm) => vm.memory?.floatingMb,
  observed: (config) => countOf(config.balloon) ?? dedicated(config),
  print: String,
})

/** Memory shared with the host (ivshmem), in MiB. Only root may set it; a token gets a clear refusal. */
export const memoryShared: VmOption = {
  create({ spec: vm, externalId }, params) {
    if (vm.memory?.shared) params.ivshmem = printShared(vm.memory.shared, externalId)
  },
  compare({ spec: vm }, config, changes) {
    if (!vm.memory?.shared) return
    const text = textOf(config.ivshmem)
    const from = text === undefined ? 0 : (countOf(parseProperties(text, 'size').get('size')) ?? 0)
    if (from !== vm.memory.shared)
      changes.push({ path: 'memory.shared', from, to: vm.memory.shared, effect: 'restart' })
  },
  update({ spec: vm, externalId }, _config, params, chosen) {
    if (chosen.has('memory.shared') && vm.memory?.shared) params.ivshmem = printShared(vm.memory.shared, externalId)
  },
}

function printShared(sizeMb: number, externalId: string): string {
  return `size=${sizeMb},name=vm-${externalId}-ivshmem`
}

/** `2048`, or on newer versions sometimes `current=2048`. */
function dedicated(config: ApiFields): number {
  const value = config.memory
  if (typeof value === 'string' && value.includes('=')) {
    return countOf(parseProperties(value, 'current').get('current')) ?? DEFAULT_MB
  }
  return countOf(value) ?? DEFAULT_MB
}
