import { minorOf } from '../../k3s/version.ts'
import { defined } from '../../lib/defined.ts'
import { majority } from '../../lib/majority.ts'
import type { ClusterSpec, NodeSpec } from '../../model/cluster.ts'
import type { Policy } from '../../model/declaration.ts'
import { type LosingNode, losingData } from '../../model/destruction.ts'
import type { Loss } from '../../model/loss.ts'
import type { ClusterOperation, ObservedCluster, ObservedNode } from '../../model/observed-cluster.ts'
import type { Lane, LosingVerb, OperationVerb, Step } from '../../model/step.ts'
import { objectionTo } from '../guards/objection.ts'
import { quorum } from './quorum.ts'

type HarmlessVerb = Exclude<OperationVerb, LosingVerb>

export interface RestoreRequest {
  readonly snapshot: string
  /** Its file as the server that starts over reads it, or `s3://bucket/folder/name`. */
  readonly path: string
  readonly server: string
  /** First 12 digits of the hash of its password, if known. */
  readonly tokenHash?: string
  /** The release that took it, if known. */
  readonly version?: string
  /** A person says that the snapshot needs the current password. */
  readonly presentToken?: boolean
  /** What the cluster's policy permits. */
  readonly policy?: Pick<Policy, 'manage' | 'paused' | 'pausedUntil'>
  /** An Approval in Git names the cluster. */
  readonly approved?: boolean
  /** A person accepts a restore without a snapshot of the live data, since taking one fails. */
  readonly keepNothing?: boolean
}

/** Hashes of the known passwords, the current one first. */
export type KeptPasswords = readonly string[]

/**
 * Returns the steps of K3s's documented multi-server restore: save the live data in a snapshot, stop all servers,
 * restart one from the requested snapshot with the token of that snapshot, let the others drop their data and join
 * again, and delete leftover Nodes. Refuses what would fail halfway before anything stops.
 */
export function planRestore(
  spec: ClusterSpec,
  observed: ObservedCluster,
  kept: KeptPasswords,
  request: RestoreRequest,
): ClusterOperation {
  const first = spec.servers.find(({ name }) => name === request.server)
  const others = spec.servers.filter(({ name }) => name !== request.server)
  const refusals = [
    ...(first === undefined
      ? [{ reason: `${request.server} is not a server of ${spec.name}`, allow: serversSentence(spec) }]
      : []),
    ...policyRefusals(spec, request),
    ...tokenRefusals(kept, request),
    ...versionRefusals(spec, request),
    ...spec.servers.flatMap(({ name }) => reachRefusals(name, observed, name === request.server)),
  ]
  const name = `restore of ${spec.name} from ${request.snapshot}`
  if (first === undefined || refusals.length > 0) return { name, steps: [], refusals, warnings: [] }
  const password = request.tokenHash ?? kept[0] ?? ''
  const takesOld = password !== kept[0]
  const reachable = spec.servers.filter((node) => !isOff(observed, node.name))
  const steps: readonly Step<'operation'>[] = [
    hold(`${spec.name} is being restored from ${request.snapshot}`),
    // A person who restored the wrong snapshot or cluster can go back to this one.
    ...(keepsWhatLives(observed, request)
      ? [
          on(
            first,
            'snapshot',
            `take a snapshot of what ${spec.name} holds now`,
            'the snapshot on its disk',
            'job-done',
          ),
        ]
      : []),
    ...reachable.map((node) =>
      on(node, 'stop-k3s', `stop K3s on ${node.name}`, `K3s stopped on ${node.name}`, 'stopped'),
    ),
    ...(takesOld
      ? [local('take-password', `take the password back that opens ${request.snapshot}`, 'it written down', password)]
      : []),
    // Recreated machines have no K3s yet. Install it before the restore starts.
    ...reachable.filter((node) => lacksProgram(observed, node.name)).map((node) => installStep(spec, node)),
    on(first, 'write-files', `write token and configuration of ${first.name}`, 'both files on its disk'),
    {
      ...losing(
        first,
        'restore-snapshot',
        losingData(seenOf(observed, first.name), 'ordered'),
        `start ${first.name} over from ${request.snapshot}${request.path.startsWith('s3://') ? ', which K3s gets from S3' : ''}`,
        'K3s saying that the membership has been reset',
        'job-done',
      ),
      target: request.path,
    },
    on(first, 'start-k3s', `start K3s on ${first.name}`, 'the API answering', 'api-answers'),
    ...others
      .filter((node) => reachable.includes(node))
      .flatMap((node) => [
        losing(
          node,
          'forget-db',
          losingData(seenOf(observed, node.name), 'ordered'),
          `delete the data of etcd on ${node.name}`,
          `no etcd on ${node.name}`,
        ),
        on(node, 'write-files', `write token and configuration of ${node.name}`, 'both files on its disk'),
        on(node, 'start-k3s', `join ${node.name} again`, `${node.name} an etcd voter and Ready`, 'node-well'),
      ]),
    // A kubelet registers only at its start: if its Node or its CA is newer than the snapshot, it would never return by
    // itself. Its pods run on meanwhile.
    ...spec.agents
      .filter((node) => isOn(observed, node.name))
      .flatMap((node) => [
        on(node, 'write-files', `write token and configuration of ${node.name}`, 'both files on its disk'),
        on(node, 'restart-k3s', `restart K3s on ${node.name}`, `${node.name} Ready`, 'node-well'),
      ]),
    {
      about: 'operation',
      verb: 'delete-node',
      lane: 'object',
      summary: 'delete the undeclared Nodes of the snapshot that are not Ready and have no machine',
      awaits: 'no Node without a machine',
      until: 'nothing',
    },
    release(),
  ]
  return {
    name,
    steps,
    refusals: [],
    warnings: warningsOf(spec, observed, request),
    ...(request.approved === true ? {} : namingOf(spec, observed)),
  }
}

