import { goTo } from './route.ts'
import { setTheme, theme } from './theme.ts'
import { ui } from './ui.ts'
import { VIEWS } from './views.ts'

const THEMES = ['system', 'light', 'dark'] as const

export function nextTheme(): void {
  const at = THEMES.indexOf(theme.get().theme)
  setTheme(THEMES[(at + 1) % THEMES.length] ?? 'system')
}

/** Handles the keys that work everywhere, except in input fields. */
export function listenToKeys(): void {
  addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement
    // In a terminal every key is for the machine.
    if (target.closest('[data-keys="own"]') !== null) return
    const typing = target.matches('input, textarea, select')
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault()
      ui.set({ open: 'palette' })
      return
    }
    if (event.key === 'Escape' && typing && target.matches('[data-filter]')) {
      ui.set({ filter: '' })
      target.blur()
      return
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null)
      return
    if (ui.get().open === 'go') {
      ui.set({ open: 'nothing' })
      const view = VIEWS.find(({ key }) => key === event.key)
      if (view !== undefined) {
        event.preventDefault()
        goTo(view.view)
      }
      return
    }
    const act = ACTS[event.key]
    if (act === undefined) return
    event.preventDefault()
    act()
  })
  addEventListener('pointerdown', () => {
    if (ui.get().open === 'go') ui.set({ open: 'nothing' })
  })
}

const ACTS: Readonly<Record<string, () => void>> = {
  '/': () => document.querySelector<HTMLInputElement>('[data-filter]')?.focus(),
  '?': () => ui.set({ open: 'help' }),
  ':': () => ui.set({ open: 'palette' }),
  // The choices of the next key are shown, so it has no timeout.
  g: () => ui.set({ open: 'go' }),
  j: () => moveBy(1),
  k: () => moveBy(-1),
  t: nextTheme,
}

function moveBy(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')]
  const at = rows.indexOf(document.activeElement as HTMLElement)
  const next = at === -1 ? (step > 0 ? rows[0] : rows.at(-1)) : rows[at + step]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}
