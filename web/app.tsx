import { useEffect, useState } from 'preact/hooks'
import type { Page } from '../src/server/api/schemas.ts'
import { api } from './api.ts'
import { clockTime, plural, shortCommit } from './format.ts'
import { nextTheme } from './keyboard.ts'
import { live } from './live.ts'
import { Ago, Loading } from './parts/bits.tsx'
import { Icon } from './parts/icon.tsx'
import { Overlays } from './parts/overlays.tsx'
import { hrefTo, hrefToKey, place } from './route.ts'
import { theme } from './theme.ts'
import { ui } from './ui.ts'
import { ClusterView } from './views/cluster.tsx'
import { ClustersView } from './views/clusters.tsx'
import { DriftView } from './views/drift.tsx'
import { EstateView } from './views/estate.tsx'
import { HealthView } from './views/health.tsx'
import { OverviewView } from './views/overview.tsx'
import { PlanView } from './views/plan.tsx'
import { PowerView } from './views/power.tsx'
import { ResourceView } from './views/resource.tsx'
import { TimelineView } from './views/timeline.tsx'
import { VIEWS } from './views.ts'

/** The views that stand in the bar at the bottom of a small screen; the rest is behind "More". */
const SMALL = ['overview', 'estate', 'plan', 'timeline']

export function App() {
  const { page, line } = live.use()
  const { view } = place.use()
  const drawn = page !== undefined
  useEffect(() => {
    if (drawn) performance.mark('croft-drawn')
  }, [drawn])
  useEffect(() => {
    const title = VIEWS.find((one) => one.view === view)?.title
    document.title = title === undefined ? 'croft' : `${title} · croft`
  }, [view])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        To the content
      </button>
      <Side page={page} />
      <div class="middle">
        {line === 'lost' && (
          <div class="banner tone-warn" role="alert">
            <Icon name="warn" /> The line to croft is lost. What you see is from before; it comes back by itself.
          </div>
        )}
        {page?.ready === false && line !== 'lost' && (
          <div class="banner tone-busy" role="status">
            <Icon name="busy" /> croft is looking at everything for the first time.
          </div>
        )}
        <main id="main" tabIndex={-1}>
          <div class="page">{page === undefined ? <Loading rows={6} /> : <View page={page} />}</div>
        </main>
        <Activity />
      </div>
      <SmallBar page={page} />
      <Overlays />
    </div>
  )
}

function View({ page }: { readonly page: Page }) {
  const { view, args } = place.use()
  switch (view) {
    case 'estate':
      return <EstateView page={page} args={args} />
    case 'graph':
      return <Graph page={page} />
    case 'resource':
      return <ResourceView page={page} key={args[0]} resource={args[0] ?? ''} tab={args[1] ?? 'overview'} />
    case 'clusters':
      return <ClustersView page={page} />
    case 'cluster':
      return <ClusterView page={page} name={args[0] ?? ''} />
    case 'plan':
      return <PlanView page={page} />
    case 'drift':
      return <DriftView page={page} />
    case 'timeline':
      return <TimelineView page={page} />
    case 'health':
      return <HealthView page={page} />
    case 'power':
      return <PowerView page={page} />
    default:
      return <OverviewView page={page} />
  }
}

type GraphModule = typeof import('./views/graph.tsx')

/** The layout of the graph is half of all code: it is fetched when somebody wants to see it. */
function Graph({ page }: { readonly page: Page }) {
  const [module, set] = useState<GraphModule>()
  useEffect(() => {
    void import('./views/graph.tsx').then(set)
  }, [])
  return module === undefined ? <Loading rows={6} /> : <module.GraphView page={page} />
}

function countOf(view: string, page: Page | undefined): number {
  if (page === undefined) return 0
  if (view === 'plan') return page.rows.filter((row) => row.do !== 'nothing').length
  if (view === 'drift') return new Set(page.drifts.map(({ key }) => key)).size
  return 0
}

function NavLink({ view, page }: { readonly view: string; readonly page: Page | undefined }) {
  const { view: at } = place.use()
  const one = VIEWS.find((candidate) => candidate.view === view)
  if (one === undefined) return null
  const here = at === view || (view === 'estate' && at === 'resource') || (view === 'clusters' && at === 'cluster')
  const count = countOf(view, page)
  return (
    <a
      class="nav-link"
      href={hrefTo(view)}
      aria-current={here ? 'page' : undefined}
      onClick={() => ui.set({ open: 'nothing' })}
    >
      <Icon name={one.icon} />
      <span>{one.title}</span>
      {count > 0 && <span class="nav-count">{count > 999 ? '999+' : count}</span>}
    </a>
  )
}

