import type { Check } from '../../drivers/port.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import { judgeBackups } from '../../plan/clusters/backup.ts'
import { many } from '../render/problems.ts'

/** The result of a self-test step. */
export interface SelfTestResult {
  readonly result: 'ok' | 'warning' | 'failed' | 'not tried'
  readonly seen: string
  readonly details?: readonly string[]
}

/** Judges the checks of one machine: the first finding says what it is, the others are its problems. */
export function judgeChecks(checks: readonly Check[]): SelfTestResult {
  const levels = new Set(checks.map(({ level }) => level))
  const result = levels.has('wrong') ? 'failed' : levels.has('warning') ? 'warning' : 'ok'
  const [first, ...rest] = checks
  const details = [
    ...rest.flatMap(({ found, details = [], fix = [] }) => [found, ...details, ...fix.map((line) => `→ ${line}`)]),
    ...(first?.details ?? []),
  ]
  return { result, seen: first?.found ?? 'nothing was found out', ...(details.length === 0 ? {} : { details }) }
}

export function judgeApi({ api, identity }: Pick<ObservedCluster, 'api' | 'identity'>): SelfTestResult {
  if (api === 'yes') return { result: 'ok', seen: 'the Kubernetes API answers and accepts the cluster certificate' }
  if (identity?.formed !== true)
    return { result: 'failed', seen: 'the cluster does not exist yet', details: ['→ croft apply'] }
  return { result: 'failed', seen: 'the Kubernetes API does not answer', details: ['→ croft plan shows why'] }
}

/** Checks that each declared node is Ready and runs the declared release. */
export function judgeNodes(spec: ClusterSpec, { nodes }: Pick<ObservedCluster, 'nodes'>): SelfTestResult {
  const declared = [...spec.servers, ...spec.agents]
  const troubles = declared.flatMap(({ name }) => {
    const kube = nodes.find((one) => one.name === name)?.kube ?? 'absent'
    if (kube === 'absent') return [`${name} is not a node of the cluster`]
    if (kube === 'unknown') return [`${name} cannot be seen`]
    if (kube.ready !== 'yes') return [`${name} is not Ready: ${kube.readyMessage ?? kube.readyReason ?? kube.ready}`]
    return kube.version === spec.version ? [] : [`${name} runs ${kube.version} instead of ${spec.version}`]
  })
  if (troubles.length > 0)
    return {
      result: 'failed',
      seen: `${many(troubles.length, 'node')} of ${declared.length} not as declared`,
      details: troubles,
    }
  return { result: 'ok', seen: `${many(declared.length, 'node')} Ready with ${spec.version}` }
}

/** Checks that the servers with a vote are exactly the declared ones. */
export function judgeVotes(
  spec: ClusterSpec,
  { members, nodes }: Pick<ObservedCluster, 'members' | 'nodes'>,
): SelfTestResult {
  const wanted = spec.servers.length
  const fileOnly = nodes.some(({ k3s }) => k3s !== 'unknown' && k3s.datastore === 'sqlite')
  if (fileOnly)
    return {
      result: 'warning',
      seen: 'the only server keeps its data in SQLite: no second server can join, and nothing survives its loss',
    }
  if (members === 'unknown') return { result: 'failed', seen: 'the members of etcd cannot be seen' }
  const declared = new Set(spec.servers.map(({ name }) => name))
  const voting = members.filter(({ node, learner, up }) => declared.has(node) && !learner && up === 'yes')
  const troubles = [
    ...spec.servers.flatMap(({ name }) => {
      const member = members.find(({ node }) => node === name)
      if (member === undefined) return [`${name} is not a member of etcd`]
      if (member.learner) return [`${name} is a learner and has no vote yet`]
      return member.up === 'yes' ? [] : [`${name} has a vote and does not answer`]
    }),
    ...members.flatMap(({ node, name }) =>
      declared.has(node) ? [] : [`${name || 'a member without a name'} is not declared`],
    ),
  ]
  if (troubles.length > 0)
    return { result: 'failed', seen: `${voting.length} of ${wanted} servers vote`, details: troubles }
  const spare = Math.floor((wanted - 1) / 2)
  const seen = `${wanted} of ${wanted} servers vote; the cluster survives the loss of ${spare === 0 ? 'none' : spare}`
  return { result: spare === 0 ? 'warning' : 'ok', seen }
}

/** Checks that the newest backup can be restored with the stored secrets. */
export function judgeNewestBackup({ snapshots }: Pick<ObservedCluster, 'snapshots'>, nowMs: number): SelfTestResult {
  if (snapshots === 'unknown') return { result: 'failed', seen: 'the backups cannot be seen: the API does not answer' }
  const [newest] = judgeBackups(snapshots)
  if (newest === undefined)
    return {
      result: 'warning',
      seen: 'there is no backup',
      details: ['→ declare spec.backup, or run croft selftest --snapshot'],
    }
  const hours = Math.max(0, (nowMs - newest.atMs) / 3_600_000)
  const age = hours < 48 ? `${hours.toFixed(1)} h` : `${Math.round(hours / 24)} days`
  const result = newest.usable === 'yes' ? 'ok' : newest.usable === 'no' ? 'failed' : 'warning'
  return { result, seen: `${newest.name}, ${age} old: ${newest.reason}` }
}
