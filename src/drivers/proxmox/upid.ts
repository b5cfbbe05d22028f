/** A task's id: `UPID:node:pid:pstart:starttime:type:id:user:`. */
export interface Upid {
  readonly host: string
  readonly startedMs: number
  readonly verb: string
  readonly subject: string
  readonly user: string
}

const UPID =
  /^UPID:([A-Za-z0-9][A-Za-z0-9.-]*):[0-9A-Fa-f]{8,}:[0-9A-Fa-f]{8,}:([0-9A-Fa-f]{8,}):([^:\s]+):([^:\s]*):([^:\s]+):$/

export function parseUpid(text: string): Upid | undefined {
  const match = text.length > 1024 ? null : UPID.exec(text)
  if (match === null) return undefined
  const [, host = '', started = '', verb = '', subject = '', user = ''] = match
  return { host, startedMs: Number.parseInt(started, 16) * 1000, verb, subject, user }
}
