import { cleanText } from '../lib/clean-text.ts'
import type { Refusal } from '../model/step.ts'
import { at, recordsOf, textOf } from './objects.ts'

/** An answer that is no success, before it is translated. */
export interface ForeignAnswer {
  readonly status: number
  /** The API's Status object; or text, if something else answered. */
  readonly body: unknown
  /** `evict default/web-1`. */
  readonly doing: string
}

interface Meaning {
  readonly reason: string
  readonly meaning: Refusal['meaning']
  readonly advice?: string
  readonly connectionWide?: boolean
}

/** Whether to retry, by the API's reason. */
const BY_REASON: Readonly<Record<string, Meaning>> = {
  NotFound: { reason: 'NotFound', meaning: 'backoff' },
  AlreadyExists: { reason: 'AlreadyExists', meaning: 'waiting', advice: 'it will be looked at again' },
  Conflict: {
    reason: 'Conflict',
    meaning: 'waiting',
    advice: 'somebody else changed it at the same time; croft looks again',
  },
  TooManyRequests: { reason: 'TooManyRequests', meaning: 'waiting' },
  Invalid: { reason: 'Invalid', meaning: 'stalled' },
  BadRequest: { reason: 'Invalid', meaning: 'stalled' },
  Forbidden: { reason: 'PermissionDenied', meaning: 'stalled', advice: 'give the credentials the right that is named' },
  Unauthorized: {
    reason: 'Unauthorized',
    meaning: 'backoff',
    advice: 'the CA of this cluster, or the clock, is not the one that croft knows',
    connectionWide: true,
  },
}

const BY_STATUS: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  422: 'Invalid',
  429: 'TooManyRequests',
}

/** Translates an API error. The only place that knows Kubernetes' errors. */
export function translate({ status, body, doing }: ForeignAnswer): Refusal {
  const budget = blockedBy(body)
  if (budget !== undefined) {
    return { reason: 'DisruptionBudget', meaning: 'waiting', message: `could not ${doing}: ${budget}` }
  }
  const word = textOf(at(body, 'reason')) ?? BY_STATUS[status] ?? ''
  const known = BY_REASON[word] ?? BY_REASON[BY_STATUS[status] ?? '']
  const said = textOf(at(body, 'message')) ?? (typeof body === 'string' ? cleanText(body, 200) : '')
  const text = `could not ${doing}: ${said === '' ? `HTTP ${status}` : said}`
  const [, namespace] = status === 404 ? (/^namespaces "([^"]+)" not found$/.exec(said) ?? []) : []
  const advice = namespace === undefined ? known?.advice : `create it first: kubectl create namespace ${namespace}`
  if (known === undefined) {
    // 500 and 503 come from an API that is starting, or whose etcd is away.
    return { reason: 'ServerError', meaning: 'backoff', message: text, connectionWide: status >= 500 }
  }
  return {
    reason: known.reason,
    meaning: known.meaning,
    message: advice === undefined ? text : `${text}; ${advice}`,
    ...(known.connectionWide === undefined ? {} : { connectionWide: known.connectionWide }),
  }
}

/** Returns a disruption budget's message about a pod: `The disruption budget w needs 2 healthy pods and has 2`. */
export function blockedBy(body: unknown): string | undefined {
  const cause = recordsOf(at(body, 'details', 'causes')).find((one) => one.reason === 'DisruptionBudget')
  if (cause !== undefined) return textOf(cause.message) ?? 'a disruption budget keeps it'
  const message = textOf(at(body, 'message'))
  return message !== undefined && /more than one PodDisruptionBudget/i.test(message) ? message : undefined
}
