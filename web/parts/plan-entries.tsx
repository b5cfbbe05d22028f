import { useState } from 'preact/hooks'
import type { Page, PlanEntryOnPage } from '../../src/server/api/schemas.ts'
import { useNarrow } from '../hooks.ts'
import { hrefToKey } from '../route.ts'
import { isDoing } from '../tone.ts'
import { ActionBody, Sign } from './action-body.tsx'
import { CommitOf } from './commit.tsx'
import { Badge, Icon } from './icon.tsx'
import { VirtualList } from './virtual.tsx'

const ROW_HEIGHT = 46

/** Actions of a plan, each with the commit that asks for it. A long plan is a list to scroll; a short one is read whole. */
export function Entries({
  entries,
  page,
  picked,
  onPick,
  quiet = false,
}: {
  readonly entries: readonly PlanEntryOnPage[]
  readonly page: Page
  /** Hides the reason in each line, because it is shown above. */
  readonly quiet?: boolean
  readonly picked?: ReadonlySet<string>
  readonly onPick?: (key: string) => void
}) {
  const of = (entry: PlanEntryOnPage): EntryProps => ({
    entry,
    page,
    quiet,
    picked: picked?.has(entry.key) === true,
    ...(onPick === undefined ? {} : { onPick }),
  })
  if (entries.length > 40)
    return (
      <VirtualList
        items={entries}
        rowHeight={ROW_HEIGHT}
        keyOf={({ key }) => key}
        label="Actions"
        draw={(entry) => <EntryLine {...of(entry)} />}
      />
    )
  return (
    <div>
      {entries.map((entry) => (
        <Entry key={entry.key} {...of(entry)} open={entries.length <= 3} />
      ))}
    </div>
  )
}

interface EntryProps {
  readonly entry: PlanEntryOnPage
  readonly page: Page
  readonly quiet: boolean
  readonly picked: boolean
  readonly onPick?: (key: string) => void
}

function EntryLine({ entry, page, quiet, picked, onPick }: EntryProps) {
  const [kind, ...name] = entry.key.split('/')
  return (
    <div class="entry-line">
      {onPick !== undefined && (
        <input type="checkbox" checked={picked} aria-label={`Pick ${entry.key}`} onChange={() => onPick(entry.key)} />
      )}
      <Sign action={entry.action} />
      <a class="clip" href={hrefToKey(entry.key)} data-row>
        <b>{name.join('/')}</b> <span class="muted wide-only">{kind}</span>
      </a>
      <span class="muted grow clip wide-only">
        {quiet ? (entry.action.steps.at(-1)?.summary ?? '') : (entry.action.reason ?? entry.action.message)}
      </span>
      <span class="wide-only">
        <CommitOf page={page} commit={entry.origin?.commit} />
      </span>
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
        word={wordOf(entry, quiet)}
      />
    </div>
  )
}

function Entry({ open: begin, ...props }: EntryProps & { readonly open: boolean }) {
  const { entry, page, quiet } = props
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
        <EntryLine {...props} />
      </div>
      {open && (
        <>
          {narrow && <CommitOf page={page} commit={entry.origin?.commit} />}
          <ActionBody action={entry.action} brief={!narrow || quiet} />
        </>
      )}
    </div>
  )
}

function wordOf({ action }: PlanEntryOnPage, quiet: boolean): string {
  if (action.next === undefined) return action.do
  return quiet ? action.next : `${action.do}: ${action.next}`
}
