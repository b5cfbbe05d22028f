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
  /** Text to type as confirmation of an irreversible action. */
  readonly type?: string
  /** The equivalent command. */
  readonly command?: string
  go(): void | Promise<void>
}

/** Overlays above the views, one at a time. */
export interface Ui {
  readonly open: 'nothing' | 'palette' | 'help' | 'sign-in' | 'sessions' | 'more' | 'go'
  readonly confirm: Confirm | undefined
  /** Continues after the second factor was shown. */
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

/** Sends a request to the server and shows the result. Without the right, asks the person to sign in first. */
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

/** Acts with the right; otherwise shows how to get it. */
export function withRight(scope: Scope, act: () => void): void {
  const { me } = live.get()
  if (may(scope)) act()
  else if (me?.name === undefined) ui.set({ open: 'sign-in' })
  else toast('bad', `This needs the right "${scope}", which ${me.name} does not have.`)
}
