import { useState } from 'preact/hooks'
import type { Page } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { weekdayTime } from '../format.ts'
import { useFetched } from '../hooks.ts'
import { live } from '../live.ts'
import { ui, wish, withRight } from '../ui.ts'
import { Ago, Awaited, Card, Command } from './bits.tsx'
import type { PlannedRow } from './commit-change.tsx'
import { Icon } from './icon.tsx'
import { later } from './later.tsx'

const CommitChange = later(() => import('./commit-change.tsx').then((module) => module.CommitChange))

/** The diff beside the plan, for who may operate: a file holds more than what it declares. */
export function Change(props: {
  readonly source: string
  readonly commit: string
  readonly rows: readonly PlannedRow[]
}) {
  const { me } = live.use()
  const [open, set] = useState(false)
  const word = open ? 'Hide what the commit changes' : 'Show what the commit changes'
  return (
    <>
      <p>
        <button
          type="button"
          class="button"
          aria-expanded={open}
          onClick={() => withRight('operate', () => set(!open))}
        >
          <Icon name="commit" size={14} /> {word}
        </button>
      </p>
      {open && me?.scopes.includes('operate') === true && <CommitChange {...props} />}
    </>
  )
}

type Waiting = NonNullable<Page['sources'][number]['waiting']>

/** A commit that comes into force when a person approves exactly this plan. */
export function WaitingPlan({ name, waiting }: { readonly name: string; readonly waiting: Waiting }) {
  const { plan, commit, subject, author, summary, sinceMs } = waiting
  const fetched = useFetched(() => api.waitingPlan(name), [name, commit, plan, summary])
  const key = `Source/${name}@${plan ?? ''}`
  const approve = () =>
    ui.set({
      confirm: {
        title: `Approve this plan of ${name}?`,
        body: <p>{summary} croft plans once more, and does nothing if the plan is another one by then.</p>,
        action: 'Approve',
        command: `croft ask approve ${key}`,
        danger: false,
        go: async () => {
          await wish('approve', { keys: [key] })
        },
      },
    })
  return (
    <Card
      class="held"
      title={
        <>
          <Icon name="pause" /> A commit of {name} waits for approval
        </>
      }
      aside={
        <button
          type="button"
          class="button is-main"
          disabled={plan === undefined}
          onClick={() => withRight('approve', approve)}
        >
          Approve
        </button>
      }
    >
      <p class="held-why">
        <code>{commit.slice(0, 7)}</code> {subject} {author !== undefined && <span class="muted">by {author}</span>}
        <span class="muted">
          {' '}
          planned <Ago atMs={sinceMs} /> ({weekdayTime(sinceMs)})
        </span>
        <span class="trouble-allow">{summary}</span>
      </p>
      {fetched.value === undefined ? (
        <Awaited fetched={fetched} />
      ) : (
        <pre class="code waiting-text" tabIndex={0} role="group" aria-label={`Plan of ${name}`}>
          {fetched.value.text ?? ''}
        </pre>
      )}
      <Change source={name} commit={commit} rows={fetched.value?.rows ?? []} />
      {plan !== undefined && <Command text={`croft ask approve ${key}`} />}
    </Card>
  )
}
