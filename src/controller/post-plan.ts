import type { Secret } from '../model/secret.ts'

/** A pull or merge request that a plan is written under. */
export interface PullRequest {
  readonly forge: 'github' | 'gitlab' | 'gitea'
  /** `https://api.github.com`, `https://gitlab.example`, `https://git.example`. */
  readonly api: string
  /** `owner/name`, or the path of a project. */
  readonly repository: string
  readonly number: number
}

export type Send = (request: {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}) => Promise<{ readonly status: number; readonly body: string }>

/** `github:owner/name#12`, `gitlab:group/project#3@https://gitlab.example`, `gitea:me/x#1@https://git.example`. */
export function parsePullRequest(text: string): PullRequest | undefined {
  const match =
    /^(github|gitlab|gitea):([A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)+)#([1-9]\d{0,9})(?:@(https?:\/\/[A-Za-z0-9.:-]+))?$/.exec(
      text,
    )
  const [, forge, repository = '', number = '', api] = match ?? []
  if (forge !== 'github' && forge !== 'gitlab' && forge !== 'gitea') return undefined
  const usual = { github: 'https://api.github.com', gitlab: 'https://gitlab.com', gitea: undefined }[forge]
  const address = api ?? usual
  return address === undefined ? undefined : { forge, api: address, repository, number: Number(number) }
}

/** Writes the plan under a pull request: a comment of ours is renewed, so that there is ever only one. */
export async function postPlan(
  to: PullRequest,
  markdown: string,
  mark: string,
  token: Secret,
  send: Send,
): Promise<'made' | 'renewed'> {
  const { forge } = to
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'croft',
    ...(forge === 'gitlab'
      ? { 'private-token': token.reveal() }
      : { authorization: `${forge === 'gitea' ? 'token' : 'Bearer'} ${token.reveal()}` }),
  }
  const list = commentsAt(to)
  const ask = async (method: string, url: string, body?: unknown) => {
    const answer = await send({ method, url, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
    if (answer.status < 200 || answer.status >= 300)
      throw new Error(`${new URL(url).host} answered ${answer.status} to ${method} of a comment`)
    return answer.body
  }
  const known: unknown = JSON.parse(await ask('GET', `${list}?per_page=100`))
  const mine = Array.isArray(known)
    ? (known as readonly { readonly id?: unknown; readonly body?: unknown }[]).find(
        ({ body }) => typeof body === 'string' && body.startsWith(mark),
      )
    : undefined
  if (mine?.id === undefined) {
    await ask('POST', list, { body: markdown })
    return 'made'
  }
  const id = (typeof mine.id === 'number' || typeof mine.id === 'string' ? `${mine.id}` : '').replaceAll(/\D/g, '')
  if (forge === 'gitlab') await ask('PUT', `${list}/${id}`, { body: markdown })
  else await ask('PATCH', `${commentAt(to)}/${id}`, { body: markdown })
  return 'renewed'
}

function commentsAt({ forge, api, repository, number }: PullRequest): string {
  if (forge === 'gitlab')
    return `${api}/api/v4/projects/${encodeURIComponent(repository)}/merge_requests/${number}/notes`
  return `${api}${forge === 'gitea' ? '/api/v1' : ''}/repos/${repository}/issues/${number}/comments`
}

function commentAt({ forge, api, repository }: PullRequest): string {
  return `${api}${forge === 'gitea' ? '/api/v1' : ''}/repos/${repository}/issues/comments`
}
