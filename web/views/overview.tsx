import type { Page } from '../../src/server/api/schemas.ts'
import { eventTime, exactly, plural, shortCommit } from '../format.ts'
import { useNow } from '../hooks.ts'
import { live } from '../live.ts'
import { Ago, Card, Command } from '../parts/bits.tsx'
import { ClusterCard } from '../parts/cluster-card.tsx'
import { Hosts } from '../parts/host-card.tsx'
import { Badge, Icon, Mark } from '../parts/icon.tsx'
import { hrefTo, hrefToKey } from '../route.ts'
import { clusterState, isDoing, TONE_ORDER, toneOf } from '../tone.ts'
import { statusOf, type Trouble } from '../troubles.ts'

export function OverviewView({ page }: { readonly page: Page }) {
  const { troubles, tone, text } = statusOf(page)
  const empty = page.rows.length === 0 && page.clusters.length === 0
  return (
    <>
      <header class={`hero is-${tone}`}>
        <span class="hero-icon">
          <Icon name={tone} size={34} />
        </span>
        <div>
          <h1>{text}</h1>
          <p class="muted">
            <Sources page={page} />
          </p>
        </div>
        {!empty && <Totals page={page} />}
      </header>
      {troubles.length > 0 && (
        <Card title="What is wrong, worst first" class="troubles">
          <ul>
            {troubles.slice(0, 12).map((trouble) => (
              <TroubleLine key={`${trouble.title}${trouble.detail}`} trouble={trouble} />
            ))}
          </ul>
          {troubles.length > 12 && (
            <p class="muted">
              and <a href={hrefTo('estate', 'wrong')}>{troubles.length - 12} more in the Estate</a>
            </p>
          )}
        </Card>
      )}
      {empty && (page.ready || page.sources.length === 0) && <FirstSteps page={page} />}
      {page.clusters.length > 0 && (
        <>
          <h2 class="section">Clusters</h2>
          <div class={page.clusters.length > 2 ? 'grid-cards' : 'grid-cards is-few'}>
            {worstFirst(page).map((cluster) => (
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

/** Sorts unhealthy clusters first, so that they are visible without scrolling. */
function worstFirst(page: Page): Page['clusters'] {
  const rank = (one: Page['clusters'][number]) => TONE_ORDER[clusterState(one, page).tone]
  return page.clusters.toSorted((a, b) => rank(a) - rank(b))
}

/** Shows an empty estate the way to its first machine, with exact commands. */
function FirstSteps({ page }: { readonly page: Page }) {
  const [source] = page.sources
  return (
    <Card title="First steps" class="first-steps">
      <ol>
        <li>
          {source === undefined ? (
            <>Tell croft what to follow: a repository or a directory.</>
          ) : (
            <>
              croft follows <code>{source.remote}</code>
              {source.commit === undefined ? ' and waits for its first commit.' : ', which declares nothing yet.'}
            </>
          )}
          {source === undefined && <Command text="croft run git@git.lan:homelab.git" />}
        </li>
        <li>
          Have manifests written for what is there already; the plan of them is empty.
          <Command text="croft import proxmox ." />
        </li>
        <li>
          Or write one yourself: <code>croft explain</code> knows every kind and field. See what would be done before
          you push.
          <Command text="croft plan ." />
        </li>
        <li>Commit and push. It appears here by itself.</li>
      </ol>
    </Card>
  )
}

function Sources({ page }: { readonly page: Page }) {
  const [source] = page.sources
  if (source === undefined) return null
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
    <ul class="totals">
      {numbers.map(([value, word, href]) => (
        <li key={word}>
          <a href={href}>
            <b>{value}</b> <span>{word}</span>
          </a>
        </li>
      ))}
    </ul>
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
        {trouble.sinceMs !== undefined && (
          <span class="trouble-since">
            <Ago atMs={trouble.sinceMs} />
          </span>
        )}
        <Icon name="chevron" size={16} />
      </a>
    </li>
  )
}

function Recent() {
  const { events } = live.use()
  const now = useNow()
  return (
    <Card title="Recently" aside={<a href={hrefTo('timeline')}>Timeline</a>}>
      {events.length === 0 ? (
        <p class="muted">No events yet.</p>
      ) : (
        <ol class="plain">
          {events.slice(0, 7).map((event) => (
            <li key={event.seq} class="recent">
              <time class="muted" title={exactly(event.atMs)}>
                {eventTime(event.atMs, now)}
              </time>
              <b class={event.type === 'Warning' ? 'clip tone-bad' : 'clip'}>
                {event.type === 'Warning' && <Icon name="warn" size={14} />} {event.reason}
              </b>
              <span class="clip">
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
