import type { DisruptionOnPage, Page, PlanEntryOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { plural, shortCommit } from '../format.ts'
import { useCalm, useFetched } from '../hooks.ts'
import { live } from '../live.ts'
import { Awaited, Card, Command, Empty } from '../parts/bits.tsx'
import { UpgradeBar, upgradeOf } from '../parts/cluster-card.tsx'
import { ClusterSteps, isUnsettled } from '../parts/cluster-steps.tsx'
import { Held } from '../parts/held.tsx'
import { Badge } from '../parts/icon.tsx'
import { Entries } from '../parts/plan-entries.tsx'
import { Change, WaitingPlan } from '../parts/waiting-plan.tsx'
import { idleWords } from '../plan-words.ts'
import { hrefTo } from '../route.ts'
import { clusterState } from '../tone.ts'

export function PlanView({ page }: { readonly page: Page }) {
  // Fetch again only after changes of the plan, not after every pass.
  const stamp = page.rows
    .filter((row) => row.do !== 'nothing')
    .map((row) => `${row.key} ${row.do} ${row.status}`)
    .join()
  const fetched = useFetched(() => api.plan(), [useCalm(stamp)])
  const { value } = fetched
  if (value === undefined) return <Awaited fetched={fetched} />
  const { entries } = value
  const held = entries.filter(({ action }) => action.do === 'hold')
  const refused = entries.filter(({ action }) => action.do === 'refuse')
  const rest = entries.filter(({ action }) => !['hold', 'refuse'].includes(action.do))
  const clusters = page.clusters.filter((one) => isUnsettled(one) || upgradeOf(one) !== undefined)
  return (
    <>
      <header class="view-head">
        <h1>Plan</h1>
        <span class="muted">{summary(entries)}</span>
      </header>
      {page.problems.length > 0 && <Problems page={page} />}
      {entries.length === 0 && clusters.length === 0 && page.sources.every(({ waiting }) => waiting === undefined) && (
        <Idle page={page} />
      )}
      {page.sources.map((source) =>
        source.waiting === undefined ? null : (
          <WaitingPlan key={source.name} name={source.name} waiting={source.waiting} />
        ),
      )}
      {value.disruption !== undefined && <DisruptionCard disruption={value.disruption} />}
      {held.length > 0 && <Held entries={held} page={page} />}
      {refused.length > 0 && (
        <Card title="Refused as declared" aside={<span class="muted">change something in Git</span>}>
          <Entries entries={refused} page={page} />
        </Card>
      )}
      {rest.length > 0 && (
        <Card title="Planned">
          <Entries entries={rest} page={page} />
        </Card>
      )}
      {clusters.map((cluster) => (
        <Card
          key={cluster.key}
          title={cluster.key}
          aside={<a href={hrefTo('cluster', cluster.name)}>{clusterState(cluster, page).word}</a>}
        >
          <UpgradeBar cluster={cluster} />
          <ClusterSteps cluster={cluster} />
        </Card>
      ))}
      <ChangesInForce page={page} entries={entries} />
      <Card title="In a terminal">
        <Command text="croft plan ." />
      </Card>
    </>
  )
}

function Idle({ page }: { readonly page: Page }) {
  const { icon, title, text } = idleWords(page)
  return (
    <Empty icon={icon} title={title}>
      {text}
    </Empty>
  )
}

/** Shows the changes of the current commits, beside the plan that they cause. */
function ChangesInForce({ page, entries }: { readonly page: Page; readonly entries: readonly PlanEntryOnPage[] }) {
  return (
    <>
      {page.sources.map(({ name, commit, subject }) => {
        if (commit === undefined || subject === undefined || entries.length === 0) return null
        const rows = entries.map(({ key, action, origin }) => ({
          key,
          do: action.do,
          next: action.next,
          text: action.reason ?? action.message ?? '',
          file: origin?.file,
        }))
        return (
          <Card
            key={name}
            title={`Commit ${shortCommit(commit)} of ${name}`}
            aside={<span class="muted">{subject}</span>}
          >
            <Change source={name} commit={commit} rows={rows} />
          </Card>
        )
      })}
    </>
  )
}

/** Shows the plan's disruptions of running things, the worst first. */
function DisruptionCard({ disruption: { worst, items } }: { readonly disruption: DisruptionOnPage }) {
  if (items.length === 0) return null
  return (
    <Card title={`Disruption: ${worst.replace('-', ' ')}`}>
      <ul class="plain">
        {items.slice(0, 12).map((one) => (
          <li key={one.subject}>
            <Badge tone={one.worst === 'data-loss' ? 'bad' : 'warn'} word={one.worst.replace('-', ' ')} />{' '}
            <strong>{one.subject}</strong> {one.text}
          </li>
        ))}
      </ul>
      {items.length > 12 && <p class="muted">and {items.length - 12} more</p>}
    </Card>
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

const placeOf = ({ file, line, column }: Pick<Page['problems'][number], 'file' | 'line' | 'column'>) =>
  `${file}:${line}:${column}`

function Problems({ page }: { readonly page: Page }) {
  // The server returns manifest lines only to signed-in users.
  const { name } = live.use().me ?? {}
  const places = page.problems.map((one) => placeOf(one)).join()
  const none = { excerpts: [] }
  const { value = none } = useFetched(async () => (name === undefined ? none : api.excerpts()), [name, places], name)
  const lines = new Map(value.excerpts.map((one) => [placeOf(one), one.excerpt]))
  return (
    <Card title={plural(page.problems.length, 'problem in Git', 'problems in Git')}>
      <ul class="plain">
        {page.problems.slice(0, 20).map((problem) => (
          <li key={`${problem.file}${problem.line}${problem.message}`} class="problem">
            <Badge tone={problem.severity === 'error' ? 'bad' : 'warn'} word={problem.severity} />
            <span class="grow">
              <code>{placeOf(problem)}</code> {problem.message}
              {problem.hint !== undefined && <span class="trouble-allow">→ {problem.hint}</span>}
              {lines.has(placeOf(problem)) && (
                <pre class="code" tabIndex={0} role="group" aria-label={`Lines of ${problem.file}`}>
                  {lines.get(placeOf(problem))}
                </pre>
              )}
            </span>
          </li>
        ))}
      </ul>
    </Card>
  )
}
