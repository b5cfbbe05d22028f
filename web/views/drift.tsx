import { useState } from 'preact/hooks'
import type { DriftOnPage, Page } from '../../src/server/api/schemas.ts'
import { plural } from '../format.ts'
import { Ago, Card, Empty } from '../parts/bits.tsx'
import { Badge, Icon } from '../parts/icon.tsx'
import { hrefToKey } from '../route.ts'
import { ui, wish, withRight } from '../ui.ts'

const POLICIES: Readonly<Record<DriftOnPage['policy'], string>> = {
  correct: 'will be put back by itself',
  report: 'only reported, as its policy says',
  ignore: 'left as it is, as its policy says',
}

/** Rows shown at first; more come on request. */
const SHOWN = 40

export function DriftView({ page }: { readonly page: Page }) {
  const [shown, show] = useState(SHOWN)
  const groups = [...Map.groupBy(page.drifts, ({ key }) => key)]
  return (
    <>
      <header class="view-head">
        <h1>Drift</h1>
        <span class="muted">
          {groups.length === 0 ? '' : `${plural(page.drifts.length, 'field')} of ${plural(groups.length, 'resource')}`}
        </span>
      </header>
      {groups.length === 0 ? (
        <Empty icon="ok" title="No drift">
          When somebody does, it stands here with the field, both values, who did it and since when.
        </Empty>
      ) : (
        <p class="lead muted">
          Somebody changed these in the outside system. <b>Adopt</b> makes Git agree, by a commit on a branch.{' '}
          <b>Revert</b> puts back what Git says.
        </p>
      )}
      <div class="stack">
        {groups.slice(0, shown).map(([key, drifts]) => (
          <Drifted key={key} resource={key} drifts={drifts} />
        ))}
        {groups.length > shown && (
          <button type="button" class="button" onClick={() => show(shown + SHOWN)}>
            Show more ({groups.length - shown} left)
          </button>
        )}
      </div>
    </>
  )
}

function Drifted({ resource: key, drifts }: { readonly resource: string; readonly drifts: readonly DriftOnPage[] }) {
  const name = key.split('/').at(-1) ?? key
  const adopt = () =>
    ui.set({
      confirm: {
        title: `Adopt the live state of ${name} in Git?`,
        body: (
          <>
            <p>croft commits these values on a branch, for you to merge. Nothing is changed on the machine.</p>
            <DriftTable drifts={drifts} />
          </>
        ),
        action: 'Adopt',
        command: `croft ask adopt ${key}`,
        go: async () => void (await wish('adopt-drift', { key, fields: drifts.map(({ field }) => field) })),
      },
    })
  const revert = () =>
    ui.set({
      confirm: {
        title: `Revert ${name} to what Git says?`,
        body: (
          <>
            <p>croft writes what Git says over what is there now. It may need a restart; the plan shows it.</p>
            <DriftTable drifts={drifts} />
          </>
        ),
        action: 'Revert',
        danger: true,
        command: `croft ask revert ${key}`,
        go: async () => void (await wish('revert-drift', { key })),
      },
    })
  return (
    <Card
      class="drift"
      title={
        <a href={hrefToKey(key)} data-row>
          {name} <span class="muted">{key.split('/')[0]}</span>
        </a>
      }
      aside={
        <div class="buttons">
          <button type="button" class="button" onClick={() => withRight('operate', adopt)}>
            Adopt
          </button>
          <button type="button" class="button" onClick={() => withRight('operate', revert)}>
            Revert
          </button>
        </div>
      }
    >
      <DriftTable drifts={drifts} />
      <p class="drift-foot">
        <Badge tone="warn" word={POLICIES[drifts[0]?.policy ?? 'report']} />
      </p>
    </Card>
  )
}

function DriftTable({ drifts }: { readonly drifts: readonly DriftOnPage[] }) {
  return (
    <table class="changes">
      <thead>
        <tr>
          <th>Field</th>
          <th>Git says</th>
          <th>There</th>
          <th class="wide-only">By</th>
          <th class="wide-only">Since</th>
        </tr>
      </thead>
      <tbody>
        {drifts.map((one) => (
          <tr key={one.field}>
            <td>
              <code>{one.field}</code>
              <span class="narrow-only muted drift-by">
                {one.by === undefined ? 'by somebody' : `by ${one.by.user} (${one.by.task})`},{' '}
                <Ago atMs={one.sinceMs} />
              </span>
            </td>
            <td>
              <del>{one.declared}</del>
            </td>
            <td>
              <ins>{one.observed}</ins>
            </td>
            <td class="wide-only">
              {one.by === undefined ? (
                <span class="muted">not known</span>
              ) : (
                <>
                  <Icon name="user" size={14} /> {one.by.user} <span class="muted">{one.by.task}</span>
                </>
              )}
            </td>
            <td class="wide-only">
              <Ago atMs={one.sinceMs} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
