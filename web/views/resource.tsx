import type { Page, ResourceDetail } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { useFetched } from '../hooks.ts'
import { Awaited, Card, Command, Empty } from '../parts/bits.tsx'
import { Badge } from '../parts/icon.tsx'
import { later } from '../parts/later.tsx'
import { ResourceOverview } from '../parts/resource-overview.tsx'
import { ResourceDiff, ResourceEvents, ResourceObserved, ResourceYaml } from '../parts/resource-tabs.tsx'
import { hrefTo } from '../route.ts'
import { readyWord, syncWord } from '../tone.ts'
import { may, ui, wish, withRight } from '../ui.ts'

const TABS = ['overview', 'diff', 'events', 'yaml', 'observed'] as const
const TITLES: Readonly<Record<string, string>> = {
  overview: 'Overview',
  diff: 'Diff',
  events: 'Events',
  yaml: 'YAML',
  observed: 'Observed',
  console: 'Console',
}

/** With the terminal it is more than all the rest of the page. */
const Console = later(() => import('../parts/console.tsx').then((module) => module.ConsolePanel))

export function ResourceView({
  page,
  resource: key,
  tab,
}: {
  readonly page: Page
  readonly resource: string
  readonly tab: string
}) {
  const row = page.rows.find((one) => one.key === key)
  // The row changes exactly when there is something new to fetch.
  const fetched = useFetched(() => api.resource(key), [key, row], key)
  const { value: detail, trouble } = fetched
  if (trouble?.absent === true)
    return (
      <Empty alone icon="search" title="There is no such resource">
        {key} is neither declared nor remembered. <a href={hrefTo('estate')}>To the estate</a>
      </Empty>
    )
  if (detail === undefined) return <Awaited fetched={fetched} />
  const [sync, ready] = [syncWord(detail), readyWord(detail)]
  return (
    <>
      <nav class="crumbs" aria-label="Where">
        <a href={hrefTo('estate')}>Estate</a>
        {detail.host !== undefined && <a href={hrefTo('estate', 'host', detail.host)}>{detail.host}</a>}
        {detail.kind === 'Addon' && <AddonCrumb detail={detail} />}
        {detail.cluster !== undefined && <a href={hrefTo('cluster', detail.cluster)}>{detail.cluster}</a>}
      </nav>
      <header class="view-head">
        <div class="resource-title">
          <h1>{detail.name}</h1>
          <span class="muted">
            {detail.kind}
            {detail.externalId !== undefined && ` · ${detail.externalId}`}
          </span>
        </div>
        <Badge tone={sync.tone} word={sync.word} icon={detail.paused ? 'pause' : sync.tone} />
        <Badge tone={ready.tone} word={ready.word} />
        <span class="grow" />
        <Actions detail={detail} />
      </header>
      <div class="tabs" role="tablist">
        {[...TABS, ...(detail.console === true && may('admin') ? ['console'] : [])].map((name) => (
          <a key={name} role="tab" aria-selected={tab === name} href={hrefTo('resource', key, name)}>
            {TITLES[name]}
            {name === 'diff' && detail.action.changes.length > 0 && (
              <span class="nav-count">{detail.action.changes.length}</span>
            )}
          </a>
        ))}
      </div>
      <div role="tabpanel" aria-label={TITLES[tab] ?? 'Overview'}>
        {tab === 'diff' ? (
          <ResourceDiff detail={detail} page={page} />
        ) : tab === 'events' ? (
          <ResourceEvents resource={key} />
        ) : tab === 'yaml' ? (
          <ResourceYaml resource={key} detail={detail} />
        ) : tab === 'console' && detail.console === true ? (
          <Console key={key} detail={detail} />
        ) : tab === 'observed' ? (
          <ResourceObserved detail={detail} />
        ) : (
          <ResourceOverview detail={detail} page={page} />
        )}
        <Card title="In a terminal">
          <Command text={commandOf(detail, tab)} />
        </Card>
      </div>
    </>
  )
}

/** Links from one object of an add-on to all of them, with their workloads. */
function AddonCrumb({ detail }: { readonly detail: ResourceDetail }) {
  const [addon = ''] = detail.name.split('/')
  return <a href={hrefTo('addon', detail.connection.replace(/^cluster\//, ''), addon)}>{addon}</a>
}

function Actions({ detail }: { readonly detail: ResourceDetail }) {
  const { key } = detail
  const suspend = () =>
    ui.set({
      confirm: {
        title: `Suspend ${detail.name}?`,
        body: 'croft keeps looking at it and changes nothing of it until it is resumed.',
        action: 'Suspend',
        command: `croft ask suspend ${key}`,
        go: async () => void (await wish('suspend', { key })),
      },
    })
  return (
    <div class="buttons">
      <button
        type="button"
        class="button"
        title="Compare it with Git now instead of at the next pass"
        onClick={() => withRight('operate', () => void wish('reconcile', { key }))}
      >
        Look now
      </button>
      {detail.paused ? (
        <button
          type="button"
          class="button"
          title="croft manages it again"
          onClick={() => withRight('operate', () => void wish('resume', { key }))}
        >
          Resume
        </button>
      ) : (
        <button
          type="button"
          class="button"
          title="croft changes nothing of it until you resume it; asks first"
          onClick={() => withRight('operate', suspend)}
        >
          Suspend
        </button>
      )}
    </div>
  )
}

/** Returns the equivalent command. */
function commandOf({ key, kind, name, command }: ResourceDetail, tab: string): string {
  if (tab === 'diff') return 'croft plan .'
  if (tab === 'events') return `croft why ${key}`
  if (tab === 'yaml') return `croft get ${kind} ${name} -o yaml`
  if (tab === 'console') return `croft console ${name}`
  return tab === 'observed' ? `${command} -o yaml` : command
}
