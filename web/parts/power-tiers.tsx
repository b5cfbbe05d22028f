import type { PowerOnPage } from '../../src/server/api/schemas.ts'
import { duration } from '../format.ts'
import { Icon, type IconName } from './icon.tsx'

type Tier = PowerOnPage['tiers'][number]

const NAMES: Readonly<Record<string, string>> = {
  gitops: 'GitOps agents',
  operators: 'Operators',
  apps: 'Applications',
  databases: 'Databases',
  'storage-clients': 'Storage clients',
  volumes: 'Volumes',
  ha: 'High availability',
  workers: 'Workers',
  servers: 'Servers',
  machines: 'Other machines',
  hosts: 'Hosts',
  infrastructure: 'Gateway, DNS and DHCP',
  'last-hosts': 'Last hosts',
  quorum: 'Quorum',
  dns: 'DNS',
  storage: 'Storage',
  nodes: 'Nodes',
}

const ICONS: Readonly<Record<Tier['state'], IconName>> = { done: 'ok', doing: 'busy', todo: 'quiet' }
const TONES: Readonly<Record<Tier['state'], string>> = { done: 'ok', doing: 'busy', todo: 'quiet' }
const WORDS: Readonly<Record<Tier['state'], string>> = { done: 'done', doing: 'now', todo: 'to come' }

/** The tiers in the order in which they are gone through, on one line downwards, each with what it waits for. */
export function Tiers({
  tiers,
  waits = [],
  plan = false,
}: {
  readonly tiers: readonly Tier[]
  readonly waits?: PowerOnPage['waits']
  /** Set for a plan, in which nothing runs yet. */
  readonly plan?: boolean
}) {
  return (
    <ol class="tiers">
      {tiers.map((tier, index) => {
        const own = waits.filter((wait) => wait.tier === tier.tier)
        return (
          <li key={tier.tier} class={`tier is-${plan ? 'todo' : tier.state}`} data-tier={tier.tier}>
            <span class={`tier-dot tone-${plan ? 'quiet' : TONES[tier.state]}`} aria-hidden="true">
              {plan ? <b>{index + 1}</b> : <Icon name={ICONS[tier.state]} size={18} />}
            </span>
            <div class="tier-body">
              <p class="tier-head">
                <b>{NAMES[tier.tier] ?? tier.tier}</b>
                <span class="muted">{progressOf(tier, plan)}</span>
                {!plan && <span class={`tier-word tone-${TONES[tier.state]}`}>{WORDS[tier.state]}</span>}
              </p>
              <p class="muted">{tier.state === 'done' && !plan ? tier.awaits : `until ${tier.awaits}`}</p>
              {own.slice(0, 4).map((wait) => (
                <p key={`${wait.what}${wait.awaits}`} class="tier-wait">
                  <b>{wait.what}</b>: waits for {wait.awaits}, {duration(wait.waitedMs)} so far
                  {wait.leftMs !== undefined && `; ${duration(wait.leftMs)} until its deadline`}
                </p>
              ))}
              {own.length > 4 && <p class="muted">and {own.length - 4} more</p>}
            </div>
          </li>
        )
      })}
    </ol>
  )
}

/** Returns the number of a tier's members, and of finished ones unless it is a plan. A single one needs no count. */
function progressOf({ progress }: Tier, plan: boolean): string {
  const all = progress.split(' of ').at(-1) ?? ''
  if (all === '1') return ''
  return plan ? all : progress
}
