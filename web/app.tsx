import { useEffect } from 'preact/hooks'
import type { Page } from '../src/server/api/schemas.ts'
import { clockTime } from './format.ts'
import { live } from './live.ts'
import { Activity } from './parts/activity.tsx'
import { Empty, Loading } from './parts/bits.tsx'
import { Icon } from './parts/icon.tsx'
import { later } from './parts/later.tsx'
import { Overlays } from './parts/overlays.tsx'
import { Side, SmallBar } from './parts/side.tsx'
import { hrefTo, place } from './route.ts'
import { statusOf } from './troubles.ts'
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

export function App() {
  const { page, line, lostMs, trouble } = live.use()
  const { view, args } = place.use()
  const drawn = page !== undefined
  useEffect(() => {
    if (drawn) performance.mark('croft-drawn')
  }, [drawn])
  useEffect(() => {
    const title = VIEWS.find((one) => one.view === view)?.title ?? args[0]
    document.title = title === undefined ? 'croft' : `${title} · croft`
  }, [view, args])
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        To the content
      </button>
      <Side page={page} />
      <div class="middle">
        {line === 'lost' && (
          <div class="banner tone-warn" role="alert">
            <Icon name="warn" />
            <span>
              {trouble === undefined ? 'The connection to croft is lost.' : `croft cannot show this: ${trouble}`}{' '}
              {page !== undefined && lostMs !== undefined && <>What you see is from {clockTime(lostMs)}. </>}
              The page reconnects by itself.
            </span>
          </div>
        )}
        {page?.ready === false && line !== 'lost' && (
          <div class="banner tone-busy" role="status">
            <Icon name="busy" /> croft is reading the whole estate for the first time.
          </div>
        )}
        <main id="main" tabIndex={-1}>
          <div class="page">{page === undefined ? <Loading rows={6} /> : <View page={page} />}</div>
        </main>
        <Activity />
      </div>
      <SmallBar page={page} />
      <Overlays />
      <Said page={page} />
    </div>
  )
}

/** Announces the overview's first sentence to screen readers when it changes, on every view. */
function Said({ page }: { readonly page: Page | undefined }) {
  const text = page === undefined ? '' : statusOf(page).text
  return (
    <p class="hidden" role="status">
      {text}
    </p>
  )
}

/** The layout of the graph is half of all code. */
const Graph = later(() => import('./views/graph.tsx').then((module) => module.GraphView), 6)

const Addon = later(() => import('./views/addon.tsx').then((module) => module.AddonView), 6)

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
    case 'addon':
      return <Addon page={page} cluster={args[0] ?? ''} addon={args[1] ?? ''} />
    case 'plan':
      return <PlanView page={page} />
    case 'drift':
      return <DriftView page={page} />
    case 'timeline':
      return <TimelineView page={page} />
    case 'health':
      return <HealthView page={page} days={args[0] === 'days'} />
    case 'power':
      return <PowerView page={page} />
    case 'overview':
      return <OverviewView page={page} />
    default:
      return (
        <Empty alone icon="search" title="There is no such view">
          <a href={hrefTo('overview')}>To the overview</a>
        </Empty>
      )
  }
}
