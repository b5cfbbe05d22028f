import { majority } from '../lib/majority.ts'
import type { NodeFacts } from './node-program.ts'

/** The answer of the etcd on one node, and the CA that lies beside it. */
export interface EtcdAnswer {
  readonly node: string
  readonly data: string
  readonly etcd: NonNullable<NodeFacts['etcd']>
}

/** The stored facts about a cluster. */
export interface MembershipRecord {
  readonly caHash?: string
  /** Nodes that held a vote when croft last changed or confirmed the membership. */
  readonly voters?: readonly string[]
}

export interface MemberList {
  readonly members: readonly { readonly id: string; readonly name: string; readonly learner: boolean }[]
  readonly leader?: string
}

/** A node whose etcd is not a member of the recorded cluster, regardless of its ids. */
export interface Stranger {
  readonly node: string
  /** `its CA is 1234…, and the record has 5678…`. */
  readonly why: string
}

export interface MembershipJudgement {
  /** Absent: no answer can be believed. */
  readonly list?: MemberList
  readonly strangers: readonly Stranger[]
}

/**
 * Returns whose list of members counts, and which answers come from another cluster. Cluster id and member id prove
 * nothing: a server that starts on an empty disk gets the same ones. An answer counts if its CA is the recorded one, if
 * it speaks for its own node, and if the known members that it lacks could not be a majority without it.
 */
export function judgeMembership(record: MembershipRecord, answers: readonly EtcdAnswer[]): MembershipJudgement {
  const strangers = new Map<string, string>()
  const [first] = answers
  const own = record.caHash ?? first?.data
  // Without a record, the declared one of two clusters is unknown.
  if (record.caHash === undefined && answers.some(({ data }) => data !== own)) return { strangers: [] }
  for (const { node, data, etcd } of answers) {
    const speaksAs = etcd.members.find(({ id }) => id === etcd.self)?.name ?? ''
    if (data !== own && record.caHash !== undefined)
      strangers.set(node, `its CA is ${short(data)}, and the recorded one is ${short(record.caHash)}`)
    else if (speaksAs !== '' && nodeOfMember(speaksAs) !== node)
      strangers.set(node, `its etcd speaks as ${nodeOfMember(speaksAs)}: its disk is a copy`)
  }
  const ours = answers.filter(({ node }) => !strangers.has(node))
  const known = new Set([...(record.voters ?? []), ...ours.flatMap(({ etcd }) => votersIn(etcd))])
  const lacking = ({ etcd }: EtcdAnswer) => {
    const listed = new Set(etcd.members.map(({ name }) => nodeOfMember(name)))
    return [...known].filter((node) => !listed.has(node))
  }
  const credible = ours.filter((answer) => lacking(answer).length < majority(known.size))
  for (const answer of ours) {
    if (!credible.includes(answer))
      strangers.set(answer.node, `its etcd does not know ${lacking(answer).join(', ')}, which hold a majority`)
  }
  const leading = credible.filter(({ etcd }) => etcd.self !== undefined && etcd.self === etcd.leader)
  const disagree = new Set(leading.map(({ etcd }) => [...votersIn(etcd)].sort().join(' '))).size > 1
  const [best = credible[0]] = leading
  return {
    ...(best === undefined || disagree ? {} : { list: listOf(best) }),
    strangers: [...strangers].map(([node, why]) => ({ node, why })),
  }
}

function listOf({ etcd: { members, leader } }: EtcdAnswer): MemberList {
  return { members, ...(leader === undefined ? {} : { leader }) }
}

function votersIn({ members }: EtcdAnswer['etcd']): readonly string[] {
  return members.filter(({ learner, name }) => !learner && name !== '').map(({ name }) => nodeOfMember(name))
}

/** `s3` of `s3-4a13e2cb`: K3s adds eight digits to a node's name. */
export function nodeOfMember(name: string): string {
  return name.replace(/-[0-9a-f]{8}$/, '')
}

function short(caHash: string): string {
  return caHash.slice(0, 12)
}
