import { POWER_MANAGER } from '../../kubernetes/managers.ts'
import { at, type Foreign, recordsOf, textOf } from '../../kubernetes/objects.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Refusal } from '../../model/verdict.ts'

/** What an answer to a write means, where it means more than the client alone can say. */
export function refusalOfWrite(status: number, body: unknown, doing: string, known: Refusal): Refusal {
  const fought = conflictsIn(body)
  if (fought.length > 0) {
    const fields = fought.map((cause) => `${textOf(cause.field) ?? 'a field'} (${managerIn(cause.message)})`)
    const message = `could not ${doing}: others keep ${cleanText(fields.join(', '), 400)}; leave the fields out, or set force: true in the add-on`
    return { reason: 'FieldConflict', meaning: 'stalled', message }
  }
  const said = textOf(at(body, 'message')) ?? ''
  // A webhook whose pod does not answer yet speaks as an inner error of the server; the connection is well.
  if (/failed calling webhook/.test(said)) {
    return { reason: 'WebhookAway', meaning: 'waiting', message: `could not ${doing}: ${said}` }
  }
  // A field of another type than its kind knows: the server answers as if it were ill, and is not.
  if (/failed to create typed patch object/.test(said)) {
    return { reason: 'Invalid', meaning: 'stalled', message: `could not ${doing}: ${said}` }
  }
  // The namespace or the kind is not there yet, or is just going.
  if (status === 404) return { reason: 'NotThereYet', meaning: 'waiting', message: known.message }
  if (/being terminated|is terminating/.test(said)) return { ...known, reason: 'Terminating', meaning: 'waiting' }
  return known
}

/** Is it only with ourselves? Replicas that a Power took and gave back stay noted as its own, and are croft's as well. */
export function isOwnConflict(body: unknown): boolean {
  const fought = conflictsIn(body)
  return fought.length > 0 && fought.every(({ message }) => managerIn(message) === POWER_MANAGER)
}

function conflictsIn(body: unknown): readonly Foreign[] {
  return recordsOf(at(body, 'details', 'causes')).filter((cause) => cause.reason === 'FieldManagerConflict')
}

/** `conflict with "kubectl" using apps/v1` → kubectl. */
function managerIn(message: unknown): string {
  return cleanText(/"([^"]{1,100})"/.exec(typeof message === 'string' ? message : '')?.[1] ?? 'somebody')
}
