import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Policy } from '../../model/declaration.ts'
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
      // If Git names no id, a foreign guest is irrelevant.
      assert.equal(found(CHOSEN), is === 'foreign' ? 'absent' : is)
    })
})

test('what croft has left is not made a second time while Git still declares it, and is not taken for ours', () => {
  const found = (record: Partial<ResourceRecord>, observed: ObservedResource) =>
    identify(CHOSEN, FAKE_RULES, worldWith([observed]), ledgerWith({ known: [recordOf(CHOSEN, record)] })).is
  const there = withConfig({ digest: 'd1', name: 'web' })
  const left = { externalId: '108', status: 'Orphaned' } as const
  assert.equal(found(left, there), 'foreign')
  assert.equal(found({ externalId: '108', status: 'Running' }, there), 'absent', 'its mark was lost another way')
  assert.equal(found({ ...left, externalId: '109' }, there), 'absent', 'it was another, and that one is gone')
  assert.equal(found(left, guest(108, { of: 'Machine/web' })), 'ours', 'a mark counts as always')
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

describe('adoption happens once: what is under an adopted id is ours by its birth, not by the id', () => {
  const adopting = (policy: Partial<Policy> = {}) => machine('web', { policy: { adopt: '108', ...policy } })
  const there = (birth: string | undefined, name = 'web'): ObservedResource => ({
    ...guest(108),
    name,
    close: { config: { memory: '1' }, atMs: 0, ...(birth === undefined ? {} : { birth }) },
  })
  const HELD = { externalId: '108', seenMs: 1, birth: 'uuid 1' } as const
  const OLD = { externalId: '108', seenMs: 1, details: { guest: 'web' } } as const
  const unmarked = { unmarked: true } as const
  const cases: readonly (readonly [
    what: string,
    policy: Partial<Policy>,
    record: Partial<ResourceRecord> | undefined,
    observed: ObservedResource,
    is: string,
  ])[] = [
    ['never held', {}, undefined, there('uuid 2'), 'adoptable'],
    ['begun and never seen with our mark', {}, { externalId: '108' }, there('uuid 2'), 'adoptable'],
    ['the adopted one, its mark taken away', {}, HELD, there('uuid 1'), 'adoptable'],
    ['another one', {}, HELD, there('uuid 2'), 'foreign'],
    ['another one that shows no birth', {}, HELD, there(undefined), 'foreign'],
    ['another one that a person means', { birth: 'uuid 2' }, HELD, there('uuid 2'), 'adoptable'],
    ['a third after the one that a person meant', { birth: 'uuid 2' }, HELD, there('uuid 3'), 'foreign'],
    ['not read closely', {}, HELD, guest(108, { seenOnly: true }), 'unread'],
    ['a record from before births', {}, OLD, there('uuid 2'), 'foreign'],
    ['held at another id before', {}, { ...HELD, externalId: '109' }, there('uuid 2'), 'adoptable'],
    ['unmarked: the adopted one', unmarked, HELD, there('uuid 1', 'renamed'), 'ours'],
    ['unmarked: another one of the same name', unmarked, HELD, there('uuid 2'), 'foreign'],
    ['unmarked, from before births: by its name', unmarked, OLD, there('uuid 2'), 'ours'],
    ['unmarked, from before births: another name', unmarked, OLD, there('uuid 2', 'payroll'), 'foreign'],
  ]
  for (const [what, policy, record, observed, is] of cases)
    test(`${what}: ${is}`, () => {
      const resource = adopting(policy)
      const known = record === undefined ? [] : [recordOf(resource, record)]
      assert.equal(identify(resource, FAKE_RULES, worldWith([observed]), ledgerWith({ known })).is, is)
    })
})
