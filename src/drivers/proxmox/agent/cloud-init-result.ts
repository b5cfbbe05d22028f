import { RESULT_FILE, readCloudInit, STATUS_FILE } from '../../../cloudinit/result.ts'
import type { CloudInitResult } from '../../../model/sighting.ts'
import { LookFailed } from '../../port.ts'
import type { About, Api } from '../api.ts'
import { isRecord } from '../foreign.ts'

/** Asks the machine how its first boot went. Undefined: it may not be asked, or its agent reads no files. */
export async function askCloudInit(
  api: Api,
  path: string,
  about: About,
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
