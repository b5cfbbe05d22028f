import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type EtcdAnswer, judgeMembership, type MembershipRecord, nodeOfMember } from './membership.ts'

const OURS = 'c'.repeat(64)
const OTHER = 'd'.repeat(64)

interface Said {
  readonly data?: string
  /** The node that its etcd calls itself, where that is another one. */
  readonly as?: string
  readonly leader?: string
}

/** Returns the answer of etcd on a node: `answer('s1', 's1 s2 s3')`. Equal names have equal ids. */
function answer(node: string, list: string, { data = OURS, as = node, leader = 's2' }: Said = {}): EtcdAnswer {
  const members = list.split(' ').map((name) => ({ id: `id-${name}`, name: `${name}-4a13e2cb`, learner: false }))
  return { node, data, etcd: { members, self: `id-${as}`, leader: `id-${leader}` } }
}

const recorded = (voters?: string): MembershipRecord => ({
  caHash: OURS,
  ...(voters === undefined ? {} : { voters: voters.split(' ') }),
})

interface Row {
  readonly what: string
  readonly record: MembershipRecord
  readonly answers: readonly EtcdAnswer[]
  /** The accepted list; absent: none. */
  readonly members?: string
  readonly strangers?: string
}

const alone = answer('s1', 's1', { data: OTHER, leader: 's1' })
const all = 's1 s2 s3'

const ROWS: readonly Row[] = [
  { what: 'all agree', record: recorded(all), answers: [answer('s1', all), answer('s2', all)], members: all },
  { what: 'nothing is recorded of the voters', record: recorded(), answers: [answer('s1', all)], members: all },
  {
    what: 'the first server alone on an empty disk, with the configuration that it began with',
    record: recorded(all),
    answers: [alone, answer('s2', all), answer('s3', all)],
    members: all,
    strangers: 's1',
  },
  { what: 'so, and nobody else answers', record: recorded(all), answers: [alone], strangers: 's1' },
  {
    what: 'one of five so',
    record: recorded('s1 s2 s3 s4 s5'),
    answers: [alone, answer('s4', 's1 s2 s3 s4 s5')],
    members: 's1 s2 s3 s4 s5',
    strangers: 's1',
  },
  {
    what: 'two of three so: nobody has a majority',
    record: recorded(all),
    answers: [
      answer('s1', 's1 s2', { data: OTHER, leader: 's1' }),
      answer('s2', 's1 s2', { data: OTHER, leader: 's1' }),
    ],
    strangers: 's1 s2',
  },
  {
    what: 'a membership that was reset by hand on one server, under the same CA',
    record: recorded(all),
    answers: [answer('s1', 's1', { leader: 's1' }), answer('s2', all), answer('s3', all)],
    members: all,
    strangers: 's1',
  },
  {
    what: 'so, and the others are not seen: the record knows that they could go on without it',
    record: recorded(all),
    answers: [answer('s1', 's1', { leader: 's1' })],
    strangers: 's1',
  },
  {
    what: 'a copy of a server beside it',
    record: recorded(all),
    answers: [answer('s2', all), answer('s4', all, { as: 's2' })],
    members: all,
    strangers: 's4',
  },
  {
    what: 'data of another cluster',
    record: recorded(all),
    answers: [answer('s1', all), answer('s3', 'x1 s3', { data: OTHER, leader: 's3' })],
    members: all,
    strangers: 's3',
  },
  {
    what: 'a record from before two servers came',
    record: recorded('s1'),
    answers: [answer('s1', all), answer('s2', all)],
    members: all,
  },
  {
    what: 'a record from before one of three was removed',
    record: recorded(all),
    answers: [answer('s1', 's1 s2')],
    members: 's1 s2',
  },
  {
    what: 'a record of another cluster',
    record: { caHash: OTHER, voters: ['x1'] },
    answers: [answer('s1', all), answer('s2', all)],
    strangers: 's1 s2',
  },
  {
    what: 'a member that was removed while it was off comes back with its old list',
    record: recorded('s1 s2'),
    answers: [answer('s1', 's1 s2', { leader: 's1' }), answer('s3', all, { leader: 's1' })],
    members: 's1 s2',
  },
  {
    what: 'everyone restored from a snapshot by hand: one after the other joins the first again',
    record: recorded(all),
    answers: [answer('s1', all, { leader: 's1' }), answer('s2', all, { leader: 's1' })],
    members: all,
  },
  {
    what: 'two that both say that they lead, with different lists',
    record: recorded('s1 s2 s3 s4'),
    answers: [answer('s1', 's1 s2 s3', { leader: 's1' }), answer('s2', 's1 s2 s4', { leader: 's2' })],
  },
  {
    what: 'two halves of a partition that still agree who the members are',
    record: recorded(all),
    answers: [answer('s1', all, { leader: 's1' }), answer('s2', all, { leader: 's2' })],
    members: all,
  },
  {
    what: 'a CA that was exchanged while one server was off',
    record: recorded(all),
    answers: [answer('s1', all), answer('s2', all), answer('s3', all, { data: OTHER, leader: 's3' })],
    members: all,
    strangers: 's3',
  },
  { what: 'no record, and one cluster answers', record: {}, answers: [answer('s1', all)], members: all },
  { what: 'no record, and two clusters answer', record: {}, answers: [alone, answer('s2', all)] },
  { what: 'no answer', record: recorded(all), answers: [] },
]

describe('whose list of members counts', () => {
  for (const { what, record, answers, members, strangers } of ROWS) {
    test(`${what}: ${members ?? 'no list'}${strangers === undefined ? '' : `, ${strangers} strange`}`, () => {
      for (const order of [answers, [...answers].reverse()]) {
        const judged = judgeMembership(record, order)
        assert.equal(judged.list?.members.map(({ name }) => nodeOfMember(name)).join(' '), members)
        const names = judged.strangers.map(({ node }) => node).sort()
        assert.equal(names.length === 0 ? undefined : names.join(' '), strangers)
      }
    })
  }

  test('the list of the leader counts before another’s', () => {
    const behind = answer('s1', 's1 s2')
    const leader = answer('s2', all)
    assert.equal(judgeMembership(recorded(all), [behind, leader]).list?.members.length, 3)
  })

  test('names of nodes may end in digits themselves', () => {
    assert.equal(nodeOfMember('k3s-vm-1-4a13e2cb'), 'k3s-vm-1')
    assert.equal(nodeOfMember('plain'), 'plain')
  })
})
