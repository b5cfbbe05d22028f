import type { ComponentChildren } from 'preact'
import type { Me } from '../src/server/api/schemas.ts'
import { api, Trouble } from './api.ts'
import { live, refreshMe } from './live.ts'
import { createStore } from './store.ts'

export interface Toast {
  readonly id: number
  readonly tone: 'ok' | 'bad'
  readonly text: string
  readonly link?: string
}

export interface Confirm {
  readonly title: string
  readonly body: ComponentChildren
  readonly action: string
  readonly danger?: boolean
  readonly wide?: boolean
  /** What the person must type, for what cannot be taken back. */
  readonly type?: string
  /** The same in a terminal. */
  readonly command?: string
  go(): void | Promise<void>
}

/** What lies over the views. One thing at a time. */
export interface Ui {
  readonly open: 'nothing' | 'palette' | 'help' | 'sign-in' | 'sessions' | 'more' | 'go'
  readonly confirm: Confirm | undefined
  /** What goes on once a code of the authenticator app was shown. */
  readonly code: (() => void) | undefined
  readonly toasts: readonly Toast[]
  readonly filter: string
}

export const ui = createStore<Ui>({ open: 'nothing', confirm: undefined, code: undefined, toasts: [], filter: '' })

let count = 0

export function toast(tone: Toast['tone'], text: string, link?: string): void {
  count += 1
  const id = count
  ui.set({ toasts: [...ui.get().toasts.slice(-2), { id, tone, text, ...(link === undefined ? {} : { link }) }] })
  // Errors stay until they are dismissed.
  if (tone !== 'bad') setTimeout(() => dismiss(id), 10_000)
}

export function dismiss(id: number): void {
  ui.set({ toasts: ui.get().toasts.filter((one) => one.id !== id) })
}

type Scope = Me['scopes'][number]

export function may(scope: Scope): boolean {
  return live.get().me?.scopes.includes(scope) === true
}

/** Asks the server for something and says what came of it. Without the right the person is asked to sign in first. */
export async function attempt(
  act: () => Promise<{ readonly message: string; readonly link?: string }>,
): Promise<boolean> {
  try {
    const { message, link } = await act()
    toast('ok', message, link)
    return true
  } catch (error) {
    if (error instanceof Trouble && error.status === 401) {
      await refreshMe().catch(() => undefined)
      ui.set({ open: 'sign-in' })
    } else if (error instanceof Trouble && error.code === 'second-factor') ui.set({ code: () => void attempt(act) })
    else toast('bad', error instanceof Error ? error.message : 'It failed.')
    return false
  }
}

export function wish(name: string, input: unknown): Promise<boolean> {
  return attempt(() => api.wish(name, input))
}

/** Only with the right; else the way to it. */
export function withRight(scope: Scope, act: () => void): void {
  const { me } = live.get()
  if (may(scope)) act()
  else if (me?.name === undefined) ui.set({ open: 'sign-in' })
  else toast('bad', `This needs the right "${scope}", which ${me.name} does not have.`)
}
