import { useMemo, useState } from 'preact/hooks'
import type { Page, Row } from '../../src/server/api/schemas.ts'
import { hostNames } from '../boxes.ts'
import { hostWords, plural } from '../format.ts'
import { useNarrow } from '../hooks.ts'
import { Ago, Empty } from '../parts/bits.tsx'
import { FilterInput } from '../parts/filter.tsx'
import { Badge, Icon, Mark } from '../parts/icon.tsx'
import { later } from '../parts/later.tsx'
import { VirtualList } from '../parts/virtual.tsx'
import { goTo, hrefTo } from '../route.ts'
import { readyWord, syncWord, TONE_ORDER, type Tone, toneOf } from '../tone.ts'
import { ui } from '../ui.ts'

type Line =
  | {
      readonly is: 'group'
      readonly name: string
      readonly level: number
      readonly count: number
      readonly tones: Readonly<Record<Tone, number>>
      readonly open: boolean
      /** For a host: its load and temperature. */
      readonly detail: string
      readonly icon: 'estate' | 'overview' | 'cluster'
    }
  | { readonly is: 'row'; readonly row: Row; readonly level: number }

const GROUPS = ['host', 'cluster', 'kind'] as const
type Group = (typeof GROUPS)[number]
const ROW_HEIGHT = 42
const ROW_HEIGHT_NARROW = 60

/** The tree: site, host, machine. Everything is open while it fits on a few screens. */
export function EstateView({ page, args }: { readonly page: Page; readonly args: readonly string[] }) {
  const { filter } = ui.use()
  const narrow = useNarrow()
  const [group, setGroup] = useState<Group>('host')
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set())
  const [only, wanted] = args
  const value = only === 'host' && wanted !== undefined ? hostNames(page)(wanted) : wanted
  const named = useMemo(() => withOneName(page), [page.rows, page.hosts])
  const rows = useMemo(() => chosen(named, only, value, filter), [named, only, value, filter])
  const unwell = useMemo(() => named.filter(isUnwell).length, [named])
  const openByDefault = rows.length <= 60 || filter !== '' || only !== undefined
  const lines = useMemo(
    () => linesOf(rows, group, (name) => toggled.has(name) !== openByDefault, page.hosts),
    [rows, group, toggled, openByDefault, page.hosts],
  )
  const toggle = (name: string) => {
    const next = new Set(toggled)
    if (!next.delete(name)) next.add(name)
    setToggled(next)
  }
  return (
    <>
      <header class="view-head">
        <h1>Estate</h1>
        <span class="muted">
          {rows.length === page.rows.length
            ? plural(rows.length, 'resource')
            : `${rows.length} of ${plural(page.rows.length, 'resource')}`}
        </span>
        <span class="grow" />
        {only !== undefined && (
          <button type="button" class="chip" onClick={() => goTo('estate')}>
            {only === 'wrong' ? 'not well' : `${only}: ${value ?? ''}`} <Icon name="close" size={13} />
            <span class="hidden">: show all</span>
          </button>
        )}
        {only === undefined && unwell > 0 && (
          <button type="button" class="chip is-off" onClick={() => goTo('estate', 'wrong')}>
            <Icon name="bad" size={14} /> Not well ({unwell})
          </button>
        )}
        <div class="segments" role="group" aria-label="Group by">
          {GROUPS.map((name) => (
            <button key={name} type="button" aria-pressed={group === name} onClick={() => setGroup(name)}>
              {name}
            </button>
          ))}
        </div>
        <FilterInput />
      </header>
      {lines.length === 0 ? (
        <Empty icon={page.rows.length === 0 ? 'commit' : 'search'} title={titleOfNothing(page, only, filter)}>
          {page.rows.length === 0
            ? 'Commit a manifest to the repository that croft follows, and it appears here.'
            : filter === ''
              ? only === 'wrong'
                ? 'Every resource is ready and in sync with Git.'
                : 'No declared resource exists yet.'
              : `No resource has "${filter}" in its name, kind, host or status.`}
        </Empty>
      ) : (
        <div class="card is-flush">
          <div class="row-head wide-only" aria-hidden="true">
            <span>Name</span>
            <span>In sync</span>
            <span>Status</span>
            <span>Address</span>
            <span>Since</span>
          </div>
          <VirtualList
            items={lines}
            rowHeight={narrow ? ROW_HEIGHT_NARROW : ROW_HEIGHT}
            keyOf={(line) => (line.is === 'group' ? `group ${line.name}` : line.row.key)}
            label="Resources"
            draw={(line) =>
              line.is === 'group' ? (
                <GroupLine line={line} onToggle={() => toggle(line.name)} />
              ) : (
                <RowLine row={line.row} level={line.level} />
              )
            }
          />
        </div>
      )}
      {only === 'host' && value !== undefined && (
        <Graphs
          title="Over time"
          of={[
            { what: 'host', subject: value },
            { what: 'storage', subject: value },
          ]}
        />
      )}
    </>
  )
}

