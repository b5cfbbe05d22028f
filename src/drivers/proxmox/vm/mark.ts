import { markTags, printLine, readMark, splitDescription, splitTags } from '../marks.ts'
import type { VmOption } from './option.ts'

/**
 * The mark itself: a tag that a person took away, or a deletion policy that changed in Git, is put right. A thing
 * without our mark is not given one here: that is taking over, and only a person may ask for it.
 * It is written together with tags and description, which share its keys.
 */
export const mark: VmOption = {
  create() {},
  compare({ mark, externalId }, config, changes) {
    if (readMark(config, externalId)?.uid !== mark.uid) return
    const tags = splitTags(config.tags)
    const line = splitDescription(config.description).line
    const from = line === undefined ? '' : printLine(line.mark, line.externalId ?? '')
    const to = printLine(mark, externalId)
    if (from === to && markTags(mark.uid).every((tag) => tags.includes(tag))) return
    changes.push({ path: 'mark', from: from === to ? 'tags missing' : from, to, effect: 'live' })
  },
  update() {},
}
