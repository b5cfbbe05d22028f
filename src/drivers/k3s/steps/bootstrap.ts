import type { NodeFacts, PutFiles, StartInput } from '../../../k3s/node-program.ts'
import { LIMITS } from '../../../lib/limits.ts'
import type { Shell } from '../../../lib/shell.ts'
import type { ClusterSecrets, NodeSpec } from '../../../model/cluster.ts'
import { FETCH_BESIDE, madeMs, PUT_BACK } from '../../../model/observed-cluster.ts'
import { Secret } from '../../../model/secret.ts'
import type { Outcome } from '../../../model/step.ts'
import { noteJoin } from '../join-tries.ts'
import { makeClusterSecrets } from '../make-secrets.ts'
import { isoTime } from '../marks.ts'
import {
  askFacts,
  command,
  DONE,
  nodeName,
  outcomeOf,
  outcomeOfAsked,
  type ProgramAnswer,
  placeProgram,
  refused,
  type StepContext,
  specOf,
  withApi,
  withFacts,
} from '../node-lane.ts'
import { agentFiles, caFiles, otherVoter, serverFiles, wholeSet } from './node-files.ts'
import { presentSecrets } from './present-token.ts'
import { installed } from './service.ts'

/** Creates CA and tokens and records them with the first server's name, in one write. */
export async function recordFirstServer(actor: StepContext): Promise<Outcome> {
  const { declaration, deps, secrets, step } = actor
  const firstServer = step.node
  if (firstServer === undefined) return refused('Invalid', 'stalled', 'no server is named')
  const nowMs = deps.clock.now()
  if (secrets !== undefined) {
    if (secrets.formed || secrets.firstServer === firstServer) return DONE
    // The CA stays: nothing has started with it that could contradict.
    await deps.vault.write({ ...secrets, firstServer, recordedMs: nowMs })
    return DONE
  }
  const found = await strangers(actor)
  if (found !== undefined) return found
  await deps.vault.write(
    makeClusterSecrets({
      cluster: declaration.name,
      firstServer,
      nowMs,
      randomBytes: (count) => deps.randomBytes(count),
    }),
  )
  return DONE
}

/**
 * Returns a refusal if a server holds data but has no record: the record was lost, or the server is foreign. With a new
 * CA it would look foreign, and a policy that wipes foreign data would then destroy a living cluster.
 */
async function strangers(actor: StepContext): Promise<Outcome | undefined> {
  const { declaration, surroundings, signal, deps } = actor
  for (const { name } of declaration.spec.servers) {
    const reach = surroundings.nodes.get(name)
    if (reach === undefined || reach.machine.exists === 'no' || reach.machine.power === 'off') continue
    const young = deps.clock.now() - (madeMs(reach.machine) ?? 0) < LIMITS.machineBootMs
    const reply = await asked(reach.shell, signal)
    if (reply.is === 'answer') {
      if (reply.value.data === 'none') continue
      return refused(
        'RecordMissing',
        'stalled',
        `${name} holds K3s data (${reply.value.data.slice(0, 12)}) and the record of ${declaration.name} is missing; if it is this cluster, run croft cluster recover ${declaration.name} --from ${name}, else wipe ${name}`,
      )
    }
    if (reach.machine.exists === 'yes' && !young) {
      const why = reply.is === 'silence' ? reply.message : reply.error
      const message = `waits to see that ${name} holds no data of an earlier ${declaration.name} before a new CA is made: ${why}`
      return refused('NotSeen', 'waiting', message)
    }
  }
  return undefined
}

async function asked(shell: Shell | undefined, signal: AbortSignal): Promise<ProgramAnswer<NodeFacts>> {
  if (shell === undefined) return { is: 'silence', ran: 'no', message: 'there is no way into it at the moment' }
  const problem = await placeProgram(shell, signal)
  if (problem === undefined) return askFacts(shell, signal)
  return { is: 'silence', ran: 'no', message: `croft's program could not be copied there: ${problem}` }
}

export function initCluster(actor: StepContext): Promise<Outcome> {
  const { declaration } = actor
  const mayBegin = ({ name }: NodeSpec, { formed, firstServer }: ClusterSecrets) =>
    formed || firstServer !== name
      ? refused('NotFirst', 'stalled', `${name} may not begin a new cluster ${declaration.name}`)
      : undefined
  return arrive(actor, mayBegin, async (shell, node, secrets) => {
    const files = [...caFiles(secrets), ...(await serverFiles(actor, node, 'first', secrets))]
    return putAndStart(actor, shell, wholeSet(actor, node, files), { role: 'server' })
  })
}

export function joinServer(actor: StepContext): Promise<Outcome> {
  return arrive(actor, undefined, async (shell, node, secrets) => {
    if (otherVoter(actor, node.name) === undefined)
      return refused('NoVoter', 'waiting', `no server that votes is known by its address for ${node.name} to join`)
    const current = await presentSecrets(actor, secrets)
    const files = await serverFiles(actor, node, 'member', current)
    return putAndStart(actor, shell, wholeSet(actor, node, files), { role: 'server' })
  })
}

export function joinAgent(actor: StepContext): Promise<Outcome> {
  return arrive(actor, undefined, async (shell, node, secrets) => {
    const token = await bootstrapToken(actor, node.name, secrets)
    if (!(token instanceof Secret)) return token
    const files = await agentFiles(actor, node, token)
    return putAndStart(actor, shell, wholeSet(actor, node, files), { role: 'agent' })
  })
}

