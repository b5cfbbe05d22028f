import type { Page, ResourceDetail } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { useCalm, useFetched } from '../hooks.ts'
import { live } from '../live.ts'
import { hrefTo } from '../route.ts'
import { ActionBody } from './action-body.tsx'
import { Awaited, Card, Empty } from './bits.tsx'
import { EventTable } from './event-table.tsx'

export function ResourceDiff({ detail, page }: { readonly detail: ResourceDetail; readonly page: Page }) {
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
        <Card title="Live and declared">
          <ActionBody action={{ ...detail.action, steps: [] }} />
        </Card>
      )}
      {drifts.length > 0 && (
        <Card title="Changed outside Git" aside={<a href={hrefTo('drift')}>Adopt or revert</a>}>
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

export function ResourceEvents({ resource: key }: { readonly resource: string }) {
  const { events } = live.use()
  const newest = useCalm(events.find((event) => event.key === key)?.seq)
  const fetched = useFetched(() => api.history(key), [key, newest], key)
  const { value } = fetched
  if (value === undefined) return <Awaited fetched={fetched} rows={4} />
  if (value.events.length === 0) return <Empty icon="timeline" title="No events yet" />
  return (
    <Card>
      <EventTable events={value.events.toReversed()} />
    </Card>
  )
}

export function ResourceYaml({
  resource: key,
  detail,
}: {
  readonly resource: string
  readonly detail: ResourceDetail
}) {
  const fetched = useFetched(() => api.manifest(key), [key, detail.origin?.commit], key)
  const { value } = fetched
  if (value === undefined) return <Awaited fetched={fetched} rows={4} />
  if (value.yaml === undefined)
    return (
      <Empty icon="plan" title="No longer declared in Git">
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

export function ResourceObserved({ detail }: { readonly detail: ResourceDetail }) {
  const fields = Object.entries(detail.observed)
  if (fields.length === 0)
    return (
      <Empty icon="search" title="No live state yet">
        What the outside system shows of it appears here after the first close look.
      </Empty>
    )
  return (
    <Card title="Live state">
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
