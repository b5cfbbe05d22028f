import { isUtf8 } from 'node:buffer'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { recordIn } from '../../lib/foreign-json.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Secret } from '../../model/secret.ts'

/** A source that accepts push notices: what it follows, and the shared secret. */
export interface Hooked {
  readonly source: string
  /** `refs/heads/main` or `refs/tags/v1`. */
  readonly ref: string
  /** Pull requests are looked at as well. */
  readonly pulls?: boolean
  readonly secret: Secret
}

export interface Push {
  readonly source: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
}

export type PushVerdict =
  /** Look now. */
  | { readonly take: 'poke' }
  /** Well formed and not about what is followed: a ping, another branch. */
  | { readonly take: 'ignore' }
  | { readonly take: 'refuse'; readonly status: 400 | 401 | 404 | 409; readonly message: string }

/**
 * Judges push notices from GitHub, GitLab, Gitea and Forgejo: correctly signed, not a replay, about the followed
 * branch. An accepted one only causes an earlier look at the repository; its content is not trusted.
 */
export function createWebhookDoor(sources: readonly Hooked[]): (push: Push) => PushVerdict {
  const seen = createMemory(LIMITS.webhookDeliveries)
  return ({ source, headers, body }) => {
    const hooked = sources.find((one) => one.source === source)
    if (hooked === undefined) return refuse(404, 'no source of that name takes webhooks')
    if (body.length > LIMITS.webhookBodyBytes) return refuse(400, 'the body is too large')
    const named = lowered(headers)
    if (!isAuthentic(named, body, hooked.secret)) return refuse(401, 'the signature is missing or wrong')
    const event = eventOf(named)
    if (event === 'other' || (event === 'pull' && hooked.pulls !== true)) return { take: 'ignore' }
    // Detect a replay under a new delivery number by the body's hash: only the body is signed.
    const marks = [`body ${createHash('sha256').update(body).digest('hex')}`, deliveryOf(named)]
    if (marks.some((mark) => mark !== undefined && seen.has(`${source} ${mark}`)))
      return refuse(409, 'this delivery was seen before')
    const ref = event === 'pull' ? hooked.ref : refOf(body)
    if (ref === undefined) return refuse(400, 'the body is not a push')
    for (const mark of marks) if (mark !== undefined) seen.add(`${source} ${mark}`)
    return ref === hooked.ref ? { take: 'poke' } : { take: 'ignore' }
  }
}

type Headers = Readonly<Record<string, string | undefined>>

/** Reports whether the body is signed with the secret. Compares in constant time. */
export function isAuthentic(headers: Headers, body: Uint8Array, secret: Secret): boolean {
  const key = secret.word()
  // An empty secret would accept every signature.
  if (key === '') return false
  const expected = createHmac('sha256', key).update(body).digest('hex')
  const gitea = headers['x-forgejo-signature'] ?? headers['x-gitea-signature'] ?? headers['x-gogs-signature']
  const github = headers['x-hub-signature-256']
  if (github !== undefined) return github.startsWith('sha256=') && same(github.slice('sha256='.length), expected)
  if (gitea !== undefined) return same(gitea, expected)
  const token = headers['x-gitlab-token']
  return token !== undefined && same(token, key)
}

function same(a: string, b: string): boolean {
  // Hash first: timingSafeEqual needs equal lengths, and the length must not leak.
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

function eventOf(headers: Headers): 'push' | 'pull' | 'other' {
  const name =
    headers['x-github-event'] ??
    headers['x-forgejo-event'] ??
    headers['x-gitea-event'] ??
    headers['x-gitlab-event'] ??
    ''
  if (/^(?:push|create|push hook|tag push hook)$/i.test(name)) return 'push'
  return /^(?:pull_request(?:_sync)?|merge request hook)$/i.test(name) ? 'pull' : 'other'
}

function deliveryOf(headers: Headers): string | undefined {
  const id =
    headers['x-github-delivery'] ??
    headers['x-forgejo-delivery'] ??
    headers['x-gitea-delivery'] ??
    headers['x-gitlab-event-uuid'] ??
    headers['idempotency-key']
  return id === undefined ? undefined : `id ${id.slice(0, 100)}`
}

function refOf(body: Uint8Array): string | undefined {
  const ref = isUtf8(body) ? recordIn(Buffer.from(body).toString('utf8'))?.ref : undefined
  if (typeof ref !== 'string') return undefined
  return ref.startsWith('refs/') ? ref : `refs/heads/${ref}`
}

function lowered(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Remembers so many, the oldest go first. */
function createMemory(most: number) {
  const kept = new Set<string>()
  return {
    has: (mark: string) => kept.has(mark),
    add(mark: string) {
      kept.add(mark)
      const oldest = kept.values().next()
      if (kept.size > most && oldest.done !== true) kept.delete(oldest.value)
    },
  }
}

function refuse(status: 400 | 401 | 404 | 409, message: string): PushVerdict {
  return { take: 'refuse', status, message }
}
