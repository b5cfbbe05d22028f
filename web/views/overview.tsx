import type { Page } from '../../src/server/api/schemas.ts'
import { clockTime, plural, shortCommit } from '../format.ts'
import { live } from '../live.ts'
import { Ago, Card, Empty } from '../parts/bits.tsx'
import { ClusterCard } from '../parts/cluster-card.tsx'
import { Hosts } from '../parts/host-card.tsx'
import { Badge, Icon, Mark } from '../parts/icon.tsx'
import { hrefTo, hrefToKey } from '../route.ts'
import { isDoing, toneOf } from '../tone.ts'
import { type Trouble, troublesOf } from '../troubles.ts'

export function OverviewView({ page }: { readonly page: Page }) {
  const troubles = troublesOf(page)
  const grave = troubles.filter(({ tone }) => tone === 'bad').length
  const doing = page.rows.filter((row) => isDoing(row.do)).length
  const headline =
    troubles.length === 0
      ? doing === 0
        ? 'All is as declared'
        : `${plural(doing, 'change')} under way`
      : grave > 0
        ? `${plural(grave, 'thing')} ${grave === 1 ? 'is' : 'are'} wrong`
        : `${plural(troubles.length, 'thing')} to look at`
  return (
    <>
      <header class={`hero ${grave > 0 ? 'is-bad' : troubles.length > 0 ? 'is-warn' : 'is-ok'}`}>
        <span class="hero-icon">
          <Icon name={grave > 0 ? 'bad' : troubles.length > 0 ? 'warn' : doing > 0 ? 'busy' : 'ok'} size={34} />
        </span>
        <div>
          <h1>{headline}</h1>
          <p class="muted">
            <Sources page={page} />
          </p>
        </div>
        <Totals page={page} />
      </header>
      {page.rows.length === 0 && page.clusters.length === 0 && (
        <Empty icon="commit" title="Nothing is declared yet">
          Commit a manifest to the repository that croft follows, and it appears here.
        </Empty>
      )}
      {troubles.length > 0 && (
        <Card title="First of all" class="troubles">
          <ul>
            {troubles.slice(0, 12).map((trouble) => (
              <TroubleLine key={`${trouble.title}${trouble.detail}`} trouble={trouble} />
            ))}
          </ul>
          {troubles.length > 12 && <p class="muted">and {troubles.length - 12} more in the Estate</p>}
        </Card>
      )}
      {page.clusters.length > 0 && (
        <>
          <h2 class="section">Clusters</h2>
          <div class={page.clusters.length > 2 ? 'grid-cards' : 'grid-cards is-few'}>
            {page.clusters.map((cluster) => (
              <ClusterCard key={cluster.key} cluster={cluster} page={page} nodes={page.clusters.length <= 2} />
            ))}
          </div>
        </>
      )}
      {page.hosts.length > 0 && (
        <>
          <h2 class="section">Hosts</h2>
          <Hosts page={page} />
        </>
      )}
      <div class="columns">
        <Recent />
        {page.checks.length > 0 && (
          <Card title="Checks" aside={<a href={hrefTo('health')}>Health</a>}>
            <ul class="plain">
              {page.checks.map((check) => (
                <li key={check.name} class="line-item">
                  <Badge
                    tone={check.passed === 'yes' ? 'ok' : check.passed === 'no' ? 'bad' : 'quiet'}
                    word={check.passed === 'yes' ? 'passes' : check.passed === 'no' ? 'fails' : 'not known'}
                  />
                  <b>{check.name}</b>
                  <span class="muted grow clip">{check.output}</span>
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </>
  )
}

function Sources({ page }: { readonly page: Page }) {
  const [source] = page.sources
  if (source === undefined) return <>No Git source is followed.</>
  return (
    <>
      {source.commit !== undefined && (
        <>
          <code>{shortCommit(source.commit)}</code> {source.subject}
          {source.author !== undefined && <> by {source.author}</>}
          {source.committedMs !== undefined && (
            <>
              , <Ago atMs={source.committedMs} />
            </>
          )}
        </>
      )}
      {page.sources.length > 1 && <> and {plural(page.sources.length - 1, 'more source')}</>}
    </>
  )
}

function Totals({ page }: { readonly page: Page }) {
  const well = page.rows.filter((row) => toneOf(row) === 'ok').length
  const numbers: readonly (readonly [string, string, string])[] = [
    [`${well}/${page.rows.length}`, 'as declared', hrefTo('estate')],
    [String(page.rows.filter((row) => isDoing(row.do)).length), 'changing', hrefTo('plan')],
    [String(page.rows.filter((row) => row.do === 'hold').length), 'held', hrefTo('plan')],
    [String(new Set(page.drifts.map(({ key }) => key)).size), 'drifted', hrefTo('drift')],
  ]
  return (
    <dl class="totals">
      {numbers.map(([value, word, href]) => (
        <a key={word} href={href}>
          <dd>{value}</dd>
          <dt>{word}</dt>
        </a>
      ))}
    </dl>
  )
}

function TroubleLine({ trouble }: { readonly trouble: Trouble }) {
  return (
    <li>
      <a class="trouble" href={trouble.href} data-row>
        <Mark tone={trouble.tone} title={trouble.tone === 'bad' ? 'wrong' : 'to look at'} />
        <b class="trouble-title">{trouble.title}</b>
        <span class="grow">
          <span class="trouble-detail">{trouble.detail}</span>
          {trouble.allow !== undefined && <span class="trouble-allow">→ {trouble.allow}</span>}
        </span>
        <Icon name="chevron" size={16} />
      </a>
    </li>
  )
}

function Recent() {
  const { events } = live.use()
  return (
    <Card title="Recently" aside={<a href={hrefTo('timeline')}>Timeline</a>}>
      {events.length === 0 ? (
        <p class="muted">Nothing has happened yet.</p>
      ) : (
        <ol class="plain">
          {events.slice(0, 7).map((event) => (
            <li key={event.seq} class="line-item">
              <time class="muted">{clockTime(event.atMs)}</time>
              <b class={event.type === 'Warning' ? 'tone-bad' : ''}>{event.reason}</b>
              <span class="grow clip">
                {event.key !== undefined && <a href={hrefToKey(event.key)}>{event.key.split('/').at(-1)}</a>}{' '}
                <span class="muted">{event.message}</span>
              </span>
              {event.commit !== undefined && <code class="muted wide-only">{shortCommit(event.commit)}</code>}
            </li>
          ))}
        </ol>
      )}
    </Card>
  )
}
