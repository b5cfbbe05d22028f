import type { Page } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { shortCommit } from '../format.ts'
import { nextTheme } from '../keyboard.ts'
import { live } from '../live.ts'
import { hrefTo, place } from '../route.ts'
import { theme } from '../theme.ts'
import { toast, ui } from '../ui.ts'
import { VIEWS } from '../views.ts'
import { Icon } from './icon.tsx'

/** The views that stand in the bar at the bottom of a small screen; the rest is behind "More". */
const SMALL = ['overview', 'estate', 'plan', 'timeline']

/** The navigation at the side, with the current commit and the signed-in user. */
export function Side({ page }: { readonly page: Page | undefined }) {
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
        {me?.name !== undefined && (
          <p class="side-user">
            <Icon name="user" size={16} /> <b class="clip">{me.name}</b>{' '}
            <span class="muted nowrap">{me.role ?? 'token'}</span>
          </p>
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
            <>
              <button type="button" class="button-quiet" onClick={() => ui.set({ open: 'sessions' })}>
                Sessions
              </button>
              <button type="button" class="button-quiet" onClick={() => void signOut()}>
                Sign out
              </button>
            </>
          )}
        </div>
      </div>
    </nav>
  )
}

async function signOut(): Promise<void> {
  try {
    live.set({ me: await api.signOut() })
  } catch (error) {
    toast('bad', error instanceof Error ? error.message : 'It failed.')
  }
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

/** The navigation at the bottom of a small screen. */
export function SmallBar({ page }: { readonly page: Page | undefined }) {
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
