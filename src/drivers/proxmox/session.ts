import { seedImage } from '../../cloudinit/image.ts'
import { nameOf as nameOfSecret, secretsIn, withSecrets } from '../../cloudinit/secrets.ts'
import type { Shell } from '../../lib/shell.ts'
import type { Connection } from '../../model/connection.ts'
import type { LoadSample } from '../../model/placement.ts'
import { Secret, type SecretReference } from '../../model/secret.ts'
import type { Sighting } from '../../model/sighting.ts'
import type { Step } from '../../model/step.ts'
import type { RemoteTask } from '../../model/survey.ts'
import type { Outcome } from '../../model/verdict.ts'
import { type DriverDeps, LookFailed, type Session } from '../port.ts'
import { openAgentShell } from './agent/shell.ts'
import { type About, type Api, createApi } from './api.ts'
import { translate } from './api-errors.ts'
import { readAddresses, readConfig, readPending, withConfig } from './close-look.ts'
import { parseDiskList, parseFileList } from './file-list.ts'
import { cleanText, countOf, type Foreign, flagOf, isRecord, nameOf, recordsOf } from './foreign.ts'
import { parseProperties } from './property-string.ts'
import { isSettingList } from './rest/paths.ts'
import { readSettings } from './rest/read-settings.ts'
import { performAsRoot } from './root-lane.ts'
import { createSitePower } from './site-power.ts'
import { guestPath, storagePath } from './steps.ts'
import { powerState, readSurvey, readTask } from './survey.ts'
import { parseUpid } from './upid.ts'
import { insertedImage, isImageOf } from './vm/seed.ts'

/** An open connection to one Proxmox cluster or host. */
export function openSession(connection: Connection, deps: DriverDeps): Session {
  const wire = deps.openWire(connection)
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
    idIsFree: (externalId, signal) => idIsFree(api, externalId, signal),
    taskOutcome: (taskId, signal) => taskOutcome(api, taskId, signal),
    recentTasks: (sighting, sinceMs, signal) => recentTasks(api, sighting, sinceMs, signal),
    hostLoad: (host, signal) => hostLoad(api, host, signal),
    perform: (step, signal) =>
      step.lane === 'ssh'
        ? performAsRoot(step, () => rootShell(connection, deps, step.host), signal)
        : perform(api, deps, step, signal),
    shell: (sighting) => openAgentShell(api, deps, sighting),
    site: createSitePower(api),
    close: () => wire.close(),
  }
}

type SeenClosely = ReturnType<typeof withConfig>

async function observeGuest(
  api: Api,
  sighting: Sighting,
  ask: { readonly power?: boolean; readonly agent?: boolean },
  atMs: number,
  signal: AbortSignal,
): Promise<Sighting> {
  const { host, externalId } = sighting
  const type = sighting.type === 'container' ? 'container' : 'vm'
  const path = guestPath(host, type, externalId)
  const about = { doing: `look at ${type} ${externalId} on ${host}`, host, guest: externalId }
  // Only what runs can have changes that wait for a restart.
  const stopped = sighting.power === 'stopped'
  const data = await api.read(`${path}/${stopped ? 'config' : 'pending'}`, about, signal)
  const look = stopped ? readConfig(data) : readPending(data)
  if (look === undefined) {
    throw new LookFailed({
      reason: 'UnreadableAnswer',
      meaning: 'backoff',
      message: `could not ${about.doing}: the answer is no configuration`,
    })
  }
  let seen = withConfig(sighting, look, atMs)
  if (type === 'vm') seen = await withSeedImages(api, seen, signal)
  // Whether its image may be taken out is for the guest itself to say, and now.
  const reading = isReading(seen)
  if (ask.power || reading) {
    const status = await api.read(`${path}/status/current`, about, signal)
    const current = isRecord(status) ? status : {}
    const power = current.qmpstatus === 'paused' ? 'paused' : powerState(current.status)
    const uptimeSeconds = countOf(current.uptime)
    seen = { ...seen, ...(uptimeSeconds === undefined ? {} : { uptimeSeconds }), close: { ...seen.close, power } }
  }
  const running = (seen.close.power ?? seen.power) === 'running'
  if ((!ask.agent && !(reading && agentIsOn(seen.close.config))) || !running || type !== 'vm') return seen
  return { ...seen, close: { ...seen.close, ...(await askAgent(api, path, about, signal)) } }
}

function isReading({ mark, close }: SeenClosely): boolean {
  return mark?.seeding !== undefined && insertedImage(close.config, mark.uid) !== undefined
}

function agentIsOn(config: Foreign): boolean {
  const text = typeof config.agent === 'string' ? config.agent : ''
  return flagOf(parseProperties(text, 'enabled').get('enabled')) === true
}

