import { TOKEN_FILE } from '../../../k3s/config.ts'
import type { NodeFacts } from '../../../k3s/node-program.ts'
import { parseToken } from '../../../k3s/token.ts'
import { defined } from '../../../lib/defined.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import { type ClusterSecrets, withPassword } from '../../../model/cluster.ts'
import { Secret } from '../../../model/secret.ts'
import type { Outcome } from '../../../model/step.ts'
import { command, nodeName, outcomeOf, type StepContext, specOf } from '../node-lane.ts'
import { tokenFiles } from './node-files.ts'

/** K3s's file with its current token; a rotation rewrites it only on the server that was asked. */
const NOTED = '/var/lib/rancher/k3s/server/token'

/**
 * Returns the current token, read from servers that run, or that cannot start without it: a person may have rotated it,
 * or croft's own rotation ended before its record. Stores what it finds.
 */
export async function presentSecrets(actor: StepContext, secrets: ClusterSecrets): Promise<ClusterSecrets> {
  const { declaration, surroundings, deps, memory, signal } = actor
  const found = await Promise.all(
    declaration.spec.servers.map(async ({ name }) => {
      const shell = surroundings.nodes.get(name)?.shell
      const facts = memory.facts.get(name)?.facts
      const runs = facts?.service === 'running'
      if (shell === undefined || facts?.data !== secrets.caHash || (!runs && !lacksToken(facts))) return undefined
      const token = await tokenIn(shell, NOTED, signal)
      if (token?.caHash !== secrets.caHash) return undefined
      const refused = runs ? undefined : (await tokenIn(shell, TOKEN_FILE, signal))?.password
      return { password: token.password, runs, shell, ...defined({ refused }) }
    }),
  )
  const noted = found.filter((one) => one !== undefined)
  const present = passwordInForce(noted, secrets, declaration.spec.servers.length)
  if (present === secrets.password.reveal()) return secrets
  const shell = noted.find(({ password }) => password === present)?.shell
  const changed = await takenInto(secrets, new Secret(present), shell, signal)
  await deps.vault.write(changed)
  return changed
}

/** Returns the record with a password that K3s accepted, and with the agents' password beside it. */
export async function takenInto(
  secrets: ClusterSecrets,
  password: Secret,
  shell: Shell | undefined,
  signal: AbortSignal,
): Promise<ClusterSecrets> {
  const agentPassword = secrets.agentPassword ?? (await agentPasswordOn(shell, signal))
  return { ...withPassword(secrets, password), ...defined({ agentPassword }) }
}

/**
 * Returns the agents' password that K3s stores: it depends on the server's flags whether a rotation changed it. A
 * server with another one writes a list of users that is newer than the datastore's, and cannot start.
 */
async function agentPasswordOn(shell: Shell | undefined, signal: AbortSignal): Promise<Secret | undefined> {
  const bytes = await shell?.readFile('/var/lib/rancher/k3s/server/cred/passwd', signal)
  const lines = bytes === undefined ? [] : Buffer.from(bytes).toString('utf8').split('\n')
  const found = lines.map((line) => line.split(',')).find(([, user]) => user === 'node')?.[0]
  return found === undefined || found === '' ? undefined : new Secret(found)
}

/** Reports whether K3s fails at every start because its token does not match the datastore's encryption. */
function lacksToken({ failure = '' }: NodeFacts): boolean {
  return failure.includes('encrypted with different token')
}

/** A server's noted password, and the one that it was started with if it fails because of it. */
interface NotedPassword {
  readonly password: string
  readonly runs: boolean
  readonly refused?: string
}

/**
 * Returns the current password among those noted by servers. Other servers learn of a rotation only at their next
 * start, so a password of a rotation, or an unrecorded one, is newer than all others, whichever server has it, running
 * or not. A return to a former one counts only if all servers have it, or if a server fails because of the recorded
 * one: a restarting server may be the one with the newest.
 */
export function passwordInForce(
  noted: readonly NotedPassword[],
  {
    password,
    pendingPassword,
    formerPasswords,
  }: Pick<ClusterSecrets, 'password' | 'pendingPassword' | 'formerPasswords'>,
  servers: number,
): string {
  const [recorded, pending] = [password.reveal(), pendingPassword?.reveal()]
  if (pending !== undefined && noted.some((one) => one.password === pending)) return pending
  const former = formerPasswords.map((one) => one.reveal())
  const unheard = noted.find((one) => one.password !== recorded && !former.includes(one.password))
  if (unheard !== undefined) return unheard.password
  const isRefused = noted.some(({ refused }) => refused === recorded)
  if (isRefused && pending !== undefined) return pending
  const running = noted.filter(({ runs }) => runs).map((one) => one.password)
  if (running.includes(recorded) || (!isRefused && running.length < servers)) return recorded
  return running[0] ?? recorded
}

/**
 * Before a server's restart, writes the current token to its token file. With an older one K3s fails at every start.
 * Returns undefined if nothing prevents the start.
 */
export async function readyToken(
  actor: StepContext,
  shell: Shell,
  facts: Pick<NodeFacts, 'configHash'> | undefined,
): Promise<Outcome | undefined> {
  // A server that another tool set up may keep its token elsewhere.
  if (actor.secrets === undefined || specOf(actor)?.role !== 'server' || facts?.configHash === undefined)
    return undefined
  const present = await presentSecrets(actor, actor.secrets)
  const held = await tokenIn(shell, TOKEN_FILE, actor.signal)
  if (held === undefined || held.password === present.password.reveal()) return undefined
  const files = tokenFiles(present).filter(({ path }) => path === TOKEN_FILE)
  const put = await command(shell, 'put', actor.signal, { input: { files } })
  return put.is === 'answer' ? undefined : outcomeOf(put, `write the present token of ${nodeName(actor)}`)
}

async function tokenIn(
  shell: Shell,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly caHash?: string; readonly password: string } | undefined> {
  try {
    const bytes = await shell.readFile(path, signal)
    const token = bytes === undefined ? undefined : parseToken(Buffer.from(bytes).toString('utf8'))
    if (token === undefined || 'problem' in token || !('password' in token.credentials)) return undefined
    return defined({ password: token.credentials.password, caHash: token.caHash })
  } catch (error) {
    if (error instanceof ShellFailure) return undefined
    throw error
  }
}
