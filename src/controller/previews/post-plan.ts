import { LIMITS } from '../../lib/limits.ts'
import type { Secret } from '../../model/secret.ts'
import { askForge, type PullRequest, projectAt, type Send } from '../wishes/forge.ts'

/** Writes the plan under a pull request: a comment of ours is renewed, so that there is ever only one. */
export async function postPlan(
  to: PullRequest,
  markdown: string,
  mark: string,
  token: Secret,
  send: Send,
): Promise<'made' | 'renewed'> {
  const list = commentsAt(to)
  const mine = await findOurs(to, list, mark, token, send)
  if (mine === undefined) {
    await askForge(to, 'POST', list, token, send, { body: markdown })
    return 'made'
  }
  if (to.forge === 'gitlab') await askForge(to, 'PUT', `${list}/${mine}`, token, send, { body: markdown })
  else await askForge(to, 'PATCH', `${commentAt(to)}/${mine}`, token, send, { body: markdown })
  return 'renewed'
}

const PAGE = 100

/** The number of our comment, however many others there are. */
async function findOurs(
  to: PullRequest,
  list: string,
  mark: string,
  token: Secret,
  send: Send,
): Promise<string | undefined> {
  const me = await whoWeAre(to, token, send)
  let before: string | undefined
  for (let page = 1; page <= LIMITS.commentPages; page++) {
    const known: unknown = JSON.parse(await askForge(to, 'GET', `${list}?per_page=${PAGE}&page=${page}`, token, send))
    const comments = Array.isArray(known) ? (known as readonly Comment[]) : []
    const mine = comments.find((one) => typeof one.body === 'string' && one.body.startsWith(mark) && isOurs(one, me))
    if (mine !== undefined) return numberOf(mine.id)
    const first = numberOf(comments[0]?.id)
    // Some forges ignore paging here and return everything each time.
    if (comments.length < PAGE || first === before) return undefined
    before = first
  }
  return undefined
}

interface Comment {
  readonly id?: unknown
  readonly body?: unknown
  readonly user?: { readonly login?: unknown; readonly type?: unknown }
  readonly author?: { readonly username?: unknown }
}

/** Anyone can copy our mark or edit the comment, so its author counts. */
function isOurs({ user, author }: Comment, me: string | undefined): boolean {
  const name = user?.login ?? author?.username
  // Tokens of an app cannot read their own identity; their comments are by a bot.
  return me === undefined ? user?.type === 'Bot' : name === me
}

async function whoWeAre(to: PullRequest, token: Secret, send: Send): Promise<string | undefined> {
  const base = to.forge === 'github' ? to.api : `${to.api}${to.forge === 'gitea' ? '/api/v1' : '/api/v4'}`
  try {
    const { login, username } = JSON.parse(await askForge(to, 'GET', `${base}/user`, token, send)) as {
      readonly login?: unknown
      readonly username?: unknown
    }
    const name = login ?? username
    return typeof name === 'string' && name !== '' ? name : undefined
  } catch {
    return undefined
  }
}

function numberOf(id: unknown): string | undefined {
  return typeof id === 'number' || (typeof id === 'string' && /^\d+$/.test(id)) ? `${id}` : undefined
}

function commentsAt(to: PullRequest): string {
  const { forge, api, repository, number } = to
  if (forge === 'gitlab') return `${projectAt(to)}/merge_requests/${number}/notes`
  return `${api}${forge === 'gitea' ? '/api/v1' : ''}/repos/${repository}/issues/${number}/comments`
}

function commentAt({ forge, api, repository }: PullRequest): string {
  return `${api}${forge === 'gitea' ? '/api/v1' : ''}/repos/${repository}/issues/comments`
}
