import { all } from '../../sim/kubernetes/store.ts'
import { HOSTS } from './cluster-run.ts'
import { OWN_HOST, type Site } from './power-site.ts'
import type { Effect, Fate } from './process.ts'

export type Way = 'off' | 'on'

/** Something that goes wrong just before an effect, or with it. */
export interface PowerFault {
  readonly name: string
  readonly ways: readonly Way[]
  /** Lines of the Power, where the choice that is declared matters. */
  readonly power?: string
  strike(site: Site): Fate
  /** What is true again afterwards, for every outcome. */
  heal?(site: Site): void
  /** The power-off may be given up: it ends where it began. */
  readonly aborts?: true
  /** Volumes may be cut off: the power went, or the declaration says not to wait for them. */
  readonly tears?: true
}

const BOTH: readonly Way[] = ['off', 'on']
const later = ({ simulation: { clock } }: Site, ms: number, act: () => void) => clock.schedule(clock.now() + ms, act)

function cut(site: Site, hosts: readonly string[], backMs: number | undefined): Fate {
  const { hostPower } = site.simulation.datacentre
  for (const name of hosts) hostPower(name, 'off')
  if (backMs !== undefined)
    later(site, backMs, () => {
      for (const name of hosts) hostPower(name, 'on')
    })
  return 'done'
}

/** A guest that dies at once, as when its process is killed. */
function crash({ simulation: { datacentre } }: Site, name: string): Fate {
  const guest = [...datacentre.world.guests.values()].find((one) => one.config.get('name') === name)
  if (guest?.run.status === 'running') datacentre.patchGuest(guest.vmid, { status: 'stopped' })
  return 'done'
}

function blockDrain(site: Site, blocked: boolean): void {
  const { blockedEvictions } = site.simulation.datacentre.world.k3s
  blockedEvictions.clear()
  if (!blocked) return
  for (const { metadata } of all(site.cluster.store, '/pods'))
    if (metadata.labels?.app === 'loner') blockedEvictions.add(`default/${metadata.name}`)
}

const STUCK_MS = 120_000

export const FAULTS: readonly PowerFault[] = [
  { name: 'croft is killed before it', ways: BOTH, strike: () => 'killed-before' },
  { name: 'croft is killed after it', ways: BOTH, strike: () => 'killed-after' },
  { name: 'it is refused', ways: BOTH, strike: () => 'refused' },
  { name: 'the request is lost', ways: BOTH, strike: () => 'lost-before' },
  { name: 'the answer is lost', ways: BOTH, strike: () => 'lost-after' },
  { name: 'a server dies', ways: BOTH, tears: true, strike: (site) => crash(site, 's2') },
  { name: 'a worker dies', ways: BOTH, tears: true, strike: (site) => crash(site, 'a1') },
  {
    name: 'the power fails and comes back',
    ways: BOTH,
    tears: true,
    strike: (site) => cut(site, HOSTS, 90_000),
  },
  {
    name: 'the power fails, and hosts stay off until they are woken',
    ways: BOTH,
    tears: true,
    // It cannot be asked for longer than declared, so the order is taken back, as declared.
    aborts: true,
    strike: (site) => cut(site, HOSTS, undefined),
  },
  {
    name: 'a node does not drain for two minutes, wait',
    ways: ['off'],
    power: '  deadlines: {drain: {after: 30s, choice: wait}}\n',
    strike(site) {
      blockDrain(site, true)
      later(site, STUCK_MS, () => blockDrain(site, false))
      return 'done'
    },
  },
  {
    name: 'a node never drains, force',
    ways: ['off'],
    power: '  deadlines: {drain: {after: 30s, choice: force}}\n',
    strike(site) {
      blockDrain(site, true)
      return 'done'
    },
    heal: (site) => blockDrain(site, false),
  },
  {
    name: 'a node never drains, abort',
    ways: ['off'],
    power: '  deadlines: {drain: {after: 30s, choice: abort}}\n',
    aborts: true,
    strike(site) {
      blockDrain(site, true)
      return 'done'
    },
    heal: (site) => blockDrain(site, false),
  },
  {
    name: 'a volume does not detach for two minutes, wait',
    ways: ['off'],
    power: '  deadlines: {detach: {after: 30s, choice: wait}}\n',
    strike(site) {
      site.storage.stick('photos')
      later(site, STUCK_MS, () => site.storage.stick(undefined))
      return 'done'
    },
  },
  {
    name: 'a volume never detaches, force',
    ways: ['off'],
    power: '  deadlines: {detach: {after: 30s, choice: force}}\n',
    tears: true,
    strike(site) {
      site.storage.stick('photos')
      return 'done'
    },
    heal: (site) => site.storage.stick(undefined),
  },
  {
    name: 'a volume never detaches, abort',
    ways: ['off'],
    power: '  deadlines: {detach: {after: 30s, choice: abort}}\n',
    aborts: true,
    strike(site) {
      site.storage.stick('photos')
      return 'done'
    },
    heal: (site) => site.storage.stick(undefined),
  },
]

/** In a site in which croft runs on one of the hosts: that one goes off, with croft, and a person starts it again. */
export const OWN_FAULTS: readonly PowerFault[] = [
  {
    name: 'the host that croft runs on goes off and is started again',
    ways: BOTH,
    tears: true,
    strike(site) {
      cut(site, [OWN_HOST], undefined)
      return 'killed-before'
    },
  },
]

/** What an effect is called, the same in every run. Undefined: it only looks. */
export function effectName({ what, body }: Effect): string | undefined {
  if (what === 'magic packet') return `wake ${body}`
  if (what.endsWith('/agent/exec') || what.includes('/agent/file')) {
    const verb = /croft%2Fnode&command=(stop|start|restart)/.exec(body)?.[1]
    return verb === undefined ? undefined : `${what} ${verb}`
  }
  if (/ \/api2\/json\/access\//.test(what)) return undefined
  return what.replace(/\/pods\/([a-z]+)-[a-z0-9-]+/, '/pods/$1')
}
