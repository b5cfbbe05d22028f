import { LIMITS } from '../../../lib/limits.ts'
import type { CloudInitResult } from '../../../model/sighting.ts'
import { LookFailed } from '../../port.ts'
import type { About, Api } from '../api.ts'
import { cleanText, isRecord } from '../foreign.ts'

/** Written when cloud-init has ended, and gone again with every boot. */
const RESULT = '/run/cloud-init/result.json'
/** Written while it runs. */
const STATUS = '/run/cloud-init/status.json'

/** Asks the machine how its first boot went. Undefined: it may not be asked, or its agent reads no files. */
export async function askCloudInit(
  api: Api,
  path: string,
  about: About,
  signal: AbortSignal,
): Promise<CloudInitResult | undefined> {
  const result = await readText(api, path, RESULT, about, signal)
  if (result === 'refused') return undefined
  if (result !== undefined) return readCloudInit(result.text)
  const status = await readText(api, path, STATUS, about, signal)
  if (status === 'refused') return undefined
  return { state: status === undefined ? 'none' : 'running' }
}

/** What result.json says. Pure. */
export function readCloudInit(text: string): CloudInitResult | undefined {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return undefined
  }
  const errors = isRecord(read) && isRecord(read.v1) ? read.v1.errors : undefined
  if (!Array.isArray(errors)) return undefined
  const [first] = errors
  if (first === undefined) return { state: 'done' }
  const more = errors.length === 1 ? '' : ` (and ${errors.length - 1} more)`
  return { state: 'error', message: `${cleanText(String(first)).slice(0, LIMITS.foreignTextLength)}${more}` }
}

async function readText(
  api: Api,
  path: string,
  file: string,
  about: About,
  signal: AbortSignal,
): Promise<{ readonly text: string } | 'refused' | undefined> {
  try {
    const answer = await api.read(`${path}/agent/file-read?file=${encodeURIComponent(file)}`, about, signal)
    return isRecord(answer) && typeof answer.content === 'string' ? { text: answer.content } : 'refused'
  } catch (error) {
    if (!(error instanceof LookFailed) || error.refusal.connectionWide) throw error
    return /no such file/i.test(error.message) ? undefined : 'refused'
  }
}
