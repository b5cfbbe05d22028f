import type { PowerPreview, PowerView, TierRow } from '../../model/observed-power.ts'
import { HOUR, NOW } from './fake-moment.ts'

const DOWN: readonly (readonly [TierRow['tier'], number, string])[] = [
  ['gitops', 2, 'no pod of a GitOps agent is left'],
  ['apps', 14, 'no pod of an application is left'],
  ['databases', 2, 'databases are hibernated'],
  ['volumes', 1, 'no VolumeAttachment is left'],
  ['workers', 1, 'workers are drained, K3s is stopped, machines are off'],
  ['servers', 3, 'K3s is stopped on every server, machines are off'],
  ['hosts', 2, 'hosts are off'],
  ['last-hosts', 1, 'the last hosts are off'],
]

const UP: readonly (readonly [TierRow['tier'], number, string])[] = [
  ['hosts', 3, 'hosts are on'],
  ['servers', 3, 'machines of servers are on'],
  ['quorum', 1, 'etcd has its majority and the API answers'],
  ['dns', 1, 'DNS answers'],
  ['nodes', 3, 'the taint is off, what croft cordoned is uncordoned'],
  ['databases', 2, 'databases are ready'],
  ['apps', 14, 'applications have their replicas back and are ready'],
  ['gitops', 2, 'GitOps agents are ready'],
]

/** Returns tiers in progress: the first `done` are finished, the next one is half done. */
export function tiers(state: 'on' | 'off', done: number): readonly TierRow[] {
  return (state === 'off' ? DOWN : UP).map(([tier, of, awaits], index) => ({
    tier,
    state: index < done ? 'done' : index === done ? 'doing' : 'todo',
    progress: `${index < done ? of : index === done ? Math.floor(of / 2) : 0} of ${of}`,
    awaits,
  }))
}

/** The power of a homelab with one box that sleeps, a UPS and a schedule. */
export function fakePower(more: Partial<PowerView> = {}): PowerView {
  return {
    key: 'Power/homelab',
    name: 'homelab',
    cluster: 'homelab',
    phase: 'On',
    wanted: { state: 'on', sinceMs: NOW - 11 * HOUR, why: 'the schedule says so' },
    tiers: tiers('on', UP.length),
    waits: [],
    holds: [],
    refusals: [],
    warnings: [],
    asleep: ['duck'],
    doing: [],
    watts: { estimated: 168, measured: 174 },
    energy: {
      dayMs: Date.UTC(2026, 10, 14),
      estimatedWh: 1920,
      measuredWh: 2044,
      yesterday: { dayMs: Date.UTC(2026, 10, 13), estimatedWh: 2610, measuredWh: 2705 },
    },
    next: { state: 'off', atMs: NOW + 4 * HOUR },
    schedule: {
      timeZone: 'Europe/Berlin',
      off: ['30 23 * * *'],
      on: ['0 7 * * 1-5', '0 9 * * 0,6'],
      except: ['2026-12-24'],
    },
    held: [],
    hosts: [
      { name: 'pumped-piglet', power: 'on', level: 2, wokenBy: 'Wake-on-LAN', own: false, watts: 92, strangers: [] },
      {
        name: 'still-fawn',
        power: 'on',
        level: 1,
        wokenBy: 'management controller',
        own: false,
        watts: 41,
        strangers: [],
      },
      { name: 'fun-bedbug', power: 'on', level: 9, own: true, watts: 41, strangers: ['110 old-nas'] },
    ],
    onDemand: [{ node: 'duck', power: 'off', wanting: [] }],
    idleMs: 900_000,
    ups: {
      name: 'rack@192.168.4.2',
      state: 'mains',
      charge: 100,
      low: false,
      watts: 174,
      levels: [
        { below: 40, level: 1 },
        { below: 20, level: 2 },
        { below: 10, level: 9 },
      ],
    },
    ...more,
  }
}

/** A Power going down: applications stop, one of them slowly. */
export function goingOff(done = 1): Partial<PowerView> {
  return {
    phase: 'PoweringOff',
    wanted: { state: 'off', sinceMs: NOW - 40_000, why: 'asked by anna: over night' },
    tiers: tiers('off', done),
    doing: ['scale Deployment media/jellyfin to 0', 'scale Deployment web/blog to 0'],
    waits: [
      {
        tier: DOWN[done]?.[0] ?? 'apps',
        what: 'media/jellyfin',
        awaits: 'its last pod to be gone',
        waitedMs: 21_000,
        leftMs: 99_000,
      },
    ],
  }
}

export function fakePreview(
  state: 'on' | 'off',
  { holds, refusals, warnings }: Pick<PowerPreview, 'holds' | 'refusals' | 'warnings'>,
): PowerPreview {
  return {
    state,
    tiers: tiers(state, 0).map((row) => ({ ...row, state: 'todo' })),
    holds,
    refusals,
    warnings,
    first: state === 'off' ? ['suspend Argo CD'] : ['wake pumped-piglet'],
  }
}