/** A restore of a running cluster is often a mistake, and a "yes" in a script proves no intention: ask for its name. */
function namingOf(spec: ClusterSpec, observed: ObservedCluster): Pick<ClusterOperation, 'naming'> {
  const running = whyRunning(spec, observed)
  if (running === undefined) return {}
  const reason = `${spec.name} runs (${running}), and the restore destroys what its servers hold`
  const allow = `say --confirm ${spec.name}, or list Cluster/${spec.name} under restores of an Approval`
  return { naming: { cluster: spec.name, reason, allow } }
}

/** Returns why the cluster counts as running. Unknown counts as running: a failed read must not cost data. */
function whyRunning(spec: ClusterSpec, observed: ObservedCluster): string | undefined {
  const { members, api } = observed
  if (members !== 'unknown') {
    const { held, up, voters } = quorum(members)
    return held ? `${up} of ${voters} members of etcd are up` : undefined
  }
  if (api === 'yes') return 'its API answers'
  const on = spec.servers.filter(({ name }) => isOn(observed, name)).length
  const most = spec.servers.length
  return on >= majority(most) ? `K3s runs on ${on} of ${most} servers` : undefined
}

function policyRefusals({ name }: ClusterSpec, { policy }: RestoreRequest): ClusterOperation['refusals'] {
  const objection = policy === undefined ? undefined : objectionTo({ key: `Cluster/${name}`, policy })
  return objection === undefined ? [] : [{ reason: objection.reason, allow: objection.allow }]
}

function lacksProgram(observed: ObservedCluster, name: string): boolean {
  const k3s = nodeOf(observed, name)?.k3s
  return typeof k3s === 'object' && k3s.version === undefined
}

function installStep(spec: ClusterSpec, node: NodeSpec): Step<'operation'> {
  const summary = `install K3s ${spec.version} on ${node.name}`
  return { ...on(node, 'install-k3s', summary, 'the program in place', 'job-done'), target: spec.version }
}

function tokenRefusals(
  kept: KeptPasswords,
  { snapshot, tokenHash, presentToken }: RestoreRequest,
): ClusterOperation['refusals'] {
  if (kept.length === 0) {
    return [
      {
        reason: `no token of this cluster is kept: ${snapshot} cannot be opened`,
        allow: 'recover the record from a server first',
      },
    ]
  }
  if (tokenHash === undefined) {
    if (presentToken === true) return []
    return [
      {
        reason: `it is not known which token ${snapshot} was taken with`,
        allow:
          'say --present-token if the token has not been rotated since; a wrong one makes the restore fail after the servers have stopped',
      },
    ]
  }
  if (kept.includes(tokenHash)) return []
  return [
    {
      reason: `${snapshot} was taken with a token (${tokenHash}) that croft does not have: it cannot be restored`,
      allow: 'choose a snapshot whose token is kept',
    },
  ]
}