/** While a seed is on its way, or its image still to be taken away, the storage that the mark names is looked at too. */
async function withSeedImages(api: Api, seen: SeenClosely, signal: AbortSignal): Promise<SeenClosely> {
  const { mark, host } = seen
  const storage = mark?.seeding?.storage ?? mark?.unseeding
  if (mark === undefined || storage === undefined) return seen
  const images = (await listImages(api, host, storage, signal)).filter(({ id }) => isImageOf(mark.uid, id))
  return { ...seen, close: { ...seen.close, seedImages: images } }
}

async function listImages(api: Api, host: string, storage: string, signal: AbortSignal) {
  const about = { doing: `list the images on ${storage} of ${host}`, host }
  try {
    const data = await api.read(`${storagePath(host, storage)}/content?content=iso`, about, signal)
    return recordsOf(data).flatMap((entry) => {
      const id = nameOf(entry.volid)
      return id === undefined ? [] : [{ id, bytes: countOf(entry.size) ?? 0 }]
    })
  } catch (error) {
    if (!(error instanceof LookFailed)) throw error
    // With the storage its images are gone.
    if (/storage '[^']*' does not exist/.test(error.message)) return []
    // "Not found" would be taken for the guest.
    const { refusal } = error
    throw refusal.reason === 'NotFound' ? new LookFailed({ ...refusal, reason: 'SeedStorageUnread' }) : error
  }
}

