import { cleanText } from '../../lib/clean-text.ts'
import { AgeKeyUnusable, RecordClosed } from '../../model/cluster.ts'
import type { ObservedCluster } from '../../model/observed-cluster.ts'
import type { ClusterVerb, Outcome } from '../../model/step.ts'
import type { ClusterDriver, ClusterSurroundings } from '../cluster-port.ts'
import { createAccess } from './access.ts'
import { examineNode } from './doctor.ts'
import { emptyMemory, noteTried } from './memory.ts'
import { refused, type StepContext } from './node-lane.ts'
import { observeCluster } from './observe.ts'
import { createOperator } from './operator.ts'
import { initCluster, joinAgent, joinServer, prepareK3s, recordFirstServer } from './steps/bootstrap.ts'
import { readBackSecrets, runHealthCheck } from './steps/health-check.ts'
import { labelNode } from './steps/label-node.ts'
import { clearRemovedMark, cordon, deleteJoinToken, drain, noteFormed, uncordon } from './steps/node-marks.ts'
import { putFiles } from './steps/put-files.ts'
import { configureK3s, deleteNode, deleteNodePassword, removeMember, rewriteK3s, upgradeK3s } from './steps/removal.ts'
import { restartK3s, snapshot, stopK3s, wipeStopped } from './steps/service.ts'

/** Creates the driver for K3s clusters: their API, and croft's program on each node. */
export function createK3sDriver(): ClusterDriver {
  return {
    operate: createOperator,
    examine: examineNode,
    connect(declaration, deps) {
      const access = createAccess(declaration, deps)
      const looker = { declaration, deps, access, memory: emptyMemory() }
      return {
        async observe(surroundings, signal) {
          try {
            return await observeCluster(looker, surroundings, signal)
          } catch (error) {
            // The record is unreadable, or croft failed: then all is unknown, and nothing is done.
            const why = cleanText(whyOf(error))
            const reason = `${declaration.name} cannot be looked at: ${why}`
            return blind(surroundings, declaration.spec, { reason, allow: nextStep(error) })
          }
        },
        async perform(step, surroundings, signal) {
          try {
            const secrets = await deps.vault.read(declaration.name)
            const outcome = await performStep({ ...looker, step, surroundings, signal, secrets })
            if (step.node !== undefined && outcome.result === 'done') noteTried(looker.memory, step.node, step.verb)
            return outcome
          } catch (error) {
            const message = cleanText(error instanceof Error ? error.message : String(error))
            return { result: 'unclear', message: `${step.summary}: ${message}` }
          }
        },
        async kubernetes() {
          const secrets = await deps.vault.read(declaration.name)
          return secrets === undefined ? undefined : access.client(secrets)
        },
        close: () => access.close(),
      }
    },
  }
}

export const k3sDriver = { name: 'k3s', ...createK3sDriver() } as const

function whyOf(error: unknown): string {
  if (error instanceof RecordClosed) return error.reason
  return error instanceof Error ? error.message : String(error)
}

function nextStep(error: unknown): string {
  if (error instanceof RecordClosed) return error.next
  return error instanceof AgeKeyUnusable
    ? 'set SOPS_AGE_KEY_FILE to the file with the age key that this record was sealed for, then run croft plan again'
    : 'correct what the reason names, then run croft plan again; croft doctor examines each part'
}

function blind(
  { nodes, requests }: ClusterSurroundings,
  spec: {
    readonly servers: readonly { readonly name: string }[]
    readonly agents: readonly { readonly name: string }[]
  },
  why: { readonly reason: string; readonly allow: string },
): ObservedCluster {
  const servers = new Set(spec.servers.map(({ name }) => name))
  const names = new Set([...servers, ...spec.agents.map(({ name }) => name), ...nodes.keys()])
  return {
    api: 'unknown',
    // While unknown, the cluster counts as formed, so that croft never forms a second one.
    identity: { caHash: 'unknown', formed: true, recordedMs: 0 },
    nodes: [...names].map((name) => ({
      name,
      role: servers.has(name) ? 'server' : 'agent',
      machine: nodes.get(name)?.machine ?? { exists: 'unknown', power: 'unknown', ours: false },
      kube: 'unknown',
      k3s: 'unknown',
      passwordSecret: 'unknown',
    })),
    members: 'unknown',
    membershipChanged: 'unknown',
    snapshots: 'unknown',
    checks: [],
    // Tell a person why nothing happens.
    requests: { ...requests, hold: { guard: 'not-seen', ...why } },
  }
}

type PerformStep = (actor: StepContext) => Promise<Outcome>

const notOurs: PerformStep = async ({ step }) =>
  refused('WrongDriver', 'stalled', `${step.verb} is done by the driver of the machine`)

/** The implementation of each verb. Each is short and idempotent. */
const STEPS: Readonly<Record<ClusterVerb, PerformStep>> = {
  'record-first-server': recordFirstServer,
  'note-formed': noteFormed,
  'delete-join-token': deleteJoinToken,
  'read-back-secrets': readBackSecrets,
  'create-machine': notOurs,
  'start-machine': notOurs,
  'stop-machine': notOurs,
  'restart-machine': notOurs,
  'destroy-machine': notOurs,
  'wipe-k3s': wipeStopped,
  'prepare-k3s': prepareK3s,
  'init-cluster': initCluster,
  'join-server': joinServer,
  'join-agent': joinAgent,
  'stop-k3s': stopK3s,
  'restart-k3s': restartK3s,
  'rewrite-k3s': rewriteK3s,
  cordon,
  drain,
  uncordon,
  'upgrade-k3s': upgradeK3s,
  'configure-k3s': configureK3s,
  'remove-member': removeMember,
  'clear-removed-mark': clearRemovedMark,
  'delete-node': deleteNode,
  'delete-node-password': deleteNodePassword,
  'label-node': labelNode,
  'put-files': putFiles,
  snapshot,
  'run-health-checks': runHealthCheck,
}

/** Performs one step like the session, without counting its tries. */
export function performStep(actor: StepContext): Promise<Outcome> {
  return STEPS[actor.step.verb](actor)
}
