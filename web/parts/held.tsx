import { useState } from 'preact/hooks'
import type { Page, PlanEntryOnPage } from '../../src/server/api/schemas.ts'
import { plural } from '../format.ts'
import { ui, wish, withRight } from '../ui.ts'
import { Sign } from './action-body.tsx'
import { Card } from './bits.tsx'
import { Icon } from './icon.tsx'
import { Entries } from './plan-entries.tsx'

/** Shows held actions by reason; a person selects some or all, and approves them. */
export function Held({ entries, page }: { readonly entries: readonly PlanEntryOnPage[]; readonly page: Page }) {
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
    const seen = Object.fromEntries(
      entries.flatMap(({ key, action: { shown } }) => (picked.has(key) && shown !== undefined ? [[key, shown]] : [])),
    )
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
                    <ul class="plain muted">
                      {(action.shows ?? []).slice(1, 9).map((line) => (
                        <li key={line}>{line}</li>
                      ))}
                      {(action.shows ?? []).length > 9 && <li>and {(action.shows ?? []).length - 9} more</li>}
                    </ul>
                  </li>
                ))}
              {keys.length > 8 && <li class="muted">and {keys.length - 8} more</li>}
            </ul>
          </>
        ),
        action: 'Approve',
        ...(keys.length === 1 ? { command: `croft ask approve ${keys[0] ?? ''}` } : {}),
        danger: first !== undefined,
        ...(first === undefined
          ? {}
          : { type: loses.length === 1 ? (first.key.split('/').at(-1) ?? '') : `delete ${loses.length}` }),
        go: async () => {
          if (await wish('approve', { keys, seen })) set(new Set())
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
      {[...Map.groupBy(entries, ({ action }) => action.reason ?? '')].map(([reason, own]) => (
        <div key={reason}>
          <p class="held-why">
            {reason}
            {own[0]?.action.allow !== undefined && <span class="trouble-allow">→ {own[0].action.allow}</span>}
          </p>
          <Entries entries={own} page={page} picked={picked} onPick={toggle} quiet />
        </div>
      ))}
    </Card>
  )
}
