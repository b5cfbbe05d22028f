import type { Shell } from '../../lib/shell.ts'
import type { Connection } from '../../model/connection.ts'
import { Secret } from '../../model/secret.ts'
import type { LoadSample } from '../../model/survey.ts'
import { type DriverDeps, LookFailed, type Session } from '../port.ts'
import { addressUse } from './address-use.ts'
import { openAgentShell } from './agent/shell.ts'
import { type Api, createApi } from './api.ts'
import { cleanText, countOf, recordsOf } from './foreign.ts'
import { observeListed, readList } from './lists.ts'
import { loginOf, openWireOf } from './login.ts'
import { observeGuest } from './observe-guest.ts'
import { perform } from './perform.ts'
import { powersOn } from './powers-on.ts'
import { performAsRoot } from './root-lane.ts'
import { seesEverything } from './sees-everything.ts'
import { createSitePower } from './site-power.ts'
import { snapshotsOf } from './snapshots.ts'
import { readSurvey } from './survey.ts'
import { endedTasks, recentTasks, taskOutcome } from './tasks.ts'

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
  return {
    survey: async (signal) => {
      const about = { doing: `look at ${connection.name}` }
      const [resources, tasks] = await Promise.all([
        api.read('/cluster/resources', about, signal),
        api.read('/cluster/tasks', about, signal),
      ])
      return readSurvey(connection.name, deps.clock.now(), resources, tasks)
    },
    list: (list, signal) => readList(api, connection.name, list, deps.clock.now(), signal),
    observe: async (sighting, ask, signal) => {
      if (sighting.list !== undefined) return observeListed(api, sighting, sighting.list, deps.clock.now(), signal)
      return unlessAbsent(() => observeGuest(api, sighting, ask, deps.clock.now(), signal))
    },
    addressUse: (host, addresses, signal) => addressUse(rootShell(connection, deps, host), host, addresses, signal),
    idIsFree: (externalId, signal) => idIsFree(api, externalId, signal),
    seesEverything: (signal) => seesEverything(api, signal),
    taskOutcome: (taskId, signal) => taskOutcome(api, taskId, signal),
    hosts: {
      powers: (host, signal) => powersOn(api, host, signal),
      endedTasks: (host, sinceMs, signal) => endedTasks(api, host, sinceMs, signal),
      recentTasks: (sighting, sinceMs, signal) => recentTasks(api, sighting, sinceMs, signal),
      load: (host, signal) => hostLoad(api, host, signal),
    },
    perform: (step, signal) =>
      step.lane === 'ssh'
        ? performAsRoot(step, () => rootShell(connection, deps, step.host), signal)
        : perform(api, deps, step, signal),
    snapshots: snapshotsOf(api, deps.clock),
    agent: { shell: (sighting) => openAgentShell(api, deps, sighting) },
    site: createSitePower(api),
    close: () => wire.close(),
  }
}

async function unlessAbsent<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof LookFailed && error.refusal.reason === 'NotFound') return undefined
    throw error
  }
}

/** Asks Proxmox itself, which knows also of what this token may not see. */
async function idIsFree(api: Api, externalId: string, signal: AbortSignal): Promise<boolean> {
  try {
    await api.read(
      `/cluster/nextid?vmid=${encodeURIComponent(externalId)}`,
      { doing: `ask whether id ${externalId} is free` },
      signal,
    )
    return true
  } catch (error) {
    if (error instanceof LookFailed && error.refusal.reason === 'IdTaken') return false
    throw error
  }
}

/** The averages of every minute, as the host keeps them. Without the right to see them nothing is known. */
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
    new LookFailed({ reason: 'TokenMissing', meaning: 'stalled', message, connectionWide: true })
  let value: string
  try {
    value = (await loginOf(connection, deps)).token
  } catch (error) {
    const why = cleanText(error instanceof Error ? error.message : 'unknown')
    throw refuse(`the token of connection ${connection.name} could not be read: ${why}`)
  }
  // A line break in here would begin a second header.
  if (!/^[^\s!=]+![^\s=]+=[^\s]+$/.test(value))
    throw refuse(`the token of connection ${connection.name} does not look like user@realm!name=secret`)
  return new Secret(value)
}
