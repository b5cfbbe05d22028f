import { humanTags, printTags, splitTags } from './marks.ts'
import type { Option } from './option.ts'

/** People's tags as a set. Ours share their key: see mark.ts. */
export const tags: Option<{ readonly tags?: readonly string[] }> = {
  create(wanted, params) {
    params.tags = printTags(wanted.spec.tags ?? [], wanted.mark.uid)
  },
  compare({ spec }, config, changes) {
    if (spec.tags === undefined) return
    const from = humanTags(splitTags(config.tags))
    const to = humanTags(spec.tags)
    if (from.length === to.length && from.every((tag, at) => tag === to[at])) return
    changes.push({ path: 'tags', from, to, effect: 'live' })
  },
  update({ spec, mark }, config, params, chosen) {
    if (!chosen.has('tags') && !chosen.has('mark')) return
    const declared = chosen.has('tags') ? spec.tags : undefined
    params.tags = printTags(declared ?? splitTags(config.tags), mark.uid)
  },
}