/** The agent's silence is an answer: it is down. Only when we may not ask at all is nothing known. */
async function askAgent(
  api: Api,
  path: string,
  about: About,
  signal: AbortSignal,
): Promise<{ agent?: 'up' | 'down'; addresses?: readonly string[] }> {
  try {
    const addresses = readAddresses(await api.read(`${path}/agent/network-get-interfaces`, about, signal))
    return addresses === undefined ? { agent: 'down' } : { agent: 'up', addresses }
  } catch (error) {
    if (!(error instanceof LookFailed) || error.refusal.connectionWide) throw error
    return error.refusal.reason === 'PermissionDenied' ? {} : { agent: 'down' }
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

const FILE_CONTENT = new Set(['iso', 'vztmpl', 'import', 'snippets'])

async function readList(
  api: Api,
  connection: string,
  list: string,
  atMs: number,
  signal: AbortSignal,
): Promise<readonly Sighting[]> {
  if (isSettingList(list)) return readSettings(api, connection, list, atMs, signal)
  const disks = parseDiskList(list)
  if (disks !== undefined) return readDisks(api, connection, list, disks, atMs, signal)
  const { host, storage } = parseFileList(list)
  const about = { doing: `list the files on ${storage} of ${host}`, host }
  const data = await api.read(`${storagePath(host, storage)}/content`, about, signal)
  return recordsOf(data).flatMap((entry): Sighting[] => {
    const externalId = nameOf(entry.volid)
    if (externalId === undefined || typeof entry.content !== 'string' || !FILE_CONTENT.has(entry.content)) return []
    const size = countOf(entry.size)
    const ctime = entry.content === 'snippets' ? countOf(entry.ctime) : undefined
    const config = {
      content: entry.content,
      ...(size === undefined ? {} : { size }),
      ...(ctime === undefined ? {} : { ctime }),
    }
    return [{ connection, type: 'file', list, externalId, host, close: { config, atMs } }]
  })
}

/** The disks that lie on a storage for one id. Nobody else's: the question is only ever what is to be cleared away. */
async function readDisks(
  api: Api,
  connection: string,
  list: string,
  {
    host,
    storage,
    externalId: owner,
  }: { readonly host: string; readonly storage: string; readonly externalId: string },
  atMs: number,
  signal: AbortSignal,
): Promise<readonly Sighting[]> {
  const about = { doing: `list the disks of id ${owner} on ${storage} of ${host}`, host }
  const data = await api.read(`${storagePath(host, storage)}/content?vmid=${encodeURIComponent(owner)}`, about, signal)
  return recordsOf(data).flatMap((entry): Sighting[] => {
    const externalId = nameOf(entry.volid)
    const ctime = countOf(entry.ctime)
    const disk = entry.content === 'images' || entry.content === 'rootdir'
    if (externalId === undefined || ctime === undefined || !disk || String(entry.vmid) !== owner) return []
    return [{ connection, type: 'file', list, externalId, host, close: { config: { ctime }, atMs } }]
  })
}

async function observeListed(
  api: Api,
  sighting: Sighting,
  list: string,
  atMs: number,
  signal: AbortSignal,
): Promise<Sighting | undefined> {
  const things = await readList(api, sighting.connection, list, atMs, signal)
  return things.find((thing) => thing.externalId === sighting.externalId)
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

async function taskOutcome(api: Api, taskId: string, signal: AbortSignal) {
  const upid = parseUpid(taskId)
  if (upid === undefined) return undefined
  const { host } = upid
  const doing = `finish ${upid.verb} ${upid.subject} on ${host}`
  const path = `/nodes/${encodeURIComponent(host)}/tasks/${encodeURIComponent(taskId)}/status`
  const data = await unlessUnknown(() =>
    api.read(path, { doing: `look at task ${cleanText(taskId, 200)}`, host }, signal),
  )
  const task = isRecord(data) ? readTask({ ...data, upid: taskId }) : undefined
  if (task?.state !== 'failed') return task
  const guest = /^\d+$/.test(upid.subject) ? { guest: upid.subject } : {}
  return { ...task, refusal: translate({ text: task.message ?? 'unknown reason', doing, host, ...guest }) }
}

/** The list of the host itself goes back weeks, where that of the cluster shows the last 25 of each host. */
async function recentTasks(
  api: Api,
  { host, externalId, type }: Sighting,
  sinceMs: number,
  signal: AbortSignal,
): Promise<readonly RemoteTask[]> {
  const guest = type === 'vm' || type === 'container'
  const query = new URLSearchParams({
    source: 'all',
    limit: '50',
    // The host counts in whole seconds of its own clock.
    since: String(Math.max(0, Math.floor(sinceMs / 1000) - 60)),
    ...(guest ? { vmid: externalId } : {}),
  })
  const about = { doing: `list the tasks of ${externalId} on ${host}`, host }
  const data = await api.read(`/nodes/${encodeURIComponent(host)}/tasks?${query.toString()}`, about, signal)
  return recordsOf(data).flatMap((entry) => readTask(entry) ?? [])
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

/** Task logs are thrown away after a while. */
async function unlessUnknown<T>(look: () => Promise<T>): Promise<T | undefined> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof LookFailed && /no such task|unable to (?:open|find).*(?:task|file)/i.test(error.message))
      return undefined
    throw error
  }
}

function rootShell({ hosts }: Connection, { openShell }: DriverDeps, host: string): Shell | undefined {
  const target = hosts !== undefined && Object.hasOwn(hosts, host) ? hosts[host] : undefined
  return target === undefined ? undefined : openShell?.(target)
}

async function perform(api: Api, deps: DriverDeps, step: Step, signal: AbortSignal): Promise<Outcome> {
  const secrets = new Map<string, Secret>()
  for (const name of step.secretParams ?? []) {
    try {
      secrets.set(name, await deps.resolveSecret(JSON.parse(step.call.params[name] ?? '') as SecretReference))
    } catch (error) {
      return secretMissing(step, name, error)
    }
  }
  const guest = /\/(?:qemu|lxc)\/(\d+)/.exec(step.call.path)?.[1] ?? step.call.params.vmid
  const about = { doing: step.summary, host: step.host, ...(guest === undefined ? {} : { guest }) }
  if (step.upload === undefined) return api.write(step.call, secrets, about, signal)
  const document = step.upload.document.reveal()
  for (const reference of secretsIn(document)) {
    try {
      secrets.set(nameOfSecret(reference), await deps.resolveSecret(reference))
    } catch (error) {
      return secretMissing(step, 'what it reads at first boot', error)
    }
  }
  const bytes = seedImage(withSecrets(document, secrets))
  return api.write(step.call, secrets, about, signal, { name: step.upload.fileName, bytes })
}

function secretMissing(step: Step, what: string, error: unknown): Outcome {
  const why = cleanText(error instanceof Error ? error.message : 'unknown')
  const message = `could not ${step.summary}: the secret for ${what} could not be read: ${why}`
  return { result: 'refused', refusal: { reason: 'SecretMissing', meaning: 'stalled', message } }
}

async function resolveToken(connection: Connection, deps: DriverDeps): Promise<Secret> {
  const refuse = (message: string) =>
    new LookFailed({ reason: 'TokenMissing', meaning: 'stalled', message, connectionWide: true })
  let value: string
  try {
    if (connection.token === undefined) throw new Error('spec.token is not set')
    value = (await deps.resolveSecret(connection.token)).reveal().trim()
  } catch (error) {
    const why = cleanText(error instanceof Error ? error.message : 'unknown')
    throw refuse(`the token of connection ${connection.name} could not be read: ${why}`)
  }
  // A line break in here would begin a second header.
  if (!/^[^\s!=]+![^\s=]+=[^\s]+$/.test(value))
    throw refuse(`the token of connection ${connection.name} does not look like user@realm!name=secret`)
  return new Secret(value)
}
