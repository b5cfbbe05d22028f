import { LIMITS } from '../../lib/limits.ts'
import { PUT_BACK } from '../../model/observed-cluster.ts'
import type { Step } from '../../model/step.ts'
import {
  type ClusterFinding,
  firstOf,
  holdFor,
  isEmpty,
  merge,
  NOTHING,
  refusalOf,
  stepOn,
  waitFor,
} from './finding.ts'
import { begin, continueWork, giveBack } from './node-work.ts'
import { programsFirst } from './programs-first.ts'
import { serversWhole } from './removals.ts'
import { departure } from './replace.ts'
import {
  isAborted,
  type MovedNode,
  movedNode,
  movedServer,
  type Rollout,
  rolloutId,
  rolloutOf,
  type WantedChange,
  wantedChange,
} from './rollout.ts'
import { snapshotFirst } from './snapshot-first.ts'
import { type ClusterSituation, isWell, kubeOf, localOf, type NodeView, sleeps } from './view.ts'
import { nextOpening, windowOpen } from './windows.ts'

/** Uncordons every node with our mark for an aborted rollout, and no other. */
export function abortedWork(view: ClusterSituation): ClusterFinding {
  if (!isAborted(view)) return NOTHING
  return merge(
    underRollout([...view.servers, ...view.agents]).map((node) => giveBack(view, node, 'the rollout was aborted')),
  )
}

/**
 * Returns the next step of a rollout that started on this node. It finishes, also while paused, before others start.
 */
export function begunWork(view: ClusterSituation, node: NodeView): ClusterFinding {
  if (underRollout([node]).length === 0) return NOTHING
  return continueWork(view, node, wantedChange(view, node, rolloutOf(view))) ?? NOTHING
}

/** Returns steps for the next server of a rollout of version or flags; empty if all are as declared. */
export function nextServer(view: ClusterSituation): ClusterFinding {
  const rollout = rolloutOf(view)
  if (rollout.refusal !== undefined) return refusalOf({ guard: 'upgrade', ...rollout.refusal })
  const due = dueNodes(view, view.servers, rollout)
  // The leader last: it moves its leadership once instead of twice.
  const [node] = [...due].sort((a, b) => Number(a.member?.leader === true) - Number(b.member?.leader === true))
  const wanted = node === undefined ? undefined : wantedChange(view, node, rollout)
  if (node === undefined || wanted === undefined) return NOTHING
  const anew = view.spec.upgrade.method === 'replace' && wanted.purpose === 'upgrade'
  return firstOf([
    () => (anew ? NOTHING : addressKept(view, movedServer(view), OF_SERVER)),
    () => mayBegin(view, node, wanted, [...view.servers, ...view.agents], rolloutId(view.spec)),
    () => snapshotFirst(view, anew ? node : undefined),
    () =>
      anew
        ? departure(view, node, 'replace', `a new machine for ${wanted.target}`)
        : begin(view, node, wanted, reasonOf(node, wanted)),
  ])
}

const OF_SERVER = 'K3s does not start again with another address than etcd knows it by'
const OF_AGENT = 'its machine keeps the address that it was made with, and nothing would answer at the other'

function addressKept(view: ClusterSituation, moved: MovedNode | undefined, why: string): ClusterFinding {
  if (moved === undefined) return NOTHING
  const { name, known, declared } = moved
  return refusalOf({
    node: name,
    guard: 'address-moved',
    reason: `${name} is in the cluster as ${known} and is now declared with ${declared}: ${why}`,
    allow: `write address: ${known} for ${name} in Git, or give it a new machine with the new address: croft cluster replace ${view.spec.name} ${name}`,
  })
}

/**
 * Returns steps for the next agents of a rollout, up to the limit, once all servers are done. An agent with a changed
 * address is skipped and does not block the others.
 */
