import type { IncomingMessage, ServerResponse } from 'node:http'
import { z } from 'zod'
import { LIMITS } from '../lib/limits.ts'
import { Declined } from './api/route.ts'
import { NOBODY, type Who } from './auth/who.ts'
import type { ServerOptions } from './options.ts'
import { shownJson } from './shown-json.ts'
import { isSameReader, type OpenReaders } from './stays-open.ts'

const yes = z.enum(['true', 'false']).default('false')
const name = z.string().min(1).max(LIMITS.foreignNameLength)
const question = z.object({
  cluster: name,
  addon: name,
  namespace: name,
  pod: name,
  container: name,
  tail: z.coerce.number().int().min(1).max(LIMITS.logTail).default(500),
  previous: yes,
  follow: yes,
})

const STATUS_OF = { 'not-found': 404, refused: 422, away: 503 } as const

/**
 * Logs of pods, as plain text, with `follow` until the reader goes. Logs may contain secrets: reading them needs the
 * right to operate, and is in the audit log.
 */
export function createPodLogs(
  { controller, clock, audit }: Pick<ServerOptions, 'controller' | 'clock' | 'audit'>,
  open: OpenReaders,
) {
  let readers = 0
  return async function answer(
    url: URL,
    who: Who,
    request: IncomingMessage,
    response: ServerResponse,
    whoNow: () => Promise<Who>,
  ): Promise<void> {
    const asked = Object.fromEntries(url.searchParams)
    const note = (result: 'done' | 'refused', message: string) =>
      audit?.({ atMs: clock.now(), actor: who.actor, what: 'logs', about: shownJson(asked), result, message })
    const decline = (status: number, code: string, message: string): never => {
      if (who !== NOBODY) note('refused', message)
      throw new Declined(status, code, message)
    }
    if (who === NOBODY) decline(401, 'unauthorized', 'Sign in to read logs.')
    if (!who.scopes.includes('operate'))
      decline(403, 'forbidden', `This needs the right "operate", which ${who.name} does not have.`)
    if (request.method === 'HEAD') decline(405, 'method', 'A log has no head.')
    const { workloads } = controller
    if (workloads === undefined) throw new Declined(404, 'not-found', 'Nobody here reads logs.')
    const input = question.safeParse(asked)
    if (!input.success) {
      const [issue] = input.error.issues
      throw new Declined(400, 'malformed', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not well formed'}`)
    }
    if (readers >= LIMITS.logReaders) decline(503, 'too-many', 'Too many logs are read now. Try again later.')
    readers++
    const stop = new AbortController()
    response.once('close', () => stop.abort())
    void clock.sleep(LIMITS.logFollowMs, stop.signal).then(() => stop.abort())
    open.watch({
      may: async () => isSameReader(who, await whoNow()),
      end: () => response.destroy(),
      over: stop.signal,
    })
    let begun = false
    const begin = () => {
      if (begun) return
      begun = true
      note('done', '')
      const headers = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
      response.writeHead(200, { ...headers, 'x-accel-buffering': 'no' })
    }
    const write = (line: string) => {
      begin()
      // A reader that does not take what it is sent would fill our memory.
      if (response.writableLength > LIMITS.streamClientBytes) response.destroy()
      else response.write(`${line}\n`)
    }
    try {
      const { previous, follow, ...rest } = input.data
      const given = { ...rest, previous: previous === 'true', follow: follow === 'true' }
      const said = await workloads.log(given, write, stop.signal)
      if (!said.ok && !begun) decline(STATUS_OF[said.reason], said.reason, said.message)
      begin()
      response.end(said.ok ? '' : `(${said.message})\n`)
    } finally {
      readers--
      stop.abort()
    }
  }
}
