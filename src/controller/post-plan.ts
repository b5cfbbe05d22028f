import { LIMITS } from '../lib/limits.ts'
import type { Secret } from '../model/secret.ts'
import { askForge, type PullRequest, projectAt, type Send } from './forge.ts'

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
  let before: string | undefined
  for (let page = 1; page <= LIMITS.commentPages; page++) {
    const known: unknown = JSON.parse(await askForge(to, 'GET', `${list}?per_page=${PAGE}&page=${page}`, token, send))
    const comments = Array.isArray(known)
      ? (known as readonly { readonly id?: unknown; readonly body?: unknown }[])
      : []
    const mine = comments.find(({ body }) => typeof body === 'string' && body.startsWith(mark))
    if (mine !== undefined) return numberOf(mine.id)
    const first = numberOf(comments[0]?.id)
    // Some forges know no pages here and say everything each time.
    if (comments.length < PAGE || first === before) return undefined
    before = first
  }
  return undefined
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
