import { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'
import type { Secret } from '../../model/secret.ts'

/** A repository at a forge. */
export interface ForgeRepository {
  readonly forge: 'github' | 'gitlab' | 'gitea'
  /** `https://api.github.com`, `https://gitlab.example`, `https://git.example`. */
  readonly api: string
  /** `owner/name`, or the path of a project. */
  readonly repository: string
}

/** A pull or merge request that a plan is written under. */
export interface PullRequest extends ForgeRepository {
  readonly number: number
}

/** An open pull request, with its head commit. */
export interface OpenPull {
  readonly number: number
  readonly head: string
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
  const address = api ?? USUAL_API[forge]
  return address === undefined ? undefined : { forge, api: address, repository, number: Number(number) }
}

/** The default API of each forge. Gitea and Forgejo have none: they are self-hosted. */
export const USUAL_API: Readonly<Record<ForgeRepository['forge'], string | undefined>> = {
  github: 'https://api.github.com',
  gitlab: 'https://gitlab.com',
  gitea: undefined,
}

/** The ref under which the forge keeps the head of a request, from whichever repository it comes. */
export function headRef(forge: ForgeRepository['forge'], number: number): string {
  return forge === 'gitlab' ? `refs/merge-requests/${number}/head` : `refs/pull/${number}/head`
}

/** Requests that want to be merged into the branch. */
export async function openPulls(
  of: ForgeRepository,
  branch: string,
  token: Secret,
  send: Send,
): Promise<readonly OpenPull[]> {
  const name = encodeURIComponent(branch)
  const url = {
    github: `${of.api}/repos/${of.repository}/pulls?state=open&base=${name}&per_page=${LIMITS.pullRequests}`,
    gitlab: `${projectAt(of)}/merge_requests?state=opened&target_branch=${name}&per_page=${LIMITS.pullRequests}`,
    gitea: `${of.api}/api/v1/repos/${of.repository}/pulls?state=open&limit=${LIMITS.pullRequests}`,
  }[of.forge]
  const answered: unknown = JSON.parse(await askForge(of, 'GET', url, token, send))
  const pulls = of.forge === 'gitlab' ? mergeRequests.parse(answered) : pullRequests.parse(answered)
  return pulls.filter(({ base }) => base === branch).slice(0, LIMITS.pullRequests)
}

/** Makes one call to a forge. The sender bounds the answer; errors never contain the token. */
export async function askForge(
  { forge }: ForgeRepository,
  method: string,
  url: string,
  token: Secret,
  send: Send,
  body?: unknown,
): Promise<string> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    'user-agent': 'croft',
    ...(forge === 'gitlab'
      ? { 'private-token': token.word() }
      : { authorization: `${forge === 'gitea' ? 'token' : 'Bearer'} ${token.word()}` }),
  }
  const answer = await send({ method, url, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  if (answer.status < 200 || answer.status >= 300) {
    const { host, pathname } = new URL(url)
    throw new Error(`${host} answered ${answer.status} to ${method} ${pathname}`)
  }
  return answer.body
}

export function projectAt({ api, repository }: ForgeRepository): string {
  return `${api}/api/v4/projects/${encodeURIComponent(repository)}`
}

const commit = z.string().regex(/^[0-9a-f]{40}(?:[0-9a-f]{24})?$/)
const number = z.number().int().positive()

const pullRequests = z
  .array(z.object({ number, head: z.object({ sha: commit }), base: z.object({ ref: z.string() }) }))
  .transform((all) => all.map((one) => ({ number: one.number, head: one.head.sha, base: one.base.ref })))

const mergeRequests = z
  .array(z.object({ iid: number, sha: commit, target_branch: z.string() }))
  .transform((all) => all.map((one) => ({ number: one.iid, head: one.sha, base: one.target_branch })))
