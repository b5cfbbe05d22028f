import assert from 'node:assert/strict'
import { test } from 'node:test'
import { host } from '../../plan/power/testing/fixture.ts'
import { type PowerNotes, unreadHost } from './notes.ts'

const HOSTS = [host('cow'), host('cat', { own: true })]
const NOTES: PowerNotes = { sinceMs: 1, state: 'off', stopped: { cow: 3, cat: 3 }, hooks: {} }

const CASES: readonly [
  string,
  readonly ReturnType<typeof host>[],
  PowerNotes | undefined,
  number,
  string | undefined,
][] = [
  ['an earlier run switched our own box off', HOSTS, NOTES, 4, 'cat'],
  ['this run switched it off', HOSTS, NOTES, 3, undefined],
  ['what it wrote has been read', HOSTS, { ...NOTES, reported: true }, 4, undefined],
  ['only another box was switched off', HOSTS, { ...NOTES, stopped: { cow: 3 } }, 4, undefined],
  ['nothing is noted', HOSTS, undefined, 4, undefined],
  ['croft runs on none of the boxes', [host('cow')], NOTES, 4, undefined],
]

for (const [name, hosts, notes, epoch, expected] of CASES)
  test(`the journal of our own box is read back once: ${name}`, () => {
    assert.equal(unreadHost({ hosts }, notes, epoch)?.name, expected)
  })