const Graphs = later(() => import('./graphs.tsx').then((module) => module.Graphs))

function titleOfNothing(page: Page, only: string | undefined, filter: string): string {
  if (page.rows.length === 0) return 'Nothing is declared yet'
  return only === 'wrong' && filter === '' ? 'All is well' : 'No match'
}

function isUnwell(row: Row): boolean {
  return ['bad', 'warn'].includes(toneOf(row))
}

/** Rows by the one name of their host. */
function withOneName(page: Page): readonly Row[] {
  const nameOf = hostNames(page)
  return page.rows.map((row) =>
    row.host === undefined || nameOf(row.host) === row.host ? row : { ...row, host: nameOf(row.host) },
  )
}

function chosen(
  rows: readonly Row[],
  only: string | undefined,
  value: string | undefined,
  filter: string,
): readonly Row[] {
  const words = filter
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return rows.filter((row) => {
    if (only === 'host' && row.host !== value) return false
    if (only === 'cluster' && row.cluster !== value) return false
    if (only === 'wrong' && !isUnwell(row)) return false
    if (words.length === 0) return true
    const hay =
      `${row.key} ${row.host ?? ''} ${row.cluster ?? ''} ${row.status} ${row.externalId ?? ''} ${row.address ?? ''}`.toLowerCase()
    return words.every((word) => hay.includes(word))
  })
}

const ICON_OF = { host: 'estate', cluster: 'cluster', kind: 'overview' } as const

function linesOf(
  rows: readonly Row[],
  group: Group,
  isOpen: (name: string) => boolean,
  hosts: Page['hosts'],
): readonly Line[] {
  const groups = Map.groupBy(rows, (row) => row[group] ?? (group === 'host' ? 'no host' : 'in no cluster'))
  const lines: Line[] = []
  for (const [name, members] of [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const tones: Record<Tone, number> = { ok: 0, busy: 0, warn: 0, bad: 0, quiet: 0 }
    for (const row of members) tones[toneOf(row)] += 1
    const open = isOpen(name)
    const detail = group === 'host' ? hostWords(hosts.find((host) => host.name === name)) : ''
    lines.push({ is: 'group', name, level: 0, count: members.length, tones, open, detail, icon: ICON_OF[group] })
    if (!open) continue
    const sorted = members.toSorted(
      (a, b) => TONE_ORDER[toneOf(a)] - TONE_ORDER[toneOf(b)] || (a.name < b.name ? -1 : 1),
    )
    for (const row of sorted) lines.push({ is: 'row', row, level: 1 })
  }
  return lines
}

const WORDS: Readonly<Record<Tone, string>> = {
  bad: 'wrong',
  warn: 'to decide',
  busy: 'changing',
  quiet: 'not known or suspended',
  ok: 'well',
}

function GroupLine({
  line,
  onToggle,
}: {
  readonly line: Extract<Line, { is: 'group' }>
  readonly onToggle: () => void
}) {
  return (
    <button type="button" class="group-line" aria-expanded={line.open} onClick={onToggle} data-row>
      <Icon name="chevron" size={15} />
      <Icon name={line.icon} size={17} />
      <b class="clip">{line.name}</b>
      <span class="muted">{line.count}</span>
      <span class="grow" />
      <span class="muted wide-only nowrap">{line.detail}</span>
      {(['bad', 'warn', 'busy', 'quiet', 'ok'] as const).map(
        (tone) =>
          line.tones[tone] > 0 && (
            <span key={tone} class={`count tone-${tone}`} title={`${line.tones[tone]} ${WORDS[tone]}`}>
              <Icon name={tone} size={14} /> {line.tones[tone]}
              <span class="hidden">{WORDS[tone]}</span>
            </span>
          ),
      )}
    </button>
  )
}

function RowLine({ row, level }: { readonly row: Row; readonly level: number }) {
  const [sync, ready] = [syncWord(row), readyWord(row)]
  return (
    <a
      class="row"
      href={hrefTo('resource', row.key)}
      data-row
      data-key={row.key}
      style={{ paddingLeft: `${14 + level * 22}px` }}
    >
      <span class="row-name">
        <Mark tone={toneOf(row)} title={WORDS[toneOf(row)]} />
        <span class="clip">
          <b>{row.name}</b> <span class="muted">{row.kind}</span>
        </span>
      </span>
      <Badge tone={sync.tone} word={sync.word} icon={row.paused ? 'pause' : sync.tone} />
      <Badge tone={ready.tone} word={ready.word} />
      <span class="row-address wide-only clip">{row.address ?? ''}</span>
      <span class="muted wide-only">{row.sinceMs !== undefined && <Ago atMs={row.sinceMs} />}</span>
    </a>
  )
}
