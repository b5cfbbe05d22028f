import { TOKEN_FILE } from '../../../k3s/config.ts'
import type { NodeFacts } from '../../../k3s/node-program.ts'
import { parseToken } from '../../../k3s/token.ts'
import { defined } from '../../../lib/defined.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'
import type { ClusterSecrets } from '../../../model/cluster.ts'
import { Secret } from '../../../model/secret.ts'
import type { Outcome } from '../../../model/step.ts'
import { command, nodeName, outcomeOf, type StepContext, specOf } from '../node-lane.ts'
import { tokenFiles } from './node-files.ts'

/** Where K3s notes the token that it runs with; a rotation rewrites it on the one server that was asked. */
const NOTED = '/var/lib/rancher/k3s/server/token'

/**
 * The token as it is at this moment, read from the servers that run or that cannot start for want of it: it may have been
 * rotated by a person. What is found is written down, with the former password kept for older snapshots.
 */
export async function presentSecrets(actor: StepContext, secrets: ClusterSecrets): Promise<ClusterSecrets> {
  const { declaration, surroundings, deps, memory, signal } = actor
  const { password, formerPasswords } = secrets
  const found = await Promise.all(
    declaration.spec.servers.map(async ({ name }) => {
      const shell = surroundings.nodes.get(name)?.shell
      const facts = memory.facts.get(name)?.facts
      const runs = facts?.service === 'running'
      if (shell === undefined || facts?.data !== secrets.caHash || (!runs && !lacksToken(facts))) return undefined
      const token = await tokenIn(shell, NOTED, signal)
      return token?.caHash === secrets.caHash ? { runs, password: token.password } : undefined
    }),
  )
  const noted = found.filter((one) => one !== undefined)
  const former = formerPasswords.map((one) => one.reveal())
  const present = passwordInForce(noted, password.reveal(), former)
  if (present === password.reveal()) return secrets
  const changed = {
    ...secrets,
    password: new Secret(present),
    formerPasswords: [password, ...formerPasswords.filter((one) => one.reveal() !== present)],
  }
  await deps.vault.write(changed)
  return changed
}

/** K3s ends at every start because the datastore is encrypted with another token than it was given. */
function lacksToken({ failure = '' }: NodeFacts): boolean {
  return failure.includes('encrypted with different token')
}

/**
 * Which password is in force, of those that servers have noted. The others learn of a rotation only when they are started
 * again, so one that was never recorded is newer than all that were, whichever server has it, running or not. Of those
 * that were recorded, only servers that run can say that another than the last is in force.
 */
export function passwordInForce(
  noted: readonly { readonly password: string; readonly runs: boolean }[],
  recorded: string,
  former: readonly string[],
): string {
  const unheard = noted.find(({ password }) => password !== recorded && !former.includes(password))
  if (unheard !== undefined) return unheard.password
  const running = noted.filter(({ runs }) => runs).map(({ password }) => password)
  return running.includes(recorded) ? recorded : (running[0] ?? recorded)
}

/**
 * Before a server is started again: the file that it takes its token from holds the present one. With an older one K3s
 * ends at every start. Undefined when nothing is in the way.
 */
export async function readyToken(
  actor: StepContext,
  shell: Shell,
  facts: Pick<NodeFacts, 'configHash'> | undefined,
): Promise<Outcome | undefined> {
  // One that somebody else set up has its token where we do not know.
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
