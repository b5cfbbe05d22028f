import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Mark } from '../../model/resource.ts'
import { humanTags, printDescription, printTags, readMark, splitDescription, splitTags, uidOfTags } from './marks.ts'

const UID = '0123456789abcdef'
const OTHER = 'fedcba9876543210'
const MARK: Mark = { uid: UID, owner: 'EnvironmentVM/web-1', estate: 'home', deletion: 'Orphan' }

/** Proxmox's changes to a tag list. */
const stored = (tags: string) => splitTags(tags).reverse().join(';')

describe('marks', () => {
  it('are found again in a description and tags that went through Proxmox', () => {
    fc.assert(
      fc.property(
        fc.record({ uid: fc.stringMatching(/^[0-9a-f]{16}$/), owner: fc.string(), estate: fc.string() }),
        fc.constantFrom('Delete' as const, 'Orphan' as const),
        fc.string().filter((text) => !text.includes('croft: ')),
        fc.array(fc.stringMatching(/^[a-zA-Z0-9_][a-zA-Z0-9_-]{0,8}$/)),
        fc.record({ protect: fc.constant(true as const), serverOf: fc.string({ minLength: 1 }) }, { requiredKeys: [] }),
        (fields, deletion, human, tags, kept) => {
          const mark = { ...fields, deletion, ...kept }
          const config = {
            description: printDescription(human, mark, '114'),
            tags: stored(printTags(tags, mark.uid)).toUpperCase(),
          }
          assert.deepEqual(readMark(config, '114'), mark)
          assert.equal(splitDescription(config.description).human, human.trimEnd())
        },
      ),
    )
  })

  it('keep what people wrote, before and after our line', () => {
    const text = `first\n${printDescription('', MARK, '114')}\nadded later`
    assert.equal(splitDescription(text).human, 'first\nadded later')
    assert.equal(printDescription('first', MARK, '114').split('\n')[0], 'first')
    assert.deepEqual(humanTags(splitTags(`Prod, croft;b CROFT-${UID} prod`)), ['b', 'prod'])
    assert.equal(printTags(['b', 'A', 'CROFT', 'B'], UID), `A;B;croft;croft-${UID}`)
  })

  it('the line reads as documented', () => {
    assert.equal(
      printDescription('hello', MARK, '114'),
      `hello\ncroft: owner=EnvironmentVM/web-1 estate=home deletion=Orphan id=114 uid=${UID}`,
    )
    assert.equal(
      printDescription('', { ...MARK, protect: true, serverOf: 'Cluster/home' }, '114'),
      `croft: owner=EnvironmentVM/web-1 estate=home deletion=Orphan protect=yes server=Cluster/home id=114 uid=${UID}`,
    )
  })

  for (const [why, config, expected] of [
    ['only the tag is left', { tags: `croft;croft-${UID}` }, { uid: UID }],
    ['only the line is left', { description: printDescription('', MARK, '114') }, MARK],
    [
      'the tags came along with a clone: the line that was written for it counts',
      { tags: `croft-${OTHER}`, description: printDescription('', MARK, '114') },
      MARK,
    ],
    [
      'a person cloned it: the line was written for another id',
      { tags: `croft-${UID}`, description: printDescription('', MARK, '999') },
      undefined,
    ],
    ['two uids contradict each other', { tags: `croft-${UID};croft-${OTHER}` }, undefined],
    ['a tag that only looks like ours', { tags: 'croft-prod;croft' }, undefined],
    ['a line without a uid', { description: 'croft: owner=x' }, undefined],
    ['wrong types', { tags: 7, description: ['croft: uid=x'] }, undefined],
    ['nothing', {}, undefined],
  ] as const) {
    it(why, () => assert.deepEqual(readMark(config, '114'), expected))
  }

  it('a survey finds the uid in the tags alone', () => {
    assert.equal(uidOfTags(`a;CROFT-${UID}`), UID)
    assert.equal(uidOfTags(undefined), undefined)
  })
})
