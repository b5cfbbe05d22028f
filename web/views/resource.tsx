import type { EventOnPage, Page, ResourceDetail } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { clockTime, shortCommit } from '../format.ts'
import { useFetched } from '../hooks.ts'
import { ActionBody } from '../parts/action-body.tsx'
import { Ago, Card, Command, Empty, Loading, Strip } from '../parts/bits.tsx'
import { Badge, Icon } from '../parts/icon.tsx'
import { hrefTo } from '../route.ts'
import { ui, wish, withRight } from '../ui.ts'
import { readyWord, syncWord } from './estate.tsx'

const TABS = ['overview', 'diff', 'events', 'yaml', 'observed'] as const
const TITLES: Readonly<Record<string, string>> = {
  overview: 'Overview',
  diff: 'Diff',
  events: 'Events',
  yaml: 'YAML',
  observed: 'Observed',
}

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
  const { value: detail, trouble } = useFetched(() => api.resource(key), [key, row], key)
  if (trouble !== undefined && detail === undefined)
    return (
      <Empty icon="search" title="There is no such resource">
        {key} is neither declared nor remembered. <a href={hrefTo('estate')}>To the estate</a>
      </Empty>
    )
  if (detail === undefined) return <Loading rows={6} />
  const [sync, ready] = [syncWord(detail), readyWord(detail)]
  return (
    <>
      <nav class="crumbs" aria-label="Where">
        <a href={hrefTo('estate')}>Estate</a>
        {detail.host !== undefined && <a href={hrefTo('estate', 'host', detail.host)}>{detail.host}</a>}
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
        {TABS.map((name) => (
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
          <Diff detail={detail} page={page} />
        ) : tab === 'events' ? (
          <Events resource={key} page={page} />
        ) : tab === 'yaml' ? (
          <Yaml resource={key} detail={detail} />
        ) : tab === 'observed' ? (
          <Observed detail={detail} />
        ) : (
          <Overview detail={detail} />
        )}
      </div>
    </>
  )
}

function Actions({ detail }: { readonly detail: ResourceDetail }) {
  const { key } = detail
  const suspend = () =>
    ui.set({
      confirm: {
        title: `Leave ${detail.name} alone?`,
        body: 'croft keeps looking at it and changes nothing of it until it is resumed.',
        action: 'Suspend',
        go: async () => void (await wish('suspend', { key })),
      },
    })
  return (
    <div class="buttons">
      <button type="button" class="button" onClick={() => withRight('operate', () => void wish('reconcile', { key }))}>
        Look now
      </button>
      {detail.paused ? (
        <button type="button" class="button" onClick={() => withRight('operate', () => void wish('resume', { key }))}>
          Resume
        </button>
      ) : (
        <button type="button" class="button" onClick={() => withRight('operate', suspend)}>
          Suspend
        </button>
      )}
    </div>
  )
}

function Overview({ detail }: { readonly detail: ResourceDetail }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Host', detail.host],
    ['Id', detail.externalId],
    ['Connection', detail.connection],
    ['Cluster', detail.cluster],
    ['Power', detail.power],
    ['Addresses', detail.addresses.length === 0 ? undefined : detail.addresses.join(', ')],
    ['Declared in', detail.origin === undefined ? undefined : `${detail.origin.file}:${detail.origin.line}`],
    ['Commit', detail.origin?.commit === undefined ? undefined : shortCommit(detail.origin.commit)],
  ]
  return (
    <div class="columns">
      <div class="stack">
        <Card title="What is next">
          {detail.action.do === 'nothing' ? (
            <p class="line-item">
              {detail.drifted ? (
                <>
                  <Badge tone="warn" word="Drifted" />
                  <span>
                    Somebody changed it. <a href={hrefTo('drift')}>Adopt or revert</a>
                  </span>
                </>
              ) : (
                <>
                  <Badge tone="ok" word="Nothing to do" />
                  <span class="muted">It is as Git says.</span>
                </>
              )}
            </p>
          ) : (
            <ActionBody action={detail.action} />
          )}
        </Card>
        <Card title="Standing">
          <ul class="plain">
            {detail.conditions.map((one) => {
              const good = one.type === 'Stalled' ? one.status === 'False' : one.status === 'True'
              return (
                <li key={one.type} class="condition">
                  <Badge
                    tone={one.status === 'Unknown' ? 'quiet' : good ? 'ok' : 'bad'}
                    word={
                      one.type === 'Stalled' && good
                        ? 'Not stalled'
                        : good
                          ? one.type
                          : `${one.type === 'Stalled' ? '' : 'Not '}${one.type}`
                    }
                  />
                  <span class="grow">
                    {one.message !== '' && <span>{one.message}</span>}{' '}
                    <span class="muted">
                      {one.reason}, <Ago atMs={one.sinceMs} />
                    </span>
                  </span>
                </li>
              )
            })}
          </ul>
        </Card>
      </div>
      <div class="stack">
        <Card title="Facts">
          <dl class="facts">
            {facts.map(
              ([name, value]) =>
                value !== undefined && (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{value}</dd>
                  </div>
                ),
            )}
          </dl>
        </Card>
        <DayStrip detail={detail} />
        <Card title="In a terminal">
          <Command text={detail.command} />
        </Card>
      </div>
    </div>
  )
}

