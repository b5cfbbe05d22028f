import { configHash } from '../../../k3s/config.ts'
import type { NodeSpec } from '../../../model/cluster.ts'
import { Secret } from '../../../model/secret.ts'
import type { Outcome } from '../../../model/verdict.ts'
import { command, DONE, nodeName, outcomeOf, refused, type StepContext, specOf, withFacts } from '../node-lane.ts'
import { bootstrapToken } from './bootstrap.ts'
import { agentFiles, configFiles, type FileToPut, placeOf, serverFiles } from './node-files.ts'
import { noteChange, noteConfig } from './node-marks.ts'
import { installed } from './service.ts'

/**
 * The new program is fetched and proved while the old one still runs. Only when it lies there is the change noted, and
 * K3s restarted: so the time without this node is the time of one restart.
 */
export async function upgradeK3s(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const { step, declaration } = actor
    const missing = await installed(actor, shell, facts, step.version ?? declaration.spec.version)
    if (missing !== undefined) return missing
    const noted = await noteChange(actor)
    if (noted.result !== 'done') return noted
    const told = await command(shell, 'restart', actor.signal)
    return told.is === 'answer' ? DONE : outcomeOf(told, `restart K3s on ${nodeName(actor)}`)
  })
}

/** Writes config.yaml and restarts with it. */
export async function configureK3s(actor: StepContext): Promise<Outcome> {
  return withFacts(actor, async (shell, facts) => {
    const name = nodeName(actor)
    const node = specOf(actor)
    if (node === undefined) return refused('NotDeclared', 'waiting', `${name} is no longer declared`)
    const files =
      facts.configHash === undefined ? await firstFiles(actor, node) : await configFiles(actor, node, placeOf(actor))
    if ('result' in files) return files
    const noted = await noteChange(actor)
    if (noted.result !== 'done') return noted
    const put = await command(shell, 'put', actor.signal, { input: { files } })
    if (put.is !== 'answer') return outcomeOf(put, `write the configuration of ${name}`)
    const told = await command(shell, 'restart', actor.signal)
    if (told.is !== 'answer') return outcomeOf(told, `restart K3s on ${name}`)
    // Lost, it is found again by comparing the file on the node.
    await noteConfig(actor, configHash(actor.declaration.spec, node))
    return DONE
  })
}

/**
 * Everything that config.yaml names, for a node that somebody else set up: K3s waits for ever for a token's file that is
 * not there.
 */
async function firstFiles(actor: StepContext, node: NodeSpec): Promise<readonly FileToPut[] | Outcome> {
  const { secrets } = actor
  if (secrets === undefined) return refused('NotRecorded', 'waiting', `CA and token of the cluster are not known yet`)
  if (node.role === 'server') return serverFiles(actor, node, placeOf(actor), secrets)
  const token = await bootstrapToken(actor, node.name, secrets)
  return token instanceof Secret ? agentFiles(actor, node, token) : token
}