function Side({ page }: { readonly page: Page | undefined }) {
  const { me, line } = live.use()
  const { open } = ui.use()
  const [source] = page?.sources ?? []
  return (
    <nav class={`side ${open === 'more' ? 'is-open' : ''}`} aria-label="Views">
      <a class="brand" href={hrefTo('overview')} onClick={() => ui.set({ open: 'nothing' })}>
        <img src="/icon.svg" alt="" width={26} height={26} />
        <span>croft</span>
        <span class={`line line-${line}`} title={line === 'live' ? 'Live' : line === 'lost' ? 'Line lost' : 'Loading'}>
          <i aria-hidden="true" />
          {line === 'live' ? 'live' : line === 'lost' ? 'lost' : '…'}
        </span>
      </a>
      <button type="button" class="search" onClick={() => ui.set({ open: 'palette' })}>
        <Icon name="search" size={16} />
        <span class="grow">Go to…</span>
        <kbd>Ctrl K</kbd>
      </button>
      <div class="nav-list">
        {VIEWS.map(({ view }) => (
          <NavLink key={view} view={view} page={page} />
        ))}
      </div>
      <div class="side-foot">
        {source?.commit !== undefined && (
          <a class="side-commit" href={hrefTo('timeline')} title={`${source.subject ?? ''} (${source.author ?? ''})`}>
            <Icon name="commit" size={16} />
            <span class="grow">
              <code>{shortCommit(source.commit)}</code> <span class="side-subject">{source.subject}</span>
            </span>
          </a>
        )}
        <div class="side-buttons">
          <ThemeButton />
          <button
            type="button"
            class="button-quiet"
            onClick={() => ui.set({ open: 'help' })}
            aria-label="Keyboard help"
          >
            <kbd>?</kbd>
          </button>
          <span class="grow" />
          {me?.name === undefined ? (
            <button type="button" class="button-quiet" onClick={() => ui.set({ open: 'sign-in' })}>
              <Icon name="user" size={16} /> Sign in
            </button>
          ) : (
            <button
              type="button"
              class="button-quiet"
              title={`${me.name} (${me.role ?? 'token'}): sign out`}
              onClick={() => void api.signOut().then((next) => live.set({ me: next }))}
            >
              <Icon name="user" size={16} /> {me.name}
            </button>
          )}
        </div>
      </div>
    </nav>
  )
}

function ThemeButton() {
  const { theme: chosen } = theme.use()
  const icon = chosen === 'light' ? 'sun' : chosen === 'dark' ? 'moon' : 'auto'
  return (
    <button
      type="button"
      class="button-quiet"
      onClick={nextTheme}
      aria-label={`Colours: ${chosen}`}
      title={`Colours: ${chosen}`}
    >
      <Icon name={icon} size={16} />
    </button>
  )
}

function SmallBar({ page }: { readonly page: Page | undefined }) {
  const { open } = ui.use()
  return (
    <nav class="small-bar" aria-label="Views">
      {SMALL.map((view) => (
        <NavLink key={view} view={view} page={page} />
      ))}
      <button
        type="button"
        class="nav-link"
        aria-expanded={open === 'more'}
        onClick={() => ui.set({ open: open === 'more' ? 'nothing' : 'more' })}
      >
        <Icon name={open === 'more' ? 'close' : 'more'} />
        <span>More</span>
      </button>
    </nav>
  )
}

/** The strip at the bottom: what happened last, and on request the last hundred. */
function Activity() {
  const { events, page } = live.use()
  const [open, set] = useState(false)
  const [newest] = events
  return (
    <section class={`activity ${open ? 'is-open' : ''}`} aria-label="What happens">
      <button type="button" class="activity-head" aria-expanded={open} onClick={() => set(!open)}>
        <Icon name="chevron" size={15} />
        <span class="activity-newest" aria-live="polite">
          {newest === undefined ? (
            'Nothing has happened yet.'
          ) : (
            <>
              <time>{clockTime(newest.atMs)}</time>{' '}
              <b class={newest.type === 'Warning' ? 'tone-bad' : ''}>{newest.reason}</b>{' '}
              {newest.key !== undefined && <span>{newest.key}</span>} <span class="muted">{newest.message}</span>
            </>
          )}
        </span>
        {page?.pass !== undefined && (
          <span class="muted wide-only">
            pass <Ago atMs={page.pass.endedMs} />, {plural(page.pass.effects, 'effect')}
          </span>
        )}
      </button>
      {open && (
        <ol class="activity-list">
          {events.slice(0, 100).map((event) => (
            <li key={event.seq}>
              <time>{clockTime(event.atMs)}</time>
              <b class={event.type === 'Warning' ? 'tone-bad' : ''}>{event.reason}</b>
              {event.key === undefined ? <span /> : <a href={hrefToKey(event.key)}>{event.key}</a>}
              <span class="muted">{event.message}</span>
              {event.commit !== undefined && <code class="wide-only">{shortCommit(event.commit)}</code>}
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}
