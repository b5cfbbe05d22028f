import { printDescription, splitDescription } from '../marks.ts'
import type { VmOption } from './option.ts'

/** What people wrote, followed by the line of our mark. */
export const description: VmOption = {
  create({ spec: vm, mark, externalId }, params) {
    params.description = printDescription(vm.description ?? '', mark, externalId)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.description === undefined) return
    const from = splitDescription(config.description).human
    const to = vm.description.trimEnd()
    if (from !== to) changes.push({ path: 'description', from, to, effect: 'live' })
  },
  update({ spec: vm, mark, externalId }, config, params, chosen) {
    if (!chosen.has('description') && !chosen.has('mark')) return
    const declared = chosen.has('description') ? vm.description : undefined
    const human = declared ?? splitDescription(config.description).human
    params.description = printDescription(human, mark, externalId)
  },
}
