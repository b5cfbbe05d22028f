import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ResourceRecord } from '../../model/record.ts'
import type { Resource, Survey } from '../../model/resource.ts'
import type { Rules } from '../../model/rules.ts'
import {
  CONNECTION,
  estateOf,
  FAKE_RULES,
  guest,
  ledgerWith,
  machine,
  recordOf,
  worldWith,
} from '../testing/fixture.ts'
import { claimantsOf, claimsIn, holdings } from './holdings.ts'
import { claimantOf, leftKey } from './left-key.ts'
import { observedWorld, type World } from './world.ts'

const idIn = ({ desired }: Resource) => (desired.type === 'setting' ? desired.setting.id : undefined)
const RULES = new Map<string, Rules>([
  [
    'fake',
    {
      ...FAKE_RULES,
      keeps: () => true,
      declaredId: idIn,
      listOf: ({ desired }) => (desired.type === 'setting' ? `/${desired.setting.definition}` : undefined),
    },
  ],
])
const user = (name: string, id: string, more: Partial<Resource> = {}): Resource => ({
  ...machine(name),
  desired: { type: 'setting', setting: { definition: 'users', id, fields: {} } },
  ...more,
})
const known = (of: Resource, externalId: string, more: Partial<ResourceRecord> = {}) =>
  recordOf(of, { type: 'setting', list: '/users', externalId, made: true, seenMs: 1, status: 'Ready', ...more })

/** Returns the records afterwards as `key id made`, with `*` if the store must be updated. */
function after(
  resources: readonly Resource[],
  records: readonly ResourceRecord[],
  more: { unreadable?: string[]; worlds?: World[] } = {},
) {
  const worlds = new Map((more.worlds ?? [worldWith([])]).map((world) => [world.connection.name, world]))
  const found = holdings(
    estateOf(resources, { unreadable: more.unreadable ?? [] }),
    worlds,
    ledgerWith({ known: [...records] }),
    RULES,
    0,
  )
  const told = new Set(found.changed)
  return {
    records: [...found.ledger.records.values()]
      .map(
        (one) => `${one.key} ${one.externalId ?? '-'}${one.made === true ? ' made' : ''}${told.has(one) ? ' *' : ''}`,
      )
      .sort(),
    dropped: found.dropped,
  }
}

describe('a record is about the place that its key claims', () => {
  const dave = user('person', 'dave@pve')
  const carol = user('person', 'carol@pve')

  test('what is as recorded is left alone', () => {
    assert.deepEqual(after([dave], [known(dave, 'dave@pve')]), {
      records: ['Machine/person dave@pve made'],
      dropped: [],
    })
  })
  test('an id that changed: what we made is held under a key of its own, and the new one is not ours', () => {
    const { records } = after([carol], [known(dave, 'dave@pve')])
    assert.deepEqual(records, ['Machine/person - *', 'Machine/person@at:default/dave@pve dave@pve made *'])
  })
  test('an id that changed, of what we did not make: nothing is held', () => {
    const found = recordOf(dave, { type: 'setting', list: '/users', externalId: 'dave@pve' })
    assert.deepEqual(after([carol], [found]).records, ['Machine/person - *'])
  })
  test('and back again', () => {
    const left = known(dave, 'dave@pve', { key: leftKey('Machine/person', 'default', 'dave@pve') })
    const { records, dropped } = after(
      [dave],
      [recordOf(carol, { type: 'setting', list: '/users', externalId: 'carol@pve' }), left],
    )
    assert.deepEqual(records, ['Machine/person dave@pve made *'])
    assert.deepEqual(dropped, ['Machine/person@at:default/dave@pve'])
  })
  test('another key that names the same id takes the record over', () => {
    const { records, dropped } = after([user('new', 'dave@pve')], [known(dave, 'dave@pve')])
    assert.deepEqual([records, dropped], [['Machine/new dave@pve made *'], ['Machine/person']])
  })
  test('two keys that exchange their ids exchange their records', () => {
    const [a, b] = [user('a', 'x'), user('b', 'y')]
    const { records } = after([user('a', 'y'), user('b', 'x')], [known(a, 'x'), known(b, 'y', { made: false })])
    assert.ok(records.includes('Machine/b x made *'), records.join())
    assert.ok(!records.some((one) => one.startsWith('Machine/a y made')), records.join())
  })
  test('what could not be read, or was left alone on purpose, is taken over by no other key', () => {
    const other = user('new', 'dave@pve')
    assert.deepEqual(after([other], [known(dave, 'dave@pve')], { unreadable: ['Machine/person'] }).dropped, [])
    assert.deepEqual(after([other], [known(dave, 'dave@pve', { status: 'Orphaned' })]).dropped, [])
  })
  test('an object whose API has another version, or a file that another host lists, is the same', () => {
    const file = user('img', 'shared:iso/a', { desired: { type: 'file', file: { host: 'b' } as never } })
    const rules = new Map([
      ['fake', { ...(RULES.get('fake') as Rules), listOf: () => 'files b', declaredId: () => 'shared:iso/a' }],
    ])
    const before = known(file, 'shared:iso/a', { type: 'file', list: 'files a' })
    const found = holdings(estateOf([file]), new Map(), ledgerWith({ known: [before] }), rules, 0)
    assert.deepEqual([found.changed, found.dropped], [[], []])
    const object = user('o', 'x', { desired: { type: 'object', object: {} as never } })
    const claims = claimsIn(
      [object],
      new Map([['fake', { ...(RULES.get('fake') as Rules), listOf: () => 'v1', declaredId: () => 'Pod/a' }]]),
    )
    assert.equal(
      claimantsOf(claims, { type: 'object', list: 'v1beta1', externalId: 'Pod/a' }).get('default'),
      'Machine/o',
    )
  })
})

