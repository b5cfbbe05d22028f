import { humanTags, printTags, splitTags } from '../marks.ts'
import type { VmOption } from './option.ts'

/** Tags of people, as a set. Ours travel with them in the same key: see mark.ts. */
export const tags: VmOption = {
  create(wanted, params) {
    params.tags = printTags(wanted.spec.tags ?? [], wanted.mark.uid)
  },
  compare({ spec: vm }, config, changes) {
    if (vm.tags === undefined) return
    const from = humanTags(splitTags(config.tags))
    const to = humanTags(vm.tags)
    if (from.length === to.length && from.every((tag, at) => tag === to[at])) return
    changes.push({ path: 'tags', from, to, effect: 'live' })
  },
  update({ spec: vm, mark }, config, params, chosen) {
    if (!chosen.has('tags') && !chosen.has('mark')) return
    const declared = chosen.has('tags') ? vm.tags : undefined
    params.tags = printTags(declared ?? splitTags(config.tags), mark.uid)
  },
}
