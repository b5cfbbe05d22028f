import { cleanText } from '../../../lib/clean-text.ts'
import { inTime } from '../../../lib/in-time.ts'
import { LIMITS } from '../../../lib/limits.ts'
import { commandAnswer, type Probe, type ProbeAnswer, unanswered, withTarget } from '../../../model/health-check.ts'
import type { Outcome } from '../../../model/step.ts'
import { recoverSecrets } from '../make-secrets.ts'
import { DONE, nodeName, refused, type StepContext } from '../node-lane.ts'
import { readNode } from '../read-node.ts'

/**
 * Runs one user's check once and stores its answer. A failing check is an answer too; the planner decides about the
 * rollout.
 */
export async function runHealthCheck(actor: StepContext): Promise<Outcome> {
  const { step, declaration, memory, deps } = actor
  const name = step.target ?? ''
  const check = declaration.healthChecks?.[name]
  if (check === undefined) return refused('NoCheck', 'stalled', `there is no check ${name}`)
  const answer = await inTime<ProbeAnswer>(
    check.timeoutMs,
    deps.clock,
    actor.signal,
    (signal) => answerTo({ ...actor, signal }, check.probe).catch(unanswered),
    () => ({ passed: 'no', output: `no answer within ${check.timeoutMs} ms` }),
  )
  const { passed, output } = withTarget(check.probe, answer)
  const said = cleanText(output, LIMITS.shownValueLength)
  memory.checks.set(name, { name, passed, output: said, atMs: deps.clock.now() })
  return DONE
}

/** Asks through the cluster's lanes if the probe is about one of its nodes, else in any way that the engine has. */
async function answerTo(actor: StepContext, probe: Probe): Promise<ProbeAnswer> {
  const { declaration, surroundings, deps, signal } = actor
  const reach = probe.ask === 'command' ? surroundings.nodes.get(probe.on) : undefined
  if (probe.ask === 'command' && reach !== undefined) {
    if (reach.shell === undefined) return { passed: 'unknown', output: `no way into ${probe.on} is known` }
    const { code, stdout, stderr } = await reach.shell.run(probe.run, { signal })
    return commandAnswer(code, stdout, stderr)
  }
  if (probe.ask === 'cluster' && probe.cluster === declaration.name) return nodesReady(actor)
  if (deps.ask === undefined) return { passed: 'unknown', output: 'this process cannot run such a check' }
  return deps.ask(probe, signal)
}

async function nodesReady({ access, secrets, signal }: StepContext): Promise<ProbeAnswer> {
  const asked = secrets === undefined ? undefined : await access.nodes(secrets, signal)
  if (asked?.api !== 'yes') return { passed: 'no', output: 'its API does not answer' }
  const unready = asked.nodes.flatMap((object) => {
    const node = readNode(object)
    return node === undefined || node.kube.ready === 'yes' ? [] : [node.name]
  })
  if (unready.length === 0) return { passed: 'yes', output: 'all nodes are ready' }
  return { passed: 'no', output: `not ready: ${unready.join(', ')}` }
}

/**
 * Reads CA and token of a running cluster from the disk of a server into the vault. Only without a record, and only of
 * the cluster that the plan named.
 */
export async function readBackSecrets(actor: StepContext): Promise<Outcome> {
  const { declaration, deps, step, surroundings, signal } = actor
  if (actor.secrets !== undefined) return DONE
  const name = nodeName(actor)
  const shell = surroundings.nodes.get(name)?.shell
  if (shell === undefined) return { result: 'not-sent', message: `there is no way into ${name} at the moment` }
  const found = await recoverSecrets(shell, declaration.name, name, deps.clock.now(), signal)
  if ('problem' in found) return refused('NotReadBack', 'backoff', found.problem)
  if (step.target !== undefined && found.caHash !== step.target) {
    const message = `${name} is of another cluster than the plan named (${found.caHash.slice(0, 12)})`
    return refused('OtherCluster', 'backoff', message)
  }
  await deps.vault.write(found)
  return DONE
}
