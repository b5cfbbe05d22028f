import { RESULT_FILE, readCloudInit, STATUS_FILE } from '../../cloudinit/result.ts'
import type { CloudInitResult, ObservedResource } from '../../model/resource.ts'
import { ObservationFailed } from '../port.ts'
import type { Api, CallSubject } from './api.ts'
import { type ApiFields, countOf, flagOf, isRecord, nameOf, recordsOf } from './foreign.ts'
import { readAddresses, readConfig, readPending, withConfig } from './guest-details.ts'
import { parseProperties } from './property-string.ts'
import { guestPath, storagePath } from './steps.ts'
import { powerState } from './survey.ts'
import { insertedImage, isImageOf } from './vm/seed.ts'

type DetailedGuest = ReturnType<typeof withConfig>

/** Reads a guest's configuration, and its power and agent as requested. */
export async function observeGuest(
  api: Api,
  observed: ObservedResource,
  ask: { readonly power?: boolean; readonly agent?: boolean },
  atMs: number,
  signal: AbortSignal,
): Promise<ObservedResource> {
  const { host, externalId } = observed
  const type = observed.type === 'container' ? 'container' : 'vm'
  const path = guestPath(host, type, externalId)
  const about = { doing: `look at ${type} ${externalId} on ${host}`, host, guest: externalId }
  // Only a running guest has changes that wait for a restart.
  const stopped = observed.power === 'stopped'
  const data = await api.read(`${path}/${stopped ? 'config' : 'pending'}`, about, signal)
  const look = stopped ? readConfig(data) : readPending(data)
  if (look === undefined) {
    throw new ObservationFailed({
      reason: 'UnreadableAnswer',
      meaning: 'backoff',
      message: `could not ${about.doing}: the answer is not a configuration`,
    })
  }
  let seen = withConfig(observed, look, atMs)
  // A caller that asks for the agent knows that it runs: the survey may be older.
  if (ask.agent === true && ask.power !== true && observed.close?.power !== undefined)
    seen = { ...seen, close: { ...seen.close, power: observed.close.power } }
  if (type === 'vm') seen = await withSeedImages(api, seen, signal)
  // Only the guest itself, asked now, shows whether its image may be removed.
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
  const agent = await askAgent(api, path, about, signal)
  const cloudInit = agent.agent === 'up' && ask.agent ? await askCloudInit(api, path, about, signal) : undefined
  return { ...seen, close: { ...seen.close, ...agent, ...(cloudInit === undefined ? {} : { cloudInit }) } }
}

function isReading({ mark, close }: DetailedGuest): boolean {
  return mark?.seeding !== undefined && insertedImage(close.config, mark.uid) !== undefined
}

function agentIsOn(config: ApiFields): boolean {
  const text = typeof config.agent === 'string' ? config.agent : ''
  return flagOf(parseProperties(text, 'enabled').get('enabled')) === true
}

/** While a seed is in progress, or its image not deleted yet, the mark's storage is read too. */
async function withSeedImages(api: Api, seen: DetailedGuest, signal: AbortSignal): Promise<DetailedGuest> {
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
    if (!(error instanceof ObservationFailed)) throw error
    // The storage is gone, and its images with it.
    if (/storage '[^']*' does not exist/.test(error.message)) return []
    // "Not found" would mean the guest.
    const { refusal } = error
    throw refusal.reason === 'NotFound' ? new ObservationFailed({ ...refusal, reason: 'SeedStorageUnread' }) : error
  }
}

/** A silent agent is an answer: it is down. Only without permission is nothing known. */
async function askAgent(
  api: Api,
  path: string,
  about: CallSubject,
  signal: AbortSignal,
): Promise<{ agent?: 'up' | 'down'; addresses?: readonly string[] }> {
  try {
    const addresses = readAddresses(await api.read(`${path}/agent/network-get-interfaces`, about, signal))
    return addresses === undefined ? { agent: 'down' } : { agent: 'up', addresses }
  } catch (error) {
    if (!(error instanceof ObservationFailed) || error.refusal.connectionWide) throw error
    return error.refusal.reason === 'PermissionDenied' ? {} : { agent: 'down' }
  }
}

/** Reads the result of its first boot. Undefined: no permission, or its agent reads no files. */
async function askCloudInit(
  api: Api,
  path: string,
  about: CallSubject,
  signal: AbortSignal,
): Promise<CloudInitResult | undefined> {
  const result = await readText(api, path, RESULT_FILE, about, signal)
  if (result === 'refused') return undefined
  if (result !== undefined) return readCloudInit(result.text)
  const status = await readText(api, path, STATUS_FILE, about, signal)
  if (status === 'refused') return undefined
  return { state: status === undefined ? 'none' : 'running' }
}

async function readText(
  api: Api,
  path: string,
  file: string,
  about: CallSubject,
  signal: AbortSignal,
): Promise<{ readonly text: string } | 'refused' | undefined> {
  try {
    const answer = await api.read(`${path}/agent/file-read?file=${encodeURIComponent(file)}`, about, signal)
    return isRecord(answer) && typeof answer.content === 'string' ? { text: answer.content } : 'refused'
  } catch (error) {
    if (!(error instanceof ObservationFailed) || error.refusal.connectionWide) throw error
    return /no such file/i.test(error.message) ? undefined : 'refused'
  }
}