/** The same or a newer minor can read the snapshot, an older one cannot. */
function versionRefusals(spec: ClusterSpec, { snapshot, version }: RestoreRequest): ClusterOperation['refusals'] {
  const [taken, pinned] = [version === undefined ? undefined : minorOf(version), minorOf(spec.version)]
  if (taken === undefined || pinned === undefined || pinned >= taken) return []
  return [
    { reason: `${snapshot} was taken by ${version}, and ${spec.version} is older`, allow: `pin ${version} or newer` },
  ]
}

/** A running server that cannot be stopped would continue with the old data beside the new cluster. */
function reachRefusals(name: string, observed: ObservedCluster, isFirst: boolean): ClusterOperation['refusals'] {
  const node = nodeOf(observed, name)
  if (isOff(observed, name)) {
    return isFirst ? [{ reason: `${name} is off, and the snapshot is on it`, allow: `start ${name}` }] : []
  }
  if (node !== undefined && node.k3s !== 'unknown') return []
  return [{ reason: `${name} cannot be reached to stop K3s on it`, allow: `make it reachable, or switch it off` }]
}

/** Reports whether to save the live data first: a cluster without an answer or quorum has nothing newer to save. */
function keepsWhatLives(observed: ObservedCluster, { server, keepNothing }: RestoreRequest): boolean {
  return observed.api === 'yes' && isOn(observed, server) && keepNothing !== true
}

function warningsOf(spec: ClusterSpec, observed: ObservedCluster, request: RestoreRequest): readonly string[] {
  const off = spec.servers.filter(({ name }) => isOff(observed, name))
  return [
    `everything that was written after ${request.snapshot} is lost${keepsWhatLives(observed, request) ? '; croft takes a snapshot of the current state first' : ''}`,
    ...off.map(({ name }) => `${name} is off: when it comes back croft wipes its data and it joins again`),
    ...(observed.api === 'yes' ? [`the cluster is running: its API is down during the restore`] : []),
  ]
}

export function hold(reason: string): Step<'operation'> {
  return local('hold', 'hold all other work of croft on the cluster', 'the hold recorded', reason)
}

export function release(): Step<'operation'> {
  return local('release', 'release the hold', 'the hold released')
}

export function local(verb: HarmlessVerb, summary: string, awaits: string, target?: string): Step<'operation'> {
  return defined({ about: 'operation', verb, lane: 'local', summary, awaits, until: 'nothing', target })
}

export function on(
  node: Pick<NodeSpec, 'name' | 'machine'>,
  verb: HarmlessVerb,
  summary: string,
  awaits: string,
  until: NonNullable<Step<'operation'>['until']> = 'nothing',
): Step<'operation'> {
  const lane: Lane = 'host' in node.machine ? 'node-program' : 'agent'
  return { about: 'operation', verb, node: node.name, lane, summary, awaits, until }
}

/** Creates a step that destroys K3s's data on a node: it lists the data that this command saw. */
export function losing(
  node: Pick<NodeSpec, 'name' | 'machine'>,
  verb: Extract<OperationVerb, LosingVerb>,
  { destroys }: { readonly destroys: Loss },
  summary: string,
  awaits: string,
  until: NonNullable<Step<'operation'>['until']> = 'nothing',
): Step<'operation'> {
  const lane: Lane = 'host' in node.machine ? 'node-program' : 'agent'
  return { about: 'operation', verb, node: node.name, lane, summary, awaits, until, destroys }
}

/** An unreachable agent is left alone: it returns, or is repaired as any other node. */
function isOn(observed: ObservedCluster, name: string): boolean {
  const k3s = nodeOf(observed, name)?.k3s
  return typeof k3s === 'object' && (k3s.service === 'running' || k3s.service === 'starting')
}

function isOff(observed: ObservedCluster, name: string): boolean {
  const machine = nodeOf(observed, name)?.machine
  return machine?.power === 'off' || machine?.exists === 'no'
}

function nodeOf(observed: ObservedCluster, name: string): ObservedNode | undefined {
  return observed.nodes.find((node) => node.name === name)
}

function seenOf(observed: ObservedCluster, name: string): LosingNode {
  return { name, k3s: nodeOf(observed, name)?.k3s ?? 'unknown' }
}

function serversSentence(spec: ClusterSpec): string {
  return `name one of ${spec.servers.map(({ name }) => name).join(', ')}`
}
