import { shellWord } from '../../../lib/shell-quoted.ts'
import type { Check } from '../../port.ts'
import { type Principal, repairCommands } from './commands.ts'
import { type Grants, grantsOf, placeOf } from './grants.ts'
import { type HeldPrivileges, type Missing, missingOf, surplusOf } from './held.ts'
import type { TokenFacts } from './judge-login.ts'
import type { Needs } from './needs.ts'

export interface Rights {
  readonly wanted: Needs
  readonly held: HeldPrivileges
  readonly who: Principal
  readonly facts: TokenFacts
  /** Names of the existing roles, to tell whether to create a role or add to it. */
  readonly roles: ReadonlySet<string>
  readonly prefix: string
}

/** Returns the missing and the unneeded privileges, by path. */
export function judgeRights(rights: Rights): readonly Check[] {
  const { needs, unknown } = rights.wanted
  const grants = grantsOf(needs)
  const missing = missingOf(needs, rights.held)
  const checks = [...missingChecks(missing, grants, rights)]
  if (missing.length === 0 && needs.length > 0)
    checks.push({
      about: 'privileges',
      code: 'privileges',
      level: 'ok',
      found: `every privilege that the declarations need is there (${count(needs.length, 'need')} on ${count(grants.size, 'path')})`,
    })
  for (const need of needs.filter(({ ways }) => ways.length === 0))
    checks.push({
      about: 'privileges',
      code: 'root-only',
      level: 'warning',
      found: `only root@pam may ${need.why}, and no token: Proxmox will refuse it`,
      fix: ['take the option out of the declaration, and set it on the host by hand'],
    })
  if (unknown.length > 0)
    checks.push({
      about: 'privileges',
      code: 'privileges-unknown',
      level: 'warning',
      found: `croft does not know which privileges ${count(unknown.length, 'call')} need`,
      details: unknown,
    })
  const surplus = judgeSurplus(grants, rights)
  return surplus === undefined ? checks : [...checks, surplus]
}

/** Groups by place and privileges: one line for all things that lack the same. */
function missingChecks(missing: readonly Missing[], grants: Grants, rights: Rights): readonly Check[] {
  const places = new Map<string, { level: Check['level']; byWhy: Map<string, Set<string>> }>()
  for (const { need, way, privileges } of missing) {
    // If the path itself has rights, those must be corrected.
    const place = grants.has(way.path) ? way.path : placeOf(way)
    const level = need.without === 'refused' ? 'wrong' : 'warning'
    const at = places.get(place) ?? { level, byWhy: new Map<string, Set<string>>() }
    if (level === 'wrong') at.level = 'wrong'
    for (const privilege of privileges) at.byWhy.set(privilege, (at.byWhy.get(privilege) ?? new Set()).add(need.why))
    places.set(place, at)
  }
  return [...places].map(([place, { level, byWhy }]) => ({
    about: 'privileges',
    code: 'privileges-missing',
    level,
    found: `on ${place} the token lacks ${[...byWhy.keys()].sort().join(', ')}`,
    details: [...byWhy]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([privilege, whys]) => `${privilege}: to ${some(whys)}`),
    fix: repairCommands([place], grants, rights.who, rights.prefix, rights.roles),
  }))
}

const ADMINISTRATES = ['Permissions.Modify', 'Sys.Modify', 'Sys.PowerMgmt', 'User.Modify']

/** Reports a token with too many rights each time: it works, but its thief owns the datacentre. */
function judgeSurplus(grants: Grants, { held, who, facts, prefix }: Rights): Check | undefined {
  const surplus = surplusOf(grants, held)
  const root = held.get('/')
  const reasons = [
    who.user === 'root@pam' ? 'it is a token of root@pam' : undefined,
    root !== undefined && ADMINISTRATES.every((privilege) => root.has(privilege))
      ? 'it administers everything (on /)'
      : undefined,
    facts.privsep === false ? 'it has all the rights of its user (privsep 0)' : undefined,
  ].filter((reason) => reason !== undefined)
  if (surplus.length === 0 && reasons.length === 0) return undefined
  const total = new Set(surplus.flatMap(({ privileges }) => privileges)).size
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`
  return {
    about: 'privileges',
    code: reasons.length === 0 ? 'privileges-surplus' : 'token-too-broad',
    level: 'warning',
    found: `the token may do more than the declarations need, ${count(total, 'privilege')} too many${why}`,
    details: surplus.map(({ path, privileges }) => `on ${path}: ${privileges.join(', ')}`),
    fix:
      reasons.length === 0
        ? [`see which role gives them: pveum acl list; then pveum role modify ROLE --privs '…'`]
        : [
            `croft doctor --role   # prints the commands for a token of ${shellWord(`${prefix}@pve`)} with only the privileges that your manifests need`,
          ],
  }
}

function some(whys: ReadonlySet<string>): string {
  const [first = '', ...rest] = whys
  return rest.length === 0 ? first : `${first} (and ${rest.length} more)`
}

function count(number: number, noun: string): string {
  return `${number} ${number === 1 ? noun : `${noun}s`}`
}