export function nextAgents(view: ClusterSituation): ClusterFinding {
  const rollout = rolloutOf(view)
  if (rollout.refusal !== undefined || dueNodes(view, view.servers, rollout).length > 0) return NOTHING
  const isAnew = (node: NodeView) =>
    view.spec.upgrade.method === 'replace' && wantedChange(view, node, rollout)?.purpose === 'upgrade'
  const due = dueNodes(view, view.agents, rollout)
  const stays = due.filter((node) => !isAnew(node) && movedNode(node) !== undefined)
  const kept = stays.map((node) => addressKept(view, movedNode(node), OF_AGENT))
  const free = due.filter((node) => !stays.includes(node))
  const room = view.spec.upgrade.agentsSurge - view.agents.filter((node) => kubeOf(node)?.work !== undefined).length
  if (room <= 0) return merge(kept)
  // A node that cannot download its program must not block the others.
  const fetching = free.map((node) => ({
    node,
    finding: programsFirst(view, wantedChange(view, node, rollout), [node]),
  }))
  const unready = fetching.filter(({ finding }) => !isEmpty(finding)).map(({ finding }) => finding)
  const next = fetching.filter(({ finding }) => isEmpty(finding)).map(({ node }) => node)
  const [first] = next
  const wantedFirst = first === undefined ? undefined : wantedChange(view, first, rollout)
  if (first === undefined || wantedFirst === undefined) return merge([...kept, ...unready])
  const held = mayBegin(view, first, wantedFirst, [first], rolloutId(view.spec))
  if (!isEmpty(held)) return merge([...kept, ...unready, held])
  return merge([
    ...kept,
    ...unready,
    ...next.slice(0, room).map((node) => {
      const wanted = wantedChange(view, node, rollout)
      if (wanted === undefined) return NOTHING
      return isAnew(node)
        ? departure(view, node, 'replace', `a new machine for ${wanted.target}`)
        : begin(view, node, wanted, reasonOf(node, wanted))
    }),
  ])
}

/**
 * Replaces a program on disk that neither runs nor is the rollout's next one by the running one: the next power cut
 * would start it unasked, and K3s cannot downgrade.
 */
export function programsBack(view: ClusterSituation): ClusterFinding {
  const rollout = rolloutOf(view)
  const strayed = [...view.servers, ...view.agents].filter((node) => {
    const [kube, local] = [kubeOf(node), localOf(node)]
    if (kube === undefined || kube.work !== undefined || !isWell(node) || node.spec === undefined) return false
    if (local?.configured !== true || local.service !== 'running' || local.version === undefined) return false
    return local.version !== kube.version && wantedChange(view, node, rollout)?.target !== local.version
  })
  return merge(
    strayed.map((node) => {
      const version = kubeOf(node)?.version ?? ''
      return stepOn(view, node, 'prepare-k3s', {
        version,
        target: PUT_BACK,
        summary: `put K3s ${version} back on ${node.name}`,
        reason: `${node.name} runs ${version}, and its next start would be with ${localOf(node)?.version}`,
        awaits: `the program on ${node.name}`,
      })
    }),
  )
}

function underRollout(nodes: readonly NodeView[]): readonly NodeView[] {
  return nodes.filter((node) => {
    const purpose = kubeOf(node)?.work?.purpose
    return purpose === 'upgrade' || purpose === 'configure' || purpose === 'restart'
  })
}

function dueNodes(view: ClusterSituation, nodes: readonly NodeView[], rollout: Rollout): readonly NodeView[] {
  return nodes.filter((node) => wantedChange(view, node, rollout) !== undefined)
}

function reasonOf(node: NodeView, wanted: { readonly purpose: string; readonly target: string }): string {
  return wanted.purpose === 'upgrade'
    ? `${node.name} runs ${kubeOf(node)?.version}, next is ${wanted.target}`
    : wanted.purpose === 'restart'
      ? `the machine of ${node.name} must be restarted for ${wanted.target}`
      : `${node.name} does not run with the declared flags`
}

/** Returns the conditions that still prevent work on a node. Empty if none. */
export function mayBegin(
  view: ClusterSituation,
  node: NodeView,
  wanted: WantedChange,
  fetching: readonly NodeView[],
  rollout: string,
): ClusterFinding {
  return firstOf([
    () => wishes(view, node, wanted.target, rollout),
    () => allWell(view),
    () => programsFirst(view, wanted, fetching),
    () => soaked(view),
    () => window(view),
    () => checked(view),
  ])
}

function wishes(view: ClusterSituation, node: NodeView, target: string, rollout: string): ClusterFinding {
  const { requests } = view.observed
  if (isAborted(view)) {
    return holdFor({
      guard: 'aborted',
      reason: `the rollout ${rollout} was aborted`,
      allow: `run croft cluster upgrade ${view.spec.name} --resume, or change the pin`,
    })
  }
  if (requests.rolloutPaused)
    return holdFor({
      guard: 'paused',
      reason: 'the rollout is paused',
      allow: `run croft cluster upgrade ${view.spec.name} --resume`,
    })
  const givenUp = kubeOf(node)?.drainGivenUp
  if (givenUp?.target !== target || (requests.resumedMs ?? 0) > givenUp.atMs) return NOTHING
  return holdFor({
    node: node.name,
    guard: 'drain',
    reason: `the drain of ${node.name} ran out of time and was given up`,
    allow: `make room for its pods and run croft cluster upgrade ${view.spec.name} --resume`,
  })
}

