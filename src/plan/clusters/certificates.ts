import { LIMITS } from '../../lib/limits.ts'
import { type ClusterFinding, holdFor, NOTHING } from './finding.ts'
import { type ClusterSituation, localOf } from './view.ts'

/**
 * Reports nodes whose certificates expire soon or have expired. This blocks nothing, but a person must act: K3s renews
 * them only at a start, so after a year without a restart a healthy cluster stops.
 */
export function certificatesEnding({ servers, agents, spec, nowMs }: ClusterSituation): ClusterFinding {
  const ends = [...servers, ...agents].flatMap((node) => {
    const { service, certificatesEndMs: endMs } = localOf(node) ?? {}
    return node.spec === undefined || service === 'absent' || endMs === undefined ? [] : [{ name: node.name, endMs }]
  })
  const soon = ends.filter(({ endMs }) => endMs - nowMs < LIMITS.certificatesEndMs).sort((a, b) => a.endMs - b.endMs)
  if (soon.length === 0) return NOTHING
  const said = soon.map(({ name, endMs }) => `of ${name} ${endMs <= nowMs ? 'ended' : 'end'} on ${dayOf(endMs)}`)
  return holdFor({
    guard: 'certificates',
    reason: `the certificates ${said.join(', ')}; K3s renews them only when it starts`,
    allow: soon.some(({ endMs }) => endMs <= nowMs)
      ? 'restart K3s there, one server after the other: systemctl restart k3s (k3s-agent on an agent)'
      : `croft cluster rotate ${spec.name} certificates`,
  })
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
