import { cleanText } from '../lib/clean-text.ts'
import { isRecord } from '../lib/is-record.ts'
import { LIMITS } from '../lib/limits.ts'
import type { FirstBoot } from '../model/declaration.ts'
import { CLOUD_INIT_FAILED } from '../model/record.ts'
import type { CloudInitResult } from '../model/resource.ts'
import type { Readiness } from '../model/rules.ts'

/** Written when cloud-init has ended, and gone again with every boot. */
export const RESULT_FILE = '/run/cloud-init/result.json'
/** Written while it runs. */
export const STATUS_FILE = '/run/cloud-init/status.json'

/** Parses result.json. Pure. */
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
  // The file is the guest's: it may hold values that cannot become text.
  const said = typeof first === 'string' ? cleanText(first, LIMITS.foreignTextLength) : 'an error that is not text'
  return { state: 'error', message: `${said}${more}` }
}

/**
 * Returns whether a machine that croft made is up and healthy, by the end of its first boot. Undefined: no objection.
 * Pure.
 */
export function cloudInitReadiness(
  result: CloudInitResult | undefined,
  id: string,
  firstBoot: FirstBoot = 'require',
): Readiness | undefined {
  if (result?.state === 'running') {
    const message = `${id} is running; cloud-init has not ended yet`
    return { ready: false, reason: 'CloudInitRunning', message, status: 'Booting' }
  }
  if (result?.state !== 'error') return undefined
  const failed = `${id} is running, and cloud-init failed: ${result.message}`
  if (firstBoot === 'report') return { ready: true, reason: CLOUD_INIT_FAILED, message: failed, status: 'Running' }
  return { ready: false, reason: CLOUD_INIT_FAILED, message: `${failed}${NEXT}`, status: 'Failed' }
}

const NEXT =
  '; it will not run again by itself: read /var/log/cloud-init-output.log in the machine, then correct its userData with ' +
  'cloudInit.onChange: rerun or replace, or accept it as it is with the annotation croft.dev/cloud-init: report'