/** Prepares a node before its configuration: checks that nothing on it prevents the join, and installs the program. */
function arrive(
  actor: StepContext,
  objection: ((node: NodeSpec, secrets: ClusterSecrets) => Outcome | undefined) | undefined,
  configure: (shell: Shell, node: NodeSpec, secrets: ClusterSecrets) => Promise<Outcome>,
): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const { secrets, step, declaration } = actor
    const node = specOf(actor)
    if (secrets === undefined || node === undefined)
      return refused('NotRecorded', 'waiting', 'nothing is written down yet')
    const before = objection?.(node, secrets) ?? existing(facts, secrets, node.name)
    if (before !== undefined) return before
    const missing = await installed(actor, shell, facts, step.version ?? declaration.spec.version)
    if (missing !== undefined) return missing
    const outcome = await configure(shell, node, secrets)
    if (outcome.result === 'done') noteJoin(actor, node, facts)
    return outcome
  })
}

/** Installs only the program, without configuration and start. */
export async function prepareK3s(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const { step, declaration } = actor
    const version = step.version ?? declaration.spec.version
    if (step.target === FETCH_BESIDE) return fetchBeside(actor, shell, facts, version)
    const moving = facts.service === 'running' || facts.service === 'starting'
    if (moving && step.target !== PUT_BACK) return DONE
    const closed = gateBefore(facts, nodeName(actor))
    if (closed !== undefined) return closed
    return (await installed(actor, shell, facts, version)) ?? DONE
  })
}

/** A refused download is recorded: the planner then starts no work with it and reports why. */
async function fetchBeside(actor: StepContext, shell: Shell, facts: NodeFacts, version: string): Promise<Outcome> {
  const { notFetched } = actor.memory
  const name = nodeName(actor)
  const outcome = (await installed(actor, shell, facts, version, 'beside')) ?? DONE
  if (outcome.result === 'refused')
    notFetched.set(name, { version, why: outcome.refusal.message, atMs: actor.deps.clock.monotonicMs() })
  else notFetched.delete(name)
  return outcome
}

/** Returns undefined if clean, or stopped with our own data. A joining K3s of croft's is left alone. */
function existing(facts: NodeFacts, { caHash }: ClusterSecrets, name: string): Outcome | undefined {
  const moving = facts.service === 'running' || facts.service === 'starting'
  if (moving && facts.configHash !== undefined && !facts.mixedCa && ['none', 'other', caHash].includes(facts.data))
    return DONE
  if (facts.mixedCa) {
    return refused('MixedCa', 'stalled', `${name} holds certificates of more than one CA; it does not join with them`)
  }
  if (facts.data !== 'none' && facts.data !== caHash) {
    return refused(
      'StaleState',
      'stalled',
      `${name} holds stale K3s state (${facts.data.slice(0, 12)}); it does not join with it`,
    )
  }
  if (facts.cloudInit === 'running') return refused('CloudInit', 'waiting', `cloud-init is still running on ${name}`)
  return gateBefore(facts, name) ?? underWay(facts)
}

/**
 * Returns a closed gate, before anything is downloaded or installed. The gate of the API comes after the node knows its
 * address.
 */
function gateBefore({ gates, service }: NodeFacts, name: string): Outcome | undefined {
  const [gate] = gates.filter((one) => one.name !== 'api')
  if (gate === undefined || service === 'running' || service === 'starting') return undefined
  return refused('Gate', 'waiting', `${name} waits at the gate ${gate.name}: ${gate.message}`)
}

function underWay(facts: NodeFacts): Outcome | undefined {
  return facts.service === 'running' || facts.service === 'starting' ? DONE : undefined
}

async function putAndStart(actor: StepContext, shell: Shell, files: PutFiles, input: StartInput): Promise<Outcome> {
  const name = nodeName(actor)
  const put = await command(shell, 'put', actor.signal, { input: files })
  if (put.is !== 'answer') return outcomeOf(put, `write the configuration of ${name}`)
  const start = await command(shell, 'start', actor.signal, { input })
  return start.is === 'answer' ? DONE : outcomeOf(start, `start K3s on ${name}`)
}

/** Returns a short-lived token for one agent. The server's own would let its holder join as a server. */
export async function bootstrapToken(
  actor: StepContext,
  node: string,
  secrets: ClusterSecrets,
): Promise<Secret | Outcome> {
  const { deps, memory, signal } = actor
  const [id, secret] = [letters(deps.randomBytes(6)), letters(deps.randomBytes(16))]
  let token: Secret | undefined
  const outcome = await withApi(actor, async (client) => {
    const asked = await client.create(
      '/api/v1/namespaces/kube-system/secrets',
      {
        apiVersion: 'v1',
        kind: 'Secret',
        type: 'bootstrap.kubernetes.io/token',
        metadata: { name: `bootstrap-token-${id}`, namespace: 'kube-system' },
        stringData: {
          description: `croft: for ${node} to join once`,
          'token-id': id,
          'token-secret': secret,
          expiration: isoTime(deps.clock.now() + LIMITS.bootstrapTokenMs).replace(/\.\d+Z$/, 'Z'),
          'usage-bootstrap-authentication': 'true',
          'usage-bootstrap-signing': 'true',
          'auth-extra-groups': 'system:bootstrappers:k3s:default-node-token',
        },
      },
      `make a token for ${node} to join with`,
      signal,
    )
    if (asked.is === 'answer') token = new Secret(`K10${secrets.caHash}::${id}.${secret}`)
    return outcomeOfAsked(asked)
  })
  if (token === undefined) return outcome
  memory.tokens.set(node, id)
  return token
}

/** 32 letters, so that each is equally likely for a byte. */
function letters(bytes: Uint8Array): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789'
  return [...bytes].map((byte) => alphabet[byte % alphabet.length]).join('')
}
