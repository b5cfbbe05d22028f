import type { Page, PowerOnPage, Row } from '../src/server/api/schemas.ts'
import { plural } from './format.ts'
import { type Headline, headlineOf } from './headline.ts'
import { hrefTo } from './route.ts'
import { clusterState, hostsAsleep, hostTone, isComing, isDoing, TONE_ORDER, type Tone } from './tone.ts'

/** Something that a person should know first. */
export interface Trouble {
  readonly tone: Tone
  readonly title: string
  readonly detail: string
  readonly href: string
  /** What would help, where it is known. */
  readonly allow?: string
  /** Since when, where it is known. */
  readonly sinceMs?: number
}

/** More of the same than this is one line. */
const ALIKE = 3

/** What is wrong, worst first. Many of the same kind are one line: a list of 50 says less than the number. */
function troublesOf(page: Page): readonly Trouble[] {
  const troubles: Trouble[] = [
    ...page.sources.flatMap(({ name, trouble }): Trouble[] =>
      trouble === undefined
        ? []
        : [{ tone: 'bad', title: `Git source ${name} is not followed`, detail: trouble, href: hrefTo('timeline') }],
    ),
    ...page.problems
      .filter(({ severity }) => severity === 'error')
      .slice(0, 5)
      .map(
        (one): Trouble => ({
          tone: 'bad',
          title: `${one.file}:${one.line} is not valid`,
          detail: one.message,
          href: hrefTo('plan'),
          ...(one.hint === undefined ? {} : { allow: one.hint }),
        }),
      ),
    ...page.connections
      .filter(({ state }) => state !== 'ok')
      .map(
        (one): Trouble => ({
          tone: 'bad',
          title: `Connection ${one.name} is ${one.state}`,
          detail: one.message ?? one.endpoint,
          href: hrefTo('estate'),
          ...(one.allow === undefined ? {} : { allow: one.allow }),
        }),
      ),
    // One that is switched off, or on its way, is held by that order: no trouble.
    ...page.clusters.filter((cluster) => clusterState(cluster, page).word === cluster.phase).flatMap(clusterTroubles),
    ...(page.power ?? []).flatMap(powerTroubles),
    ...hostTroubles(page),
    ...page.checks
      .filter(({ passed }) => passed === 'no')
      .map(
        (one): Trouble => ({
          tone: 'bad',
          title: `Check "${one.name}" fails`,
          detail: one.output,
          href: hrefTo('health'),
        }),
      ),
    ...grouped(
      page.rows.filter(({ stalled }) => stalled),
      'bad',
      'stalled',
      'a person must act',
    ),
    ...grouped(
      page.rows.filter((row) => row.do === 'refuse' && !row.stalled),
      'bad',
      'refused',
      'not as declared',
    ),
    ...grouped(
      page.rows.filter(
        (row) =>
          row.ready === 'False' &&
          !isComing(row) &&
          !row.stalled &&
          ['nothing', 'wait'].includes(row.do) &&
          !row.paused,
      ),
      'bad',
      'not ready',
      'not up',
    ),
    // What a held resource says of itself, and since when, is about what it is now, not about what is held.
    ...grouped(
      page.rows
        .filter((row) => row.do === 'hold')
        .map(({ sinceMs: _, ...row }) => ({ ...row, message: `${row.next ?? 'a change'} waits for an approval` })),
      'warn',
      'held',
      'waits for an approval',
      hrefTo('plan'),
    ),
    ...driftTroubles(page),
  ]
  return troubles.toSorted((a, b) => TONE_ORDER[a.tone] - TONE_ORDER[b.tone])
}

/** How everything stands: the first sentence, and what is wrong, worst first. */
export function standingOf(page: Page): Headline & { readonly troubles: readonly Trouble[] } {
  const known = standings.get(page)
  if (known !== undefined) return known
  const troubles = troublesOf(page)
  const grave = troubles.filter(({ tone }) => tone === 'bad').length
  const doing = page.rows.filter((row) => isDoing(row.do)).length
  const standing = { troubles, ...headlineOf(page, { grave, slight: troubles.length - grave, doing }) }
  standings.set(page, standing)
  return standing
}

/** It is asked for in several places of one drawing. */
const standings = new WeakMap<Page, ReturnType<typeof standingOf>>()

function hostTroubles(page: Page): readonly Trouble[] {
  const asleep = hostsAsleep(page)
  return page.hosts.flatMap((host): readonly Trouble[] => {
    const href = hrefTo('estate', 'host', host.name)
    if (hostTone(host, asleep) === 'bad')
      return [{ tone: 'bad', title: `Host ${host.name} is offline`, detail: 'It does not answer.', href }]
    return hostTone(host, asleep) === 'warn'
      ? [{ tone: 'warn', title: `Host ${host.name} is hot`, detail: `${Math.round(host.temperatureC ?? 0)} °C`, href }]
      : []
  })
}

