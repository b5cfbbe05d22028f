import { seedImage } from '../../cloudinit/image.ts'
import { withSecrets } from '../../cloudinit/secrets.ts'
import { LIMITS } from '../../lib/limits.ts'
import { neighbourProbe, readNeighbours } from '../../lib/neighbour-probe.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import { nameOfReference } from '../../model/desired-secrets.ts'
import type { Connection } from '../../model/estate.ts'
import { type AddressUse, type LoadSample, type PowerState, usedNear } from '../../model/resource.ts'
import { Secret, type SecretReference } from '../../model/secret.ts'
import type { Outcome, Step, StepOver } from '../../model/step.ts'
import { type DriverDeps, ObservationFailed, type Session, type SitePower } from '../port.ts'
import { openAgentShell } from './agent/shell.ts'
import { type Api, createApi } from './api.ts'
import { createBridgeLook } from './bridges.ts'
import { consoleOf } from './console.ts'
import { cleanText, countOf, isRecord, nameOf, recordsOf } from './foreign.ts'
import { observeListed, readList } from './lists.ts'
import { loginOf, openWireOf } from './login.ts'
import { createNodeAddresses } from './node-addresses.ts'
import { observeGuest } from './observe-guest.ts'
import { performAsRoot } from './root-lane.ts'
import { snapshotsOf } from './snapshots.ts'
import { powerState, readSurvey } from './survey.ts'
import { endedTasks, recentTasks, taskOutcome } from './tasks.ts'
import { uploadFile } from './upload.ts'

/** An open connection to one Proxmox cluster or host. */
export function openSession(connection: Connection, deps: DriverDeps): Session {
  const wire = openWireOf(connection, deps)
  let token: Promise<Secret> | undefined
  const api = createApi({
    wire,
    clock: deps.clock,
    reads: connection.limits.reads,
    token: () => {
      token ??= resolveToken(connection, deps).catch((error: unknown) => {
        token = undefined
        throw error
      })
      return token
    },
    forgetToken: () => {
      token = undefined
    },
  })
  const nodeAddresses = createNodeAddresses(api, deps.clock)
  const bridges = createBridgeLook(api, deps.clock)
  const takeSurvey = async (signal: AbortSignal) => {
    const about = { doing: `look at ${connection.name}` }
    const [resources, tasks] = await Promise.all([
      api.read('/cluster/resources', about, signal),
      api.read('/cluster/tasks', about, signal),
    ])
    return readSurvey(connection.name, deps.clock.now(), resources, tasks)
  }
  return {
    survey: (signal, wanted = []) => bridges.look(() => takeSurvey(signal), wanted, signal),
    list: (list, signal) => readList(api, connection.name, list, deps.clock.now(), signal),
    observe: async (observed, ask, signal) => {
      if (observed.list !== undefined) return observeListed(api, observed, observed.list, deps.clock.now(), signal)
      return bridges.saw(await unlessAbsent(() => observeGuest(api, observed, ask, deps.clock.now(), signal)), signal)
    },
    addresses: {
      inUse: async (host, addresses, signal) => [
        ...(await nodeAddresses(signal)).filter(({ address }) => addresses.includes(address)),
        ...(await addressUse(rootShell(connection, deps, host), host, addresses, signal)),
      ],
    },
    idIsFree: (externalId, signal) => idIsFree(api, externalId, signal),
    seesEverything: (signal) => seesEverything(api, signal),
    taskOutcome: (taskId, signal) => taskOutcome(api, taskId, signal),
    hosts: {
      powers: (host, signal) => powersOn(api, host, signal),
      endedTasks: (host, sinceMs, signal) => endedTasks(api, host, sinceMs, signal),
      recentTasks: (observed, sinceMs, signal) => recentTasks(api, observed, sinceMs, signal),
      load: (host, signal) => hostLoad(api, host, signal),
    },
    perform: (step, signal) =>
      step.lane === 'rest'
        ? perform(api, deps, step, signal)
        : performAsRoot(step, () => rootShell(connection, deps, step.host), signal),
    console: consoleOf(connection.endpoint, api, deps.clock),
    snapshots: snapshotsOf(api, deps.clock),
    agent: { shell: (observed) => openAgentShell(api, deps, observed) },
    uploads: { put: (file, signal) => uploadFile(api, file, signal) },
    site: createSitePower(api),
    close: () => wire.close(),
  }
}

async function unlessAbsent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof ObservationFailed && error.refusal.reason === 'NotFound') return undefined
    throw error
  }
}

/** Asks Proxmox itself, which also knows what this token may not see. */
async function idIsFree(api: Api, externalId: string, signal: AbortSignal): Promise<boolean> {
  try {
    await api.read(
      `/cluster/nextid?vmid=${encodeURIComponent(externalId)}`,
      { doing: `ask whether id ${externalId} is free` },
      signal,
    )
    return true
  } catch (error) {
    if (error instanceof ObservationFailed && error.refusal.reason === 'IdTaken') return false
    throw error
  }
}

/** Returns the host's averages per minute. Empty without permission. */
async function hostLoad(api: Api, host: string, signal: AbortSignal): Promise<readonly LoadSample[]> {
  const path = `/nodes/${encodeURIComponent(host)}/rrddata?timeframe=hour&cf=AVERAGE`
  const data = await api.read(path, { doing: `ask how busy ${host} was`, host }, signal)
  return recordsOf(data).flatMap((entry) => {
    const seconds = countOf(entry.time)
    const load = countOf(entry.cpu)
    return seconds === undefined || load === undefined ? [] : [{ atMs: seconds * 1000, load }]
  })
}

function rootShell({ hosts }: Connection, { openShell }: DriverDeps, host: string): Shell | undefined {
  const target = hosts !== undefined && Object.hasOwn(hosts, host) ? hosts[host] : undefined
  return target === undefined ? undefined : openShell?.(target)
}

