import type { ClusterVerb } from '../../model/step.ts'
import type { Outcome } from '../../model/verdict.ts'
import { type Actor, refused } from './actor.ts'
import { deleteJoinToken, noteFormed } from './steps/after-join.ts'
import { initCluster, joinAgent, joinServer, prepareK3s, recordFirstServer } from './steps/bootstrap.ts'
import { configureK3s, upgradeK3s } from './steps/change.ts'
import { drain } from './steps/drain.ts'
import { runHealthCheck } from './steps/health-check.ts'
import { clearRemovedMark, cordon, uncordon } from './steps/node-marks.ts'
import { readBackSecrets } from './steps/read-back.ts'
import { deleteNode, deleteNodePassword, removeMember } from './steps/removal.ts'
import { restartK3s, snapshot, stopK3s, wipeStanding } from './steps/service.ts'

type Perform = (actor: Actor) => Promise<Outcome>

const notOurs: Perform = async ({ step }) =>
  refused('WrongDriver', 'stalled', `${step.do} is done by the driver of the machine`)

/** How each verb is done. Every one is short, and can be repeated. */
const STEPS: Readonly<Record<ClusterVerb, Perform>> = {
  'record-first-server': recordFirstServer,
  'note-formed': noteFormed,
  'delete-join-token': deleteJoinToken,
  'read-back-secrets': readBackSecrets,
  'create-machine': notOurs,
  'start-machine': notOurs,
  'stop-machine': notOurs,
  'restart-machine': notOurs,
  'destroy-machine': notOurs,
  'wipe-k3s': wipeStanding,
  'prepare-k3s': prepareK3s,
  'init-cluster': initCluster,
  'join-server': joinServer,
  'join-agent': joinAgent,
  'stop-k3s': stopK3s,
  'restart-k3s': restartK3s,
  cordon,
  drain,
  uncordon,
  'upgrade-k3s': upgradeK3s,
  'configure-k3s': configureK3s,
  'remove-member': removeMember,
  'clear-removed-mark': clearRemovedMark,
  'delete-node': deleteNode,
  'delete-node-password': deleteNodePassword,
  snapshot,
  'run-health-checks': runHealthCheck,
}

export function performStep(actor: Actor): Promise<Outcome> {
  return STEPS[actor.step.do](actor)
}
