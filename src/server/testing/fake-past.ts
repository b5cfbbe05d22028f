import type { Course, CourseBar } from '../../model/course.ts'
import type { GaugePast, HealthPast, Past } from '../../model/past.ts'

const DAY_SECONDS = 86_400

/** A past of 40 days: the check web was down for 20 minutes ten days ago, and one day is unknown. */
export function fakePast(): Past {
  const day = (down: number, unknown = 0) => ({ up: DAY_SECONDS - down - unknown, down, unknown })
  const spans = (count: number, at: (daysAgo: number) => HealthPast['spans'][number]) =>
    Array.from({ length: count }, (_, index) => (count - 1 - index >= 40 ? undefined : at(count - 1 - index)))
  const gauge = (what: GaugePast['what'], subject: string, name: GaugePast['gauge'], base: number, slots: number) => ({
    what,
    subject,
    gauge: name,
    means: Array.from({ length: slots }, (_, at) =>
      at % 40 === 7 ? undefined : base * (1 + 0.4 * Math.sin(at / 9) + 0.1 * Math.sin(at)),
    ),
  })
  return {
    days: (_now, count) => [
      {
        what: 'check',
        subject: 'web',
        spans: spans(count, (ago) => (ago === 20 ? undefined : day(ago === 10 ? 1200 : 0))),
      },
      { what: 'cluster', subject: 'homelab', spans: spans(count, () => day(0)) },
      { what: 'host', subject: 'still-fawn', spans: spans(count, (ago) => day(0, ago === 3 ? DAY_SECONDS : 0)) },
    ],
    hours: (_now, count) => [
      {
        what: 'check',
        subject: 'web',
        spans: Array.from({ length: count }, () => ({ up: 3600, down: 0, unknown: 0 })),
      },
    ],
    gauges: (_now, slots) => [
      gauge('host', 'still-fawn', 'cpu', 0.3, slots),
      gauge('host', 'still-fawn', 'memory', 0.6, slots),
      gauge('storage', 'still-fawn/local-zfs', 'storage', 0.4, slots),
      gauge('node', 'k3s-vm-still-fawn', 'cpu', 0.2, slots),
      gauge('cluster', 'homelab', 'etcdBytes', 24_000_000, slots),
      gauge('cluster', 'homelab', 'etcdMs', 9, slots),
    ],
    courses: () => [fakeCourse(Date.now())],
  }
}

/** An upgrade of three servers; the second restarts right now. */
export function fakeCourse(nowMs: number): Course {
  const at = (secondsAgo: number) => nowMs - secondsAgo * 1000
  const bars = (
    fromSecondsAgo: number,
    parts: readonly (readonly [CourseBar['step'], CourseBar['sort'], number])[],
  ) => {
    let from = fromSecondsAgo
    return parts.map(([step, sort, seconds]): CourseBar => {
      const fromMs = at(from)
      from -= seconds
      return { step, sort, says: `${step} the node`, fromMs, ...(from <= 0 ? {} : { toMs: at(from) }) }
    })
  }
  return {
    key: 'Cluster/homelab',
    purpose: 'upgrade',
    title: 'Upgrade to v1.34.4+k3s1',
    fromMs: at(400),
    seenMs: at(1),
    over: false,
    tracks: [
      {
        name: 'k3s-vm-pumped-piglet-gpu',
        sort: 'server',
        bars: bars(400, [
          ['snapshot', 'change', 14],
          ['cordon', 'move', 2],
          ['drain', 'move', 66],
          ['install', 'change', 32],
          ['restart', 'down', 41],
          ['wait', 'wait', 18],
          ['uncordon', 'move', 2],
          ['soak', 'wait', 60],
        ]),
      },
      {
        name: 'k3s-vm-still-fawn',
        sort: 'server',
        bars: bars(165, [
          ['cordon', 'move', 2],
          ['drain', 'move', 96],
          ['install', 'change', 30],
          ['restart', 'down', 60],
        ]),
      },
      { name: 'k3s-vm-fun-bedbug', sort: 'server', bars: [] },
    ],
    votes: [
      { atMs: at(400), up: 3, voters: 3, needed: 2 },
      { atMs: at(282), up: 2, voters: 3, needed: 2 },
      { atMs: at(240), up: 3, voters: 3, needed: 2 },
      { atMs: at(30), up: 2, voters: 3, needed: 2 },
    ],
  }
}
