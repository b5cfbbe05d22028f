import { useState } from 'preact/hooks'
import type { Page, PlanEntryOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { useFetched, useNarrow } from '../hooks.ts'
import { ActionBody, Sign } from '../parts/action-body.tsx'
import { Card, Command, Empty, Loading } from '../parts/bits.tsx'
import { Badge, Icon } from '../parts/icon.tsx'
import { VirtualList } from '../parts/virtual.tsx'
import { hrefToKey } from '../route.ts'
import { isDoing } from '../tone.ts'
import { ui, wish, withRight } from '../ui.ts'

const ROW_HEIGHT = 46

export function PlanView({ page }: { readonly page: Page }) {
  // Only what is in the plan makes it new, not every pass.
  const stamp = page.rows
    .filter((row) => row.do !== 'nothing')
    .map((row) => `${row.key} ${row.do} ${row.status}`)
    .join()
  const { value } = useFetched(() => api.plan(), [stamp])
  if (value === undefined) return <Loading rows={6} />
  const { entries } = value
  const held = entries.filter(({ action }) => action.do === 'hold')
  const refused = entries.filter(({ action }) => action.do === 'refuse')
  const rest = entries.filter(({ action }) => !['hold', 'refuse'].includes(action.do))
  return (
    <>
      <header class="view-head">
        <h1>Plan</h1>
        <span class="muted">{summary(entries)}</span>
      </header>
      {page.problems.length > 0 && <Problems page={page} />}
      {entries.length === 0 && (
        <Empty icon="ok" title="Nothing to do">
          Git and the world agree. A push, or a change by somebody else, appears here.
        </Empty>
      )}
      {held.length > 0 && <Held entries={held} />}
      {refused.length > 0 && (
        <Card title="Refused as declared" aside={<span class="muted">change something in Git</span>}>
          <Entries entries={refused} />
        </Card>
      )}
      {rest.length > 0 && (
        <Card title="Will be done">
          <Entries entries={rest} />
        </Card>
      )}
      <Card title="In a terminal">
        <Command text="croft plan ." />
      </Card>
    </>
  )
}

function summary(entries: readonly PlanEntryOnPage[]): string {
  const count = (...names: readonly string[]) => entries.filter(({ action }) => names.includes(action.do)).length
  const parts = [
    [count('create'), 'to add'],
    [count('update', 'adopt'), 'to change'],
    [count('delete', 'replace'), 'to destroy'],
    [count('wait'), 'waiting'],
    [count('hold'), 'held'],
    [count('refuse'), 'refused'],
  ] as const
  return parts
    .filter(([number], index) => number > 0 || index < 3)
    .map(([number, word]) => `${number} ${word}`)
    .join(', ')
}

function Held({ entries }: { readonly entries: readonly PlanEntryOnPage[] }) {
  const [picked, set] = useState<ReadonlySet<string>>(new Set())
  const toggle = (key: string) => {
    const next = new Set(picked)
    if (!next.delete(key)) next.add(key)
    set(next)
  }
  const keys = entries.map(({ key }) => key).filter((key) => picked.has(key))
  const loses = entries.filter(
    ({ key, action }) => picked.has(key) && action.steps.some((step) => step.disruption === 'data-loss'),
  )
  const approve = () => {
    const [first] = loses
    ui.set({
      confirm: {
        title: `Approve ${plural(keys.length, 'action')}?`,
        body: (
          <>
            <p>croft may do this within the next hour. It is written into the audit log with your name.</p>
            <ul class="plain">
              {entries
                .filter(({ key }) => picked.has(key))
                .slice(0, 8)
                .map(({ key, action }) => (
                  <li key={key} class="line-item">
                    <Sign action={{ do: action.next ?? action.do }} /> <b>{action.next ?? action.do}</b>{' '}
                    <span>{key}</span>
                  </li>
                ))}
              {keys.length > 8 && <li class="muted">and {keys.length - 8} more</li>}
            </ul>
          </>
        ),
        action: 'Approve',
        danger: first !== undefined,
        ...(first === undefined
          ? {}
          : { type: loses.length === 1 ? (first.key.split('/').at(-1) ?? '') : `delete ${loses.length}` }),
        go: async () => {
          if (await wish('approve', { keys })) set(new Set())
        },
      },
    })
  }
  return (
    <Card
      class="held"
      title={
        <>
          <Icon name="pause" /> Held, waits for a person
        </>
      }
      aside={
        <div class="buttons">
          <button
            type="button"
            class="button"
            onClick={() => set(picked.size === entries.length ? new Set() : new Set(entries.map(({ key }) => key)))}
          >
            {picked.size === entries.length ? 'None' : 'All'}
          </button>
          <button
            type="button"
            class="button is-main"
            disabled={keys.length === 0}
            onClick={() => withRight('approve', approve)}
          >
            Approve{keys.length > 0 && ` ${keys.length}`}
          </button>
        </div>
      }
    >
      <Entries entries={entries} picked={picked} onPick={toggle} />
    </Card>
  )
}

function Entries({
  entries,
  picked,
  onPick,
}: {
  readonly entries: readonly PlanEntryOnPage[]
  readonly picked?: ReadonlySet<string>
  readonly onPick?: (key: string) => void
}) {
  // A long plan is a list to scroll; a short one is read whole.
  if (entries.length > 40)
    return (
      <VirtualList
        items={entries}
        rowHeight={ROW_HEIGHT}
        keyOf={({ key }) => key}
        label="Actions"
        draw={(entry) => (
          <EntryLine
            entry={entry}
            picked={picked?.has(entry.key) === true}
            {...(onPick === undefined ? {} : { onPick })}
          />
        )}
      />
    )
  return (
    <div>
      {entries.map((entry) => (
        <Entry
          key={entry.key}
          entry={entry}
          open={entries.length <= 3}
          picked={picked?.has(entry.key) === true}
          {...(onPick === undefined ? {} : { onPick })}
        />
      ))}
    </div>
  )
}

interface EntryProps {
  readonly entry: PlanEntryOnPage
  readonly picked: boolean
  readonly onPick?: (key: string) => void
}

function EntryLine({ entry, picked, onPick }: EntryProps) {
  const [kind, ...name] = entry.key.split('/')
  return (
    <div class="entry-line">
      {onPick !== undefined && (
        <input type="checkbox" checked={picked} aria-label={`Pick ${entry.key}`} onChange={() => onPick(entry.key)} />
      )}
      <Sign action={entry.action} />
      <a class="clip" href={hrefToKey(entry.key)} data-row>
        <b>{name.join('/')}</b> <span class="muted">{kind}</span>
      </a>
      <span class="muted grow clip wide-only">{entry.action.reason ?? entry.action.message}</span>
      <Badge
        tone={
          entry.action.do === 'hold'
            ? 'warn'
            : entry.action.do === 'refuse'
              ? 'bad'
              : isDoing(entry.action.do)
                ? 'busy'
                : 'quiet'
        }
        word={entry.action.next === undefined ? entry.action.do : `${entry.action.do}: ${entry.action.next}`}
      />
    </div>
  )
}

function Entry({ entry, picked, onPick, open: begin }: EntryProps & { readonly open: boolean }) {
  const [open, set] = useState(begin)
  const narrow = useNarrow()
  return (
    <div class={`entry ${open ? 'is-open' : ''}`}>
      <div class="entry-top">
        <button
          type="button"
          class="button-quiet entry-toggle"
          aria-expanded={open}
          aria-label={`${open ? 'Less' : 'More'} about ${entry.key}`}
          onClick={() => set(!open)}
        >
          <Icon name="chevron" size={15} />
        </button>
        <EntryLine entry={entry} picked={picked} {...(onPick === undefined ? {} : { onPick })} />
      </div>
      {open && <ActionBody action={entry.action} brief={!narrow} />}
    </div>
  )
}

function Problems({ page }: { readonly page: Page }) {
  return (
    <Card title={plural(page.problems.length, 'problem in Git', 'problems in Git')}>
      <ul class="plain">
        {page.problems.slice(0, 20).map((problem) => (
          <li key={`${problem.file}${problem.line}${problem.message}`} class="problem">
            <Badge tone={problem.severity === 'error' ? 'bad' : 'warn'} word={problem.severity} />
            <span class="grow">
              <code>
                {problem.file}:{problem.line}:{problem.column}
              </code>{' '}
              {problem.message}
              {problem.hint !== undefined && <span class="trouble-allow">→ {problem.hint}</span>}
              {problem.excerpt !== undefined && <pre class="code">{problem.excerpt}</pre>}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
