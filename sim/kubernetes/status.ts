import type { WireResponse } from '../../src/lib/wire.ts'

/** An answer of the API that is no object, in its own words. */
export class ApiStatus extends Error {
  readonly code: number
  readonly reason: string
  readonly details: Readonly<Record<string, unknown>> | undefined
  constructor(code: number, reason: string, message: string, details?: Readonly<Record<string, unknown>>) {
    super(message)
    this.code = code
    this.reason = reason
    this.details = details
  }
}

export function notFound(plural: string, name: string, group = ''): ApiStatus {
  const which = group === '' ? plural : `${plural}.${group}`
  return new ApiStatus(404, 'NotFound', `${which} "${name}" not found`, {
    name,
    ...(group === '' ? {} : { group }),
    kind: plural,
  })
}

export function conflict(plural: string, name: string, group = ''): ApiStatus {
  const which = group === '' ? plural : `${plural}.${group}`
  return new ApiStatus(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${which} "${name}": the object has been modified; please apply your changes to the latest version and try again`,
    { name, ...(group === '' ? {} : { group }), kind: plural },
  )
}

export const NO_RESOURCE = new ApiStatus(404, 'NotFound', 'the server could not find the requested resource', {})

export function statusBody({ code, reason, message, details }: ApiStatus): string {
  return `${JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  })}\n`
}

/** What K3s' own front says before there is an API behind it: the same form, without a version. */
export function frontStatus(code: number, reason: string, message: string): WireResponse {
  const body = { kind: 'Status', metadata: {}, status: 'Failure', message, reason, code }
  return json(code, `${JSON.stringify(body)}\n`)
}

export function json(status: number, body: string, type = 'application/json'): WireResponse {
  const headers = { 'Cache-Control': 'no-cache, private', 'Content-Type': type }
  return { status, reason: REASONS[status] ?? '', headers, body }
}

export function plainText(status: number, body: string): WireResponse {
  return json(status, body, 'text/plain; charset=utf-8')
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Entity',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}