async function resolveToken(connection: Connection, deps: DriverDeps): Promise<Secret> {
  const refuse = (message: string) =>
    new ObservationFailed({ reason: 'TokenMissing', meaning: 'stalled', message, connectionWide: true })
  let value: string
  try {
    value = (await loginOf(connection, deps)).token
  } catch (error) {
    const why = cleanText(error instanceof Error ? error.message : 'unknown')
    throw refuse(`the token of connection ${connection.name} could not be read: ${why}`)
  }
  // A line break here would start a second header.
  if (!/^[^\s!=]+![^\s=]+=[^\s]+$/.test(value))
    throw refuse(`the token of connection ${connection.name} does not look like user@realm!name=secret`)
  return new Secret(value)
}

/**
 * Reports whether the token sees all guests: Proxmox hides what a token may not see. With VM.Audit on /vms and below,
 * only a guest with an explicit denial is hidden, and its id is refused at creation.
 */
async function seesEverything(api: Api, signal: AbortSignal): Promise<boolean> {
  const held = await api.read('/access/permissions?path=%2Fvms', { doing: 'ask what the token may see' }, signal)
  const here = isRecord(held) ? held['/vms'] : undefined
  return isRecord(here) && Number(here['VM.Audit']) === 1
}

/** The host reads its own processes for this list: unlike the survey it is not cached. */
async function powersOn(api: Api, host: string, signal: AbortSignal): Promise<ReadonlyMap<string, PowerState>> {
  const about = { doing: `list the VMs of ${host}`, host }
  const data = await api.read(`/nodes/${encodeURIComponent(host)}/qemu`, about, signal)
  return new Map(
    recordsOf(data).flatMap((entry) => {
      const id = nameOf(entry.vmid)
      return id === undefined ? [] : [[id, powerState(entry.status)] as const]
    }),
  )
}

/** Returns who uses these addresses on a node's networks, if its root lane is declared. */
async function addressUse(
  shell: Shell | undefined,
  host: string,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<readonly AddressUse[]> {
  if (shell === undefined) return []
  try {
    const { stdout } = await shell.run(neighbourProbe(addresses), { signal, timeoutMs: LIMITS.addressProbeMs })
    return usedNear(host, readNeighbours(stdout, addresses))
  } catch (error) {
    // A node that cannot be asked must not stop the creation of others.
    if (!(error instanceof ShellFailure)) throw error
    return []
  } finally {
    await shell.close()
  }
}

/** Hosts and HA of a Proxmox cluster. */
function createSitePower(api: Api): SitePower {
  const write = (path: string, params: Readonly<Record<string, string>>, doing: string, signal: AbortSignal) =>
    api.write({ method: 'POST', path, params }, new Map(), { doing }, signal)
  return {
    async highAvailability(signal) {
      try {
        const about = { doing: 'look at HA' }
        const rows = recordsOf(await api.read('/cluster/ha/status/current', about, signal))
        const fencing = rows.find(({ type }) => type === 'fencing')
        const state = fencing?.['armed-state']
        // Before 9.2 it cannot be disarmed, and reports no state.
        if (typeof state !== 'string') return 'none'
        if (state === 'disarming' || state === 'disarmed') return state
        return rows.some(({ type }) => type === 'service') ? 'armed' : 'none'
      } catch (error) {
        if (error instanceof ObservationFailed) return 'unknown'
        throw error
      }
    },
    switchHighAvailability: (armed, signal) =>
      armed
        ? write('/cluster/ha/status/arm-ha', {}, 'arm HA', signal)
        : // Not `freeze`: then a guest that HA looks after could not be stopped by anybody.
          write('/cluster/ha/status/disarm-ha', { 'resource-mode': 'ignore' }, 'disarm HA', signal),
    shutDownHost: (host, signal) =>
      write(`/nodes/${encodeURIComponent(host)}/status`, { command: 'shutdown' }, `shut the host ${host} down`, signal),
  }
}

/** Makes a step's call. Resolves its secrets only now, so that no plan contains them. */
async function perform(api: Api, deps: DriverDeps, step: StepOver<'rest'>, signal: AbortSignal): Promise<Outcome> {
  const secrets = new Map<string, Secret>()
  for (const name of step.secretParams ?? []) {
    try {
      const secret = await deps.resolveSecret(JSON.parse(step.call.params[name] ?? '') as SecretReference)
      secrets.set(name, new Secret(secret.word()))
    } catch (error) {
      return secretMissing(step, name, error)
    }
  }
  const guest = /\/(?:qemu|lxc)\/(\d+)/.exec(step.call.path)?.[1] ?? step.call.params.vmid
  const about = { doing: step.summary, host: step.host, ...(guest === undefined ? {} : { guest }) }
  if (step.upload === undefined) return api.write(step.call, secrets, about, signal)
  const document = step.upload.document.reveal()
  let bytes: Uint8Array
  try {
    const resolve = async (reference: SecretReference) => {
      const secret = await deps.resolveSecret(reference)
      // Proxmox's answer is masked with every sent secret.
      secrets.set(nameOfReference(reference), secret)
      return secret
    }
    bytes = seedImage(await withSecrets(document, resolve))
  } catch (error) {
    return secretMissing(step, 'what it reads at first boot', error)
  }
  return api.write(step.call, secrets, about, signal, { name: step.upload.fileName, bytes })
}

function secretMissing(step: Step, what: string, error: unknown): Outcome {
  const why = cleanText(error instanceof Error ? error.message : 'unknown')
  const message = `could not ${step.summary}: the secret for ${what} could not be read: ${why}`
  return { result: 'refused', refusal: { reason: 'SecretMissing', meaning: 'stalled', message } }
}