function powerTroubles({ name, holds, refusals, ups }: PowerOnPage): readonly Trouble[] {
  const href = hrefTo('power')
  const troubles: Trouble[] = [...refusals, ...holds].slice(0, 3).map((hold) => ({
    tone: refusals.includes(hold) ? 'bad' : 'warn',
    title: `Power ${name} is ${refusals.includes(hold) ? 'refused' : 'held'}`,
    detail: hold.reason,
    allow: hold.allow,
    href,
  }))
  if (ups?.state === 'battery')
    troubles.push({
      tone: ups.low === true ? 'bad' : 'warn',
      title: `The UPS of ${name} is on battery`,
      detail: `${Math.round(ups.charge ?? 0)} % left`,
      href,
    })
  return troubles
}

function driftTroubles({ drifts }: Page): readonly Trouble[] {
  const groups = [
    ...Map.groupBy(
      drifts.filter(({ policy }) => policy !== 'ignore'),
      ({ key }) => key,
    ),
  ]
  const nameOf = (key: string) => key.split('/').at(-1) ?? key
  const href = hrefTo('drift')
  if (groups.length > ALIKE) {
    const names = groups.slice(0, 4).map(([key]) => nameOf(key))
    const detail = `${names.join(', ')}${groups.length > 4 ? ` and ${groups.length - 4} more` : ''}`
    return [
      {
        tone: 'warn',
        title: `${groups.length} resources have drifted`,
        detail,
        href,
        ...since(groups.flatMap(([, own]) => own)),
      },
    ]
  }
  return groups.map(([key, own]) => {
    const fields = own.map(({ field, declared, observed }) => `${field} is ${observed}, Git says ${declared}`)
    const by = own[0]?.by === undefined ? '' : `, by ${own[0].by.user}`
    const detail = `${fields.slice(0, 3).join('; ')}${by}`
    return { tone: 'warn', title: `${nameOf(key)} has drifted`, detail, href, ...since(own) }
  })
}

function clusterTroubles(cluster: Page['clusters'][number]): readonly Trouble[] {
  const href = hrefTo('cluster', cluster.name)
  const troubles: Trouble[] = []
  const unwell = cluster.nodes.filter(({ phase }) => phase === 'NotReady' || phase === 'Flapping')
  if (cluster.phase === 'QuorumLost')
    troubles.push({
      tone: 'bad',
      title: `Cluster ${cluster.name} has lost its quorum`,
      detail: cluster.faultTolerance,
      href,
    })
  else if (unwell.length > 0) {
    const names = unwell.slice(0, 3).map(({ name }) => name)
    const more = unwell.length > names.length ? ` and ${unwell.length - names.length} more` : ''
    const margin = cluster.quorumMargin === 0 ? ' No further server may be lost.' : ''
    const server = unwell.some(({ role }) => role === 'server')
    troubles.push({
      tone: server ? 'bad' : 'warn',
      title: `${plural(unwell.length, 'node')} of ${cluster.name} not ready`,
      detail: `${names.join(', ')}${more}.${server ? margin : ''}`,
      href,
      ...since(unwell.map(({ readySinceMs }) => ({ sinceMs: readySinceMs }))),
    })
  }
  for (const hold of [...cluster.refusals, ...cluster.holds].slice(0, 3))
    troubles.push({
      tone: cluster.refusals.includes(hold) ? 'bad' : 'warn',
      title: `Cluster ${cluster.name}: held by ${hold.guard}`,
      detail: hold.reason,
      allow: hold.allow,
      href,
    })
  return troubles
}

function grouped(rows: readonly Row[], tone: Tone, word: string, fallback: string, href?: string): readonly Trouble[] {
  if (rows.length <= ALIKE)
    return rows.map((row) => ({
      tone,
      title: `${row.name} is ${word}`,
      detail: row.message === '' || row.message === 'as declared' ? fallback : row.message,
      href: href ?? hrefTo('resource', row.key),
      ...since([row]),
    }))
  const names = rows.slice(0, 4).map(({ name }) => name)
  return [
    {
      tone,
      title: `${rows.length} resources are ${word}`,
      detail: `${names.join(', ')} and ${rows.length - names.length} more`,
      href: href ?? hrefTo('estate', 'wrong'),
      ...since(rows),
    },
  ]
}

/** Of several: since the first of them. */
function since(all: readonly { readonly sinceMs?: number | undefined }[]): { readonly sinceMs?: number } {
  const known = all.flatMap(({ sinceMs }) => (sinceMs === undefined ? [] : [sinceMs]))
  return known.length === 0 ? {} : { sinceMs: Math.min(...known) }
}
