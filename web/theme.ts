import { createStore } from './store.ts'

export type Theme = 'system' | 'light' | 'dark'

const STORED = 'croft-theme'

function stored(): Theme {
  const text = localStorage.getItem(STORED)
  return text === 'light' || text === 'dark' ? text : 'system'
}

export const theme = createStore<{ readonly theme: Theme }>({ theme: stored() })

export function setTheme(next: Theme): void {
  if (next === 'system') localStorage.removeItem(STORED)
  else localStorage.setItem(STORED, next)
  theme.set({ theme: next })
  paint()
}

export function paint(): void {
  const { theme: chosen } = theme.get()
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
}
