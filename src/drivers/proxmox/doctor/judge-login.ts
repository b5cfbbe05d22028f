import { defined } from '../../../lib/defined.ts'
import { shellWord } from '../../../lib/shell-quoted.ts'
import { type Check, check } from '../../port.ts'
import type { Principal } from './commands.ts'

const DAY_MS = 86_400_000
const SOON_DAYS = 30
/** A request takes time, and a Date header has whole seconds. */
const NOTED_SECONDS = 30
/** At this difference Proxmox's tickets fail, and no comparison of times is reliable. */
const WRONG_SECONDS = 300

/** A host's clock, and how far it is ahead of ours. */
export interface Skew {
  readonly whose: string
  readonly seconds: number
}

export function judgeClocks(skews: readonly Skew[]): readonly Check[] {
  const far = skews.filter(({ seconds }) => Math.abs(seconds) >= NOTED_SECONDS)
  if (far.length > 0) return far.map((skew) => skewCheck(skew, Math.abs(skew.seconds) >= WRONG_SECONDS))
  if (skews.length === 0) return []
  const most = Math.max(...skews.map(({ seconds }) => Math.abs(seconds)))
  return [check('ok', 'clock', 'clock', `the clocks agree (within ${Math.max(1, most)} s)`)]
}

function skewCheck({ whose, seconds }: Skew, wrong: boolean): Check {
  return check(
    wrong ? 'wrong' : 'warning',
    'clock',
    'clock-skew',
    `clock skew ${Math.abs(seconds)} s: the clock of ${whose} is ${seconds > 0 ? 'ahead of' : 'behind'} the one here`,
    {
      fix: [
        'see which of the two is wrong: date -u, here and there',
        'on the wrong one: timedatectl set-ntp true && chronyc makestep',
      ],
    },
  )
}

/**
 * The API rejected the token. If the clocks differ, reports that instead: a host whose clock is past the token's end
 * rejects a valid token. The answer has no body; newer hosts always give the same text, older ones tell more in the
 * status line.
 */
export function judgeUnauthorized(said: string, who: Principal, skew: Skew | undefined): Check {
  if (skew !== undefined && Math.abs(skew.seconds) >= NOTED_SECONDS)
    return { ...skewCheck(skew, true), authentication: true }
  const list = `pveum user token list ${shellWord(who.user)}`
  const wrong = (code: string, found: string, fix: readonly string[], details?: readonly string[]) =>
    check('wrong', 'token', code, found, { authentication: true, fix, ...defined({ details }) })
  const name = `${who.user}!${who.token}`
  const words = `${shellWord(who.user)} ${shellWord(who.token)}`
  if (/expired/i.test(said))
    return wrong('token-expired', `the token ${name} has expired`, [`pveum user token modify ${words} --expire 0`])
  if (/no such (?:user|token)|does not exist|disabled/i.test(said))
    return wrong('token-unknown', `the token ${name} is not known there (${said})`, [
      list,
      `pveum user token add ${words} --privsep 1`,
    ])
  if (/invalid token (?:value|secret)|wrong secret/i.test(said))
    return wrong('token-secret', `the secret of the token ${name} is not the right one`, [
      `make a new one: pveum user token remove ${words}`,
      'then add it again and keep the value that is shown',
    ])
  return wrong(
    'token-refused',
    `the token ${name} is not accepted (${said === '' ? 'no reason given' : said})`,
    [
      `${list}   # is it there, and is expire 0 or in the future?`,
      'if both are so, the secret is wrong: remove the token, add it again and keep the value that is shown',
    ],
    [
      'the host does not say which of these it is, so that nobody can guess tokens:',
      `the token or its user is not there or disabled, it has expired, or its secret is another one`,
    ],
  )
}

/** The readable facts about the token itself; often it may not read even these. */
export interface TokenFacts {
  readonly expireSeconds?: number
  readonly privsep?: boolean
}

export function judgeToken(who: Principal, facts: TokenFacts, nowMs: number): Check {
  const name = `${who.user}!${who.token}`
  const expire = facts.expireSeconds
  const fix = (until: string) => [
    `pveum user token modify ${shellWord(who.user)} ${shellWord(who.token)} --expire ${until}`,
  ]
  const yearSeconds = Math.floor((nowMs + 365 * DAY_MS) / 1000)
  if (expire === undefined)
    return check(
      'ok',
      'token',
      'token',
      `the token ${name} is valid; it may not read when it expires: pveum user token list ${shellWord(who.user)}`,
    )
  if (expire === 0)
    return check('warning', 'token', 'token-never-expires', `the token ${name} never expires`, {
      fix: fix(String(yearSeconds)),
    })
  const days = Math.floor((expire * 1000 - nowMs) / DAY_MS)
  const day = new Date(expire * 1000).toISOString().slice(0, 10)
  if (days < SOON_DAYS)
    return check(
      'warning',
      'token',
      'token-expires',
      `the token ${name} expires on ${day}, in ${days} ${days === 1 ? 'day' : 'days'}`,
      { fix: fix(String(yearSeconds)) },
    )
  return check('ok', 'token', 'token', `the token ${name} is valid until ${day}`)
}

export function majorOf(version: string): number | undefined {
  const major = /^(\d{1,3})\./.exec(version)?.[1]
  return major === undefined ? undefined : Number(major)
}

export function judgeVersion(version: string): Check {
  const major = majorOf(version)
  if (major === 8 || major === 9) return check('ok', 'version', 'version', `Proxmox VE ${version}`)
  return check(
    'warning',
    'version',
    'version-untried',
    `Proxmox VE ${version === '' ? 'of unknown version' : version}: croft is made for 8 and 9`,
    major !== undefined && major < 8 ? { fix: ['upgrade the host to Proxmox VE 8 or 9'] } : {},
  )
}
