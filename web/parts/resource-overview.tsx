import type { Page, ResourceDetail } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { shortCommit } from '../format.ts'
import { useFetched } from '../hooks.ts'
import { hrefTo } from '../route.ts'
import { ActionBody } from './action-body.tsx'
import { Ago, Card } from './bits.tsx'
import { CommitOf } from './commit.tsx'
import { Badge } from './icon.tsx'
import { Strip, StripAxis } from './strip.tsx'

/** Shows the next step of a resource, its state, and its facts. */
export function ResourceOverview({ detail, page }: { readonly detail: ResourceDetail; readonly page: Page }) {
  const facts: readonly (readonly [string, string | undefined, string?])[] = [
    ['Host', detail.host, hrefTo('estate', 'host', detail.host ?? '')],
    ['Id', detail.externalId],
    ['Connection', detail.connection],
    ['Cluster', detail.cluster, hrefTo('cluster', detail.cluster ?? '')],
    ['Power', detail.power],
    ['Addresses', detail.addresses.length === 0 ? undefined : detail.addresses.join(', ')],
    ['Declared in', detail.origin === undefined ? undefined : `${detail.origin.file}:${detail.origin.line}`],
    ['Commit', detail.origin?.commit === undefined ? undefined : shortCommit(detail.origin.commit)],
  ]
  return (
    <div class="columns">
      <div class="stack">
        <Card title="Next steps" aside={<CommitOf page={page} commit={detail.origin?.commit} />}>
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
        <Card title="Conditions">
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
              ([name, value, href]) =>
                value !== undefined && (
                  <div key={name}>
                    <dt>{name}</dt>
                    <dd>{href === undefined ? value : <a href={href}>{value}</a>}</dd>
                  </div>
                ),
            )}
          </dl>
        </Card>
        <DayStrip detail={detail} />
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
      <StripAxis />
    </Card>
  )
}