function allWell(view: ClusterSituation): ClusterFinding {
  const changed = [...view.servers, ...view.agents].filter(
    (node) => kubeOf(node)?.changedMs !== undefined && !sleeps(node),
  )
  const fallen = changed.find((node) => kubeOf(node)?.ready !== 'yes')
  const kube = fallen === undefined ? undefined : kubeOf(fallen)
  if (fallen !== undefined && kube !== undefined) {
    const minutes = Math.max(0, Math.round((kube.readySinceMs - (kube.changedMs ?? 0)) / 60_000))
    return holdFor({
      node: fallen.name,
      guard: 'soak',
      reason: `${fallen.name} turned NotReady ${minutes} min after it was changed${kube.readyReason === undefined ? '' : ` (${kube.readyReason})`}; the rollout pauses`,
      allow: `fix ${fallen.name}; the rollout continues when it has been healthy for the soak time`,
    })
  }
  if (serversWhole(view)) return NOTHING
  return holdFor({
    guard: 'servers',
    reason: 'not every declared server is in the cluster, voting and Ready',
    allow: 'wait until all are',
  })
}

function soaked(view: ClusterSituation): ClusterFinding {
  const untils = [...view.servers, ...view.agents].flatMap((node) => {
    const kube = kubeOf(node)
    if (kube === undefined || sleeps(node)) return []
    // An unchanged node soaks as well, from its creation.
    const sinceMs = kube.changedMs === undefined ? kube.createdMs : Math.max(kube.changedMs, kube.readySinceMs)
    return [{ node: node.name, sinceMs, untilMs: sinceMs + view.spec.upgrade.soakMs }]
  })
  const soaking = untils.filter(({ untilMs }) => untilMs > view.nowMs).sort((a, b) => b.untilMs - a.untilMs)[0]
  if (soaking === undefined) return NOTHING
  const minutes = Math.ceil(view.spec.upgrade.soakMs / 60_000)
  return waitFor({
    ...soaking,
    awaits: `${soaking.node} to stay healthy for ${minutes} min (upgrade.soak)`,
    soak: true,
  })
}

function window(view: ClusterSituation): ClusterFinding {
  const { windows } = view.spec.upgrade
  if (windowOpen(windows, view.nowMs)) return NOTHING
  const opens = nextOpening(windows, view.nowMs)
  return holdFor({
    guard: 'window',
    reason: `no maintenance window is open${opens === undefined ? ' and none ever opens' : ''}`,
    allow: opens === undefined ? 'declare another window' : `wait until ${new Date(opens).toISOString()}`,
  })
}

/** The user's checks, each passed since the last change. */
function checked(view: ClusterSituation): ClusterFinding {
  const { healthChecks } = view.spec.upgrade
  const changedMs = lastChange([...view.servers, ...view.agents])
  const findings = healthChecks.map((name): ClusterFinding => {
    const result = view.observed.checks.find((check) => check.name === name)
    const age = result === undefined ? Number.POSITIVE_INFINITY : view.nowMs - result.atMs
    const fresh = result !== undefined && result.atMs > changedMs && age <= LIMITS.healthCheckFreshMs
    if (fresh && result.passed === 'yes') return NOTHING
    const failed = result !== undefined && result.passed !== 'yes'
    const again = !fresh || age >= LIMITS.healthCheckAgainMs
    return merge([
      again ? { ...NOTHING, steps: [runCheck(view, name)] } : NOTHING,
      failed
        ? holdFor({
            guard: 'health-check',
            reason: `the check ${name} fails: ${result.output}`,
            allow: `fix what ${name} looks at, or take it out of upgrade.healthChecks`,
          })
        : NOTHING,
    ])
  })
  return merge(findings)
}

function runCheck(view: ClusterSituation, name: string): Step<'cluster'> {
  return {
    about: 'cluster',
    verb: 'run-health-checks',
    target: name,
    lane: 'local',
    summary: `run the check ${name}`,
    reason: 'it must pass before the next node is touched',
    awaits: `a result of ${name}`,
    sinceMs: view.nowMs,
  }
}

function lastChange(nodes: readonly NodeView[]): number {
  return Math.max(0, ...nodes.map((node) => kubeOf(node)?.changedMs ?? 0))
}