describe('a record knows the system that its thing is on', () => {
  const system = { 'machine-id': '1' }
  const leading = (name: string, id: string) => {
    const world = worldWith([])
    const survey = {
      ...(world.survey as Survey),
      connection: name,
      system: { is: 'seen', id: { 'machine-id': id } } as const,
    }
    return { ...world, connection: { ...CONNECTION, name }, survey }
  }
  const dave = { ...user('person', 'dave@pve'), connection: 'renamed' }
  const record = known(dave, 'dave@pve', { system })

  test('a connection that got another name, or a second one to the system, moves nothing', () => {
    for (const worlds of [[leading('renamed', '1')], [leading('default', '1'), leading('renamed', '1')]])
      assert.deepEqual(after([dave], [record], { worlds }).records, ['Machine/person dave@pve made *'])
    const gone = holdings(
      estateOf([]),
      new Map([['renamed', leading('renamed', '1')]]),
      ledgerWith({ known: [record] }),
      RULES,
      0,
    )
    assert.equal(gone.changed[0]?.connection, 'renamed', 'also of what is declared no more')
  })
  test('a connection that leads to another system takes nothing over', () => {
    assert.deepEqual(after([dave], [record], { worlds: [leading('renamed', '2')] }).records, [
      'Machine/person - *',
      'Machine/person@at:default/dave@pve dave@pve made *',
    ])
  })
})

describe('a guest whose declaration names another connection', () => {
  const web = { ...machine('web'), connection: 'b' }
  const record = recordOf(machine('web'), { externalId: '108', seenMs: 1, birth: 'uuid 1' })
  const bornAs = (birth: string) => {
    const seen = guest(108, { of: web.key })
    return { ...seen, connection: 'b', close: { config: {}, atMs: 0, ...seen.close, birth } }
  }
  const onB = (...guests: ReturnType<typeof bornAs>[]) =>
    observedWorld({ ...CONNECTION, name: 'b' }, {
      ...(worldWith([]).survey as never as object),
      connection: 'b',
      resources: guests,
    } as never)

  test('is held at its old place', () => {
    const { records } = after([web], [record], { worlds: [worldWith([]), onB()] })
    assert.deepEqual(records, ['Machine/web - *', 'Machine/web@at:default/108 108 *'])
  })
  test('is where it was if the new connection shows it: that one reaches the same system', () => {
    assert.deepEqual(after([web], [record], { worlds: [onB(bornAs('uuid 1'))] }).records, ['Machine/web 108'])
  })
  test('what was held while the new connection could not be seen is let go of when it shows the same guest, by its birth', () => {
    const left = { ...record, key: leftKey(web.key, 'default', '108') }
    assert.deepEqual(after([web], [left], { worlds: [onB(bornAs('uuid 1'))] }).dropped, [left.key])
    assert.deepEqual(after([web], [left], { worlds: [onB(bornAs('uuid 2'))] }).dropped, [])
  })
})

test('the key of a place that was left says whose it was', () => {
  assert.equal(claimantOf(leftKey('ProxmoxUser/person', 'lab', 'dave@pve')), 'ProxmoxUser/person')
  assert.equal(claimantOf(leftKey('Image/noble@alpha', 'lab', 'x')), 'Image/noble@alpha')
  assert.equal(leftKey(leftKey('A/b', 'lab', '1'), 'lab', '1'), 'A/b@at:lab/1')
})
