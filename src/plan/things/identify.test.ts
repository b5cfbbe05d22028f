import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ResourceRecord } from '../../model/record.ts'
import type { ObservedResource } from '../../model/resource.ts'
import { FAKE_RULES, guest, ledgerWith, machine, recordOf, worldWith } from '../testing/fixture.ts'
import { identify } from './identify.ts'

const DECLARED = machine('web', { vmid: 108 })
const CHOSEN = machine('web')
const MADE = { externalId: '108', made: true } as const
const withConfig = (
  config: Readonly<Record<string, unknown>>,
  more: Partial<ObservedResource> = {},
): ObservedResource => ({
  ...guest(108),
  close: { config, digest: 'd1', atMs: 0 },
  ...more,
})

describe('[D-13] what shows nothing but its id', () => {
  const cases: readonly (readonly [
    what: string,
    observed: ObservedResource,
    record: Partial<ResourceRecord> | undefined,
    is: string,
  ])[] = [
    ['begun by us: half made', withConfig({ digest: 'd1' }), MADE, 'forming'],
    ['begun by us, without so much as a digest', withConfig({}), MADE, 'forming'],
    ['not read closely yet', guest(108, { seenOnly: true }), MADE, 'unread'],
    ['with a disk in it', withConfig({ digest: 'd1', rootfs: 'local:8' }), MADE, 'foreign'],
    ['with a name', withConfig({ digest: 'd1', hostname: 'dns' }), MADE, 'foreign'],
    ['locked by somebody for a backup', withConfig({ lock: 'backup' }, { lock: 'backup' }), MADE, 'foreign'],
    ['never made by us', withConfig({ digest: 'd1' }), { externalId: '108' }, 'foreign'],
    ['made by us under another id', withConfig({ digest: 'd1' }), { externalId: '109', made: true }, 'foreign'],
    ['and nothing is remembered', withConfig({ digest: 'd1' }), undefined, 'foreign'],
  ]
  for (const [what, observed, record, is] of cases)
    test(`${what}: ${is}`, () => {
      const found = (resource: typeof DECLARED) =>
        identify(
          resource,
          FAKE_RULES,
          worldWith([observed]),
          ledgerWith({ known: record === undefined ? [] : [recordOf(resource, record)] }),
        ).is
      assert.equal(found(DECLARED), is)
      // Where Git names no id, somebody else's guest is none of ours.
      assert.equal(found(CHOSEN), is === 'foreign' ? 'absent' : is)
    })
})

test('only a close look says of which estate a guest is: until then what carries our uid may be ours', () => {
  const is = (observed: ObservedResource) => identify(CHOSEN, FAKE_RULES, worldWith([observed]), ledgerWith()).is
  const of = 'Machine/web'
  const seenOnly = guest(108, { of, seenOnly: true })
  const bare: ObservedResource = { ...seenOnly, mark: { uid: seenOnly.mark?.uid ?? '' } }
  assert.equal(is(guest(108, { of })), 'ours')
  assert.equal(is(bare), 'ours')
  assert.equal(is({ ...bare, mark: { uid: bare.mark?.uid ?? '', estate: 'other' } }), 'ours', 'a tag says too little')
  const read = { ...bare, close: { config: {}, digest: 'd1', atMs: 0 } }
  assert.equal(is({ ...read, mark: { uid: bare.mark?.uid ?? '', estate: 'other' } }), 'foreign')
})
