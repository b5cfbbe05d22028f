import { defined } from '../../lib/defined.ts'
import type { Mark } from '../../model/resource.ts'
import { markTags, printLine, readMark, splitDescription, splitTags } from './marks.ts'
import type { Option } from './option.ts'

/**
 * The mark: corrects a removed tag, or a deletion policy that changed in Git. A thing without our mark gets none here:
 * that is an adoption, which only a person may request. Written together with tags and description, which share its
 * keys.
 */
export const mark: Option<unknown> = {
  create() {},
  compare({ mark, externalId }, config, changes) {
    const to = printLine(mark, externalId)
    const tags = splitTags(config.tags).map((tag) => tag.toLowerCase())
    const tagged = markTags(mark.uid).every((tag) => tags.includes(tag))
    // Nearly always it is right, and then nothing needs parsing.
    if (tagged && typeof config.description === 'string' && config.description.endsWith(to)) return
    if (readMark(config, externalId)?.uid !== mark.uid) return
    const line = splitDescription(config.description).line
    const from = line === undefined ? '' : printLine(line.mark, line.externalId ?? '')
    if (from === to && tagged) return
    // A new uid or protection of the estate comes from Git: it is written, but is no drift.
    const { estate: _, protect: __, serverOf: ___, ...rest } = line?.mark ?? mark
    const said = tagged && from !== to && printLine({ ...rest, ...saidByGit(mark) }, externalId) === to
    changes.push({
      path: 'mark',
      from: from === to ? 'tags missing' : from,
      to,
      effect: 'live',
      ...(said ? { own: true as const } : {}),
    })
  },
  update() {},
}

function saidByGit({ estate, protect, serverOf }: Mark): Pick<Mark, 'estate' | 'protect' | 'serverOf'> {
  return defined({ estate, protect, serverOf })
}
