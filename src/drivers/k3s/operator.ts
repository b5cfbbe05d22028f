import { s3Lines, s3Location } from '../../k3s/backup-flags.ts'
import { CONFIG_FILE, configYaml } from '../../k3s/config.ts'
import { drillConfig } from '../../k3s/drill-config.ts'
import { tokenHash } from '../../k3s/token.ts'
import { segment } from '../../kubernetes/client.ts'
import { at, objectName, textOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { type ClusterSecrets, passwordsOf, RecordClosed, withPassword } from '../../model/cluster.ts'
import type { ClusterDeclaration } from '../../model/estate.ts'
import { Secret } from '../../model/secret.ts'
import type { OperationVerb, Outcome, Step } from '../../model/step.ts'
import type { ClusterDeps, ClusterOperator } from '../cluster-port.ts'
import { type Access, createAccess } from './access.ts'
import { copySnapshot } from './copy-snapshot.ts'
import { goalReached } from './goals.ts'
import { leaveNodes } from './leave.ts'
import { adminCredentials, password, recoverSecrets, renewAuthorities } from './make-secrets.ts'
import { emptyMemory } from './memory.ts'
import {
  askFactsOnly,
  askProgram,
  command,
  DONE,
  nodeName,
  outcomeOf,
  outcomeOfAsked,
  placeProgram,
  refused,
  type StepContext,
  specOf,
  withApi,
  withFacts,
  withShell,
} from './node-lane.ts'
import { observeCluster } from './observe.ts'
import { readNode } from './read-node.ts'
import { bootstrapToken } from './steps/bootstrap.ts'
import { agentFiles, caFiles, fileOf, placeOf, s3Credentials, serverFiles, tokenFiles } from './steps/node-files.ts'
import { takenInto } from './steps/present-token.ts'
import { installed, restartK3s, snapshot, stopK3s, wipeK3s } from './steps/service.ts'
import { storedBackups, tokenInFile } from './stored-backups.ts'

interface Operating extends StepContext {
  readonly operation: Step<'operation'>
}

type PerformOperation = (operating: Operating) => Promise<Outcome>

const nothing: PerformOperation = async () => DONE

const STEPS: Readonly<Record<OperationVerb, PerformOperation>> = {
  // The caller does this: requests are in the store, which drivers do not know.
  hold: nothing,
  release: nothing,
  'stop-k3s': stopK3s,
  'restart-k3s': restartK3s,
  'start-k3s': (operating) => runVerb(operating, 'start', { role: 'server' }),
  'write-files': writeFiles,
  'take-password': takePassword,
  'restore-snapshot': restoreSnapshot,
  'forget-db': (operating) => runVerb(operating, 'forget-db'),
  'delete-node': deleteVanished,
  snapshot,
  'make-password': makePassword,
  'rotate-token': rotateToken,
  'make-authorities': makeAuthorities,
  'rotate-ca': async (operating) =>
    operating.secrets === undefined
      ? missing()
      : runVerb(operating, 'rotate-ca', { files: caFiles(operating.secrets) }),
  'rotate-keys': (operating) => runVerb(operating, 'rotate-keys'),
  'renew-certificates': (operating) => runVerb(operating, 'renew-certificates'),
  'install-k3s': (operating) =>
    withFacts(operating, async (shell, facts) =>
      facts.cloudInit === 'running'
        ? refused('CloudInit', 'waiting', `cloud-init is still running on ${nodeName(operating)}`)
        : ((await installed(operating, shell, facts, operating.operation.target ?? '')) ?? DONE),
    ),
  'clear-drill': clearDrill,
  'copy-snapshot': copyOver,
  'write-drill-files': writeDrillFiles,
  'compare-objects': nothing,
  'wipe-k3s': wipeK3s,
}

/** After these K3s is a new process. */
const STARTING: ReadonlySet<OperationVerb> = new Set(['restart-k3s', 'start-k3s', 'renew-certificates'])

/** Performs people's orders. */
export function createOperator(
  declaration: ClusterDeclaration,
  deps: ClusterDeps,
  access: Access = createAccess(declaration, deps),
): ClusterOperator {
  const looker = { declaration, deps, access, memory: emptyMemory() }
  const startedMs = new Map<string, number>()
  return {
    async perform(operation, surroundings, signal) {
      if (STARTING.has(operation.verb)) startedMs.set(operation.node ?? '', deps.clock.now())
      try {
        const secrets = await deps.vault.read(declaration.name)
        return await STEPS[operation.verb]({
          ...looker,
          operation,
          step: asStep(operation),
          surroundings,
          signal,
          secrets,
        })
      } catch (error) {
        const message = cleanText(error instanceof Error ? error.message : String(error))
        return { result: 'unclear', message: `${operation.summary}: ${message}` }
      }
    },
    reached: (operation, surroundings, signal) =>
      goalReached(looker, operation, surroundings, signal, startedMs.get(operation.node ?? '')),
    async credentials(lifeMs) {
      const secrets = await deps.vault.read(declaration.name)
      return secrets === undefined ? undefined : adminCredentials(secrets, deps.clock.now(), lifeMs)
    },
    async backups(surroundings, signal) {
      return storedBackups(declaration, deps, surroundings, await deps.vault.read(declaration.name), signal)
    },
    tokenOf: (server, path, { nodes }, signal) => tokenInFile(declaration, nodes.get(server)?.shell, path, signal),
    leave: (surroundings, disks, signal) => leaveNodes(declaration, deps, surroundings, disks, signal),
    async recover(server, surroundings, signal) {
      const shell = surroundings.nodes.get(server)?.shell
      if (shell === undefined) return `there is no way into ${server}`
      const facts = await askFactsOnly(shell, signal)
      if (facts.is === 'answer' && facts.value.datastore === 'external')
        return `${server} keeps its data in an external datastore, which croft does not manage`
      const found = await recoverSecrets(shell, declaration.name, server, deps.clock.now(), signal)
      if ('problem' in found) return found.problem
      const there = await recordOf(deps, declaration.name)
      if (there !== undefined && there.caHash !== found.caHash) return `the record that is there is of another cluster`
      await deps.vault.write(there === undefined ? found : merged(there, found))
      return undefined
    },
  }
}

/** Returns the record if it can be opened. A sealed copy in Git without a key must not prevent reading back. */
async function recordOf({ vault }: ClusterDeps, cluster: string): Promise<ClusterSecrets | undefined> {
  try {
    return await vault.read(cluster)
  } catch (error) {
    if (error instanceof RecordClosed && error.kept === 'escrow') return undefined
    throw error
  }
}

/** Recorded values stay: no server has the roots' keys and older passwords. */
function merged(there: ClusterSecrets, found: ClusterSecrets): ClusterSecrets {
  return {
    ...found,
    firstServer: there.firstServer,
    files: new Map([...there.files, ...found.files]),
    formerPasswords: withPassword(there, found.password).formerPasswords,
  }
}

function asStep({ node, lane, summary, awaits }: Step<'operation'>): Step<'cluster'> {
  // Both use only the node and its lane.
  return defined({ about: 'cluster', verb: 'restart-k3s', lane, summary, reason: '', awaits, sinceMs: 0, node })
}

async function runVerb(operating: Operating, verb: Parameters<typeof command>[1], input?: unknown): Promise<Outcome> {
  return withShell(operating, async (shell) => {
    const answer = await command(shell, verb, operating.signal, input === undefined ? {} : { input })
    return answer.is === 'answer' ? DONE : outcomeOf(answer, operating.operation.summary)
  })
}

/** K3s gets what lies in a bucket itself, with keys that go along as input: there is no cluster yet that could hold them. */
async function restoreSnapshot(operating: Operating): Promise<Outcome> {
  const { operation, declaration } = operating
  const target = operation.target ?? ''
  if (!target.startsWith('s3://')) return runVerb(operating, 'restore', { snapshot: target })
  const to = declaration.spec.backup?.to
  const name = target.slice(target.lastIndexOf('/') + 1)
  if (to === undefined || !('s3' in to) || s3Location(to.s3, name) !== target)
    return refused('NotDeclared', 'stalled', `spec.backup of ${declaration.name} does not name the bucket of ${target}`)
  const lines = s3Lines(to.s3, await s3Credentials(operating))
  return runVerb(operating, 'restore', { snapshot: name, s3: Buffer.from(lines).toString('base64') })
}

async function writeFiles(operating: Operating): Promise<Outcome> {
  const [node, { secrets }] = [specOf(operating), operating]
  if (node === undefined || secrets === undefined) return missing()
  if (node.role === 'agent') {
    // Its join token is gone. With a new one it does not depend on its old certificate.
    const token = await bootstrapToken(operating, node.name, secrets)
    if (!(token instanceof Secret)) return token
    // Its Node stays Ready during a restart, which proves nothing about the token: this one expires by itself.
    operating.memory.tokens.delete(node.name)
    return runVerb(operating, 'put', { files: await agentFiles(operating, node, token) })
  }
  // Observe now which server it can join: after a restore there is only one.
  await observeCluster(operating, operating.surroundings, operating.signal)
  return runVerb(operating, 'put', { files: await serverFiles(operating, node, placeOf(operating, node), secrets) })
}

async function takePassword({ secrets, deps, operation }: Operating): Promise<Outcome> {
  if (secrets === undefined) return missing()
  const wanted = passwordsOf(secrets).find((one) => tokenHash(one.reveal()) === operation.target)
  if (wanted === undefined) return refused('NoToken', 'stalled', 'the token that opens the snapshot is not kept')
  await deps.vault.write(withPassword(secrets, wanted))
  return DONE
}

/** Recorded before K3s gets it. A password of an earlier run may have reached K3s, so it stays. */
async function makePassword({ secrets, deps }: Operating): Promise<Outcome> {
  if (secrets === undefined) return missing()
  if (secrets.pendingPassword === undefined)
    await deps.vault.write({ ...secrets, pendingPassword: password((count) => deps.randomBytes(count)) })
  return DONE
}

/** After a lost answer, if K3s on that server already shows the new password, it is not asked again. */
async function rotateToken(operating: Operating): Promise<Outcome> {
  const { secrets, deps, surroundings, signal } = operating
  const made = secrets?.pendingPassword
  if (secrets === undefined || made === undefined) return missing()
  const outcome = await runVerb(operating, 'rotate-token', { token: made.reveal() })
  if (outcome.result !== 'done') return outcome
  const shell = surroundings.nodes.get(nodeName(operating))?.shell
  await deps.vault.write(await takenInto(secrets, made, shell, signal))
  return DONE
}

async function makeAuthorities({ secrets, deps }: Operating): Promise<Outcome> {
  if (secrets === undefined) return missing()
  const renewed = renewAuthorities(secrets, deps.clock.now())
  if (renewed === undefined) {
    return refused(
      'NoRoots',
      'stalled',
      'the keys of the roots are not kept, because this record was read back from a server; a new root needs a new cluster',
    )
  }
  await deps.vault.write(renewed)
  return DONE
}

/** Deletes Nodes that the snapshot restored although they are undeclared, not Ready and without a machine. */
async function deleteVanished(operating: Operating): Promise<Outcome> {
  const { declaration, signal, access, secrets } = operating
  const declared = new Set([...declaration.spec.servers, ...declaration.spec.agents].map(({ name }) => name))
  if (secrets === undefined) return missing()
  const listed = await access.nodes(secrets, signal)
  if (listed.api !== 'yes') return { result: 'not-sent', message: listed.message }
  const steadyMs = operating.deps.clock.monotonicMs()
  const { unready } = operating.memory
  const away = listed.nodes.filter((node) => {
    const seen = readNode(node)
    if (seen === undefined || declared.has(seen.name)) return false
    // An undeclared agent that is still running keeps its Node.
    if (seen.kube.ready === 'yes' || reaches(operating, seen.name)) {
      unready.delete(seen.name)
      return false
    }
    unready.set(seen.name, unready.get(seen.name) ?? steadyMs)
    return true
  })
  const names = away.map((node) => objectName(node) ?? '')
  // After a restore a running agent takes a while to become Ready again, even if the snapshot has its Node as Ready.
  if (names.some((name) => steadyMs - (unready.get(name) ?? steadyMs) < LIMITS.vanishedNodeMs)) {
    const minutes = LIMITS.vanishedNodeMs / 60_000
    return refused('NotSeen', 'waiting', `gives ${names.join(', ')} ${minutes} min to become Ready again`)
  }
  return withApi(operating, async (client) => {
    for (const [index, node] of away.entries()) {
      const name = names[index] ?? ''
      const preconditions = defined({ uid: textOf(at(node, 'metadata', 'uid')) })
      const path = `/api/v1/nodes/${segment(name)}`
      const asked = await client.delete(path, `delete the Node ${name}`, { preconditions }, signal)
      const outcome = outcomeOfAsked(asked, 'is-success')
      if (outcome.result !== 'done') return outcome
    }
    return DONE
  })
}

function reaches({ surroundings }: Operating, name: string): boolean {
  const reach = surroundings.nodes.get(name)
  return reach?.shell !== undefined || reach?.machine.exists === 'yes'
}

async function copyOver(operating: Operating): Promise<Outcome> {
  const { operation, surroundings, signal, deps, memory } = operating
  const [name = '', path] = [operation.from, operation.target]
  const source = surroundings.nodes.get(name)?.shell
  if (source === undefined || path === undefined) return { result: 'not-sent', message: `there is no way into ${name}` }
  if (!memory.programs.has(name)) {
    const problem = await placeProgram(source, signal)
    if (problem !== undefined)
      return { result: 'not-sent', message: `could not copy croft's program to ${name}: ${problem}` }
    memory.programs.add(name)
  }
  const untilMs = deps.clock.monotonicMs() + LIMITS.snapshotCopyMs
  return withShell(operating, (shell) =>
    copySnapshot({
      from: { name, shell: source, path },
      to: { name: nodeName(operating), shell, path: operation.to ?? path },
      isLate: () => deps.clock.monotonicMs() >= untilMs,
      signal,
    }),
  )
}

/** The first line of a drill's configuration: data under it may be wiped. */
const DRILL_MARK = '# croft drill\n'

async function clearDrill(operating: Operating): Promise<Outcome> {
  return withFacts(operating, async (shell, facts) => {
    const name = nodeName(operating)
    if (facts.data === 'none' && facts.service === 'absent') return DONE
    const config = await shell.readFile(CONFIG_FILE, operating.signal)
    if (
      !Buffer.from(config ?? [])
        .toString('utf8')
        .startsWith(DRILL_MARK)
    ) {
      return refused(
        'NotOurs',
        'stalled',
        `${name} holds K3s (${facts.service}, data ${facts.data.slice(0, 12)}) that no drill left; name another machine, or wipe it`,
      )
    }
    return wipeK3s(operating)
  })
}

/** Includes the agents' token: without it the reset writes another list of users, and K3s cannot start. */
async function writeDrillFiles(operating: Operating): Promise<Outcome> {
  const { secrets, declaration, operation, signal } = operating
  if (secrets === undefined) return missing()
  return withShell(operating, async (shell) => {
    const asked = await askProgram(shell, ['token-of', operation.target ?? ''], signal)
    if (asked.is === 'silence') return outcomeOf(asked, operation.summary)
    // Without the snapshot's own token the current one is tried: the drill shows whether it opens it.
    const hash = asked.is === 'answer' ? asked.value.tokenHash : tokenHash(secrets.password.reveal())
    const opening = passwordsOf(secrets).find((one) => tokenHash(one.reveal()) === hash)
    if (opening === undefined) return refused('NoToken', 'stalled', 'the token that opens the backup is not kept')
    const config = configYaml(drillConfig(declaration.spec, nodeName(operating)))
    const files = [
      fileOf(CONFIG_FILE, `${DRILL_MARK}${config}`, 0o600),
      ...tokenFiles({ ...secrets, password: opening }),
    ]
    return runVerb(operating, 'put', { files })
  })
}

function missing(): Outcome {
  return refused(
    'NotRecorded',
    'stalled',
    'nothing is written down of this cluster; recover the record from a server first',
  )
}