function DayStrip({ detail }: { readonly detail: ResourceDetail }) {
  const { value } = useFetched(() => api.health(), [detail.key])
  const strip = value?.strips.find(({ subject }) => subject === detail.key)
  if (strip === undefined) return null
  return (
    <Card title="The last 24 hours">
      <Strip slots={strip.slots} label={detail.name} />
    </Card>
  )
}

function Diff({ detail, page }: { readonly detail: ResourceDetail; readonly page: Page }) {
  const drifts = page.drifts.filter(({ key }) => key === detail.key)
  if (detail.action.changes.length === 0 && drifts.length === 0)
    return (
      <Empty icon="ok" title="No difference">
        What is there is what Git declares.
      </Empty>
    )
  return (
    <div class="stack">
      {detail.action.changes.length > 0 && (
        <Card title="There and declared">
          <ActionBody action={{ ...detail.action, steps: [] }} />
        </Card>
      )}
      {drifts.length > 0 && (
        <Card title="Changed by somebody else" aside={<a href={hrefTo('drift')}>Adopt or revert</a>}>
          <table class="changes">
            <thead>
              <tr>
                <th>Field</th>
                <th>Declared</th>
                <th>There</th>
              </tr>
            </thead>
            <tbody>
              {drifts.map((one) => (
                <tr key={one.field}>
                  <td>
                    <code>{one.field}</code>
                  </td>
                  <td>
                    <del>{one.declared}</del>
                  </td>
                  <td>
                    <ins>{one.observed}</ins>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Card>
      )}
    </div>
  )
}

function Events({ resource: key, page }: { readonly resource: string; readonly page: Page }) {
  const { value } = useFetched(() => api.history(key), [key, page.version], key)
  if (value === undefined) return <Loading />
  if (value.events.length === 0) return <Empty icon="timeline" title="Nothing has happened to it yet" />
  return (
    <Card>
      <EventTable events={value.events.toReversed()} />
    </Card>
  )
}

export function EventTable({ events }: { readonly events: readonly EventOnPage[] }) {
  return (
    <ol class="event-table">
      {events.map((event) => (
        <li key={event.seq}>
          <time>{clockTime(event.atMs)}</time>
          <span class={event.type === 'Warning' ? 'tone-bad' : ''}>
            {event.type === 'Warning' && <Icon name="warn" size={14} />} <b>{event.reason}</b>
          </span>
          <span class="grow">{event.message}</span>
          <span class="muted">
            <Ago atMs={event.atMs} />
          </span>
          {event.commit !== undefined && <code class="wide-only">{shortCommit(event.commit)}</code>}
        </li>
      ))}
    </ol>
  )
}

function Yaml({ resource: key, detail }: { readonly resource: string; readonly detail: ResourceDetail }) {
  const { value } = useFetched(() => api.manifest(key), [key, detail.origin?.commit], key)
  if (value === undefined) return <Loading />
  if (value.yaml === undefined)
    return (
      <Empty icon="plan" title="Git does not declare it any more">
        What is known of it comes from earlier.
      </Empty>
    )
  return (
    <Card
      title={detail.origin === undefined ? 'Manifest' : <code>{`${detail.origin.file}:${detail.origin.line}`}</code>}
      aside={<span class="muted">secrets are taken out</span>}
    >
      <pre class="code" tabIndex={0}>
        {value.yaml
          .trimEnd()
          .split('\n')
          .map((line, index) => (
            <span key={index} class="code-line">
              {line === '' ? ' ' : line}
              {'\n'}
            </span>
          ))}
      </pre>
    </Card>
  )
}

function Observed({ detail }: { readonly detail: ResourceDetail }) {
  const fields = Object.entries(detail.observed)
  if (fields.length === 0)
    return (
      <Empty icon="search" title="Nothing was read of it yet">
        What the outside system shows of it appears here after the first close look.
      </Empty>
    )
  return (
    <Card title="What is there">
      <dl class="facts is-wide">
        {fields.map(([name, value]) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
