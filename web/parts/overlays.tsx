import type { ComponentChildren } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { api, OIDC_SIGN_IN } from '../api.ts'
import { live } from '../live.ts'
import { goTo } from '../route.ts'
import { toneOf } from '../tone.ts'
import { type Confirm, ui } from '../ui.ts'
import { VIEWS } from '../views.ts'
import { Command } from './bits.tsx'
import { Icon, Mark } from './icon.tsx'

/** A dialog of the browser: it keeps the focus inside and gives it back, and Esc closes it. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  readonly title: string
  readonly onClose: () => void
  readonly children: ComponentChildren
  readonly wide?: boolean
}) {
  const box = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    box.current?.showModal()
    return () => box.current?.close()
  }, [])
  return (
    <dialog
      ref={box}
      class={wide ? 'dialog is-wide' : 'dialog'}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => event.target === box.current && onClose()}
    >
      <div class="dialog-inside">{children}</div>
    </dialog>
  )
}

export function Overlays() {
  const { open, confirm, toasts } = ui.use()
  const close = () => ui.set({ open: 'nothing' })
  return (
    <>
      {confirm !== undefined && <ConfirmDialog confirm={confirm} />}
      {open === 'palette' && <Palette onClose={close} />}
      {open === 'help' && <Help onClose={close} />}
      {open === 'sign-in' && <SignIn onClose={close} />}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, tone, text, link }) => (
          <div key={id} class={`toast tone-${tone}`}>
            <Icon name={tone} />
            <span>
              {text}{' '}
              {link !== undefined && /^https?:\/\//.test(link) && (
                <a href={link} rel="noreferrer noopener" target="_blank">
                  Look at it
                </a>
              )}
            </span>
          </div>
        ))}
      </div>
    </>
  )
}

function ConfirmDialog({ confirm }: { readonly confirm: Confirm }) {
  const [typed, set] = useState('')
  const [busy, setBusy] = useState(false)
  const close = () => ui.set({ confirm: undefined })
  const ready = confirm.type === undefined || typed === confirm.type
  return (
    <Dialog title={confirm.title} onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!ready || busy) return
          setBusy(true)
          void Promise.resolve(confirm.go()).finally(close)
        }}
      >
        <h2>{confirm.title}</h2>
        <div class="dialog-body">{confirm.body}</div>
        {confirm.type !== undefined && (
          <label class="field">
            <span>
              This cannot be taken back. Type <b>{confirm.type}</b> to go on.
            </span>
            <input
              value={typed}
              autoComplete="off"
              spellcheck={false}
              onInput={(event) => set(event.currentTarget.value)}
            />
          </label>
        )}
        {confirm.command !== undefined && <Command text={confirm.command} />}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={close}>
            Cancel
          </button>
          <button
            type="submit"
            class={`button is-main ${confirm.danger === true ? 'is-danger' : ''}`}
            disabled={!ready || busy}
          >
            {confirm.action}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function SignIn({ onClose }: { readonly onClose: () => void }) {
  const { me } = live.use()
  const [trouble, set] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (form: HTMLFormElement) => {
    const data = new FormData(form)
    setBusy(true)
    try {
      live.set({ me: await api.signIn(String(data.get('name')), String(data.get('password'))) })
      onClose()
    } catch (error) {
      set(error instanceof Error ? error.message : 'It failed.')
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog title="Sign in" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void submit(event.currentTarget)
        }}
      >
        <h2>Sign in</h2>
        <p class="muted">Looking needs no sign-in. Changing something does, and is written into the audit log.</p>
        {me?.signIn.local === true && (
          <>
            <label class="field">
              <span>Name</span>
              <input name="name" autoComplete="username" required />
            </label>
            <label class="field">
              <span>Password</span>
              <input name="password" type="password" autoComplete="current-password" required />
            </label>
          </>
        )}
        {trouble !== '' && (
          <p class="form-trouble tone-bad" role="alert">
            <Icon name="bad" /> {trouble}
          </p>
        )}
        {me?.signIn.local !== true && me?.signIn.oidc !== true && <p>Nobody is set up here yet. On the server, run:</p>}
        {me?.signIn.local !== true && me?.signIn.oidc !== true && (
          <Command text="croft user set anna --role operator" />
        )}
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          {me?.signIn.oidc === true && (
            <a class="button" href={OIDC_SIGN_IN}>
              With your provider
            </a>
          )}
          {me?.signIn.local === true && (
            <button type="submit" class="button is-main" disabled={busy}>
              Sign in
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

const KEYS: readonly (readonly [string, string])[] = [
  ['/', 'filter'],
  ['Ctrl K  or  :', 'go to anything'],
  ['j  k', 'next and previous line'],
  ['Enter', 'open the line'],
  ['Esc', 'close, or leave the filter'],
  ['t', 'light, dark, as the system'],
  ['?', 'this help'],
  ...VIEWS.map(({ key, title }) => [`g ${key}`, title] as const),
]

function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <h2>Keyboard</h2>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split('  ').map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="dialog-buttons">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  )
}

interface Target {
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly tone?: ReturnType<typeof toneOf>
  go(): void
}

function Palette({ onClose }: { readonly onClose: () => void }) {
  const { page } = live.use()
  const [text, set] = useState('')
  const [at, setAt] = useState(0)
  const targets = useMemo((): readonly Target[] => {
    const words = text
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    const fits = (hay: string) => words.every((word) => hay.toLowerCase().includes(word))
    const all: Target[] = [
      ...VIEWS.map(({ view, title }) => ({ id: view, title, detail: 'view', go: () => goTo(view) })),
      ...(page?.clusters ?? []).map(({ name }) => ({
        id: `cluster/${name}`,
        title: name,
        detail: 'cluster',
        go: () => goTo('cluster', name),
      })),
      ...(page?.hosts ?? []).map(({ name }) => ({
        id: `host/${name}`,
        title: name,
        detail: 'host',
        go: () => goTo('estate', 'host', name),
      })),
      ...(page?.rows ?? []).map((row) => ({
        id: row.key,
        title: row.name,
        detail: `${row.kind}${row.host === undefined ? '' : ` on ${row.host}`}`,
        tone: toneOf(row),
        go: () => goTo('resource', row.key),
      })),
    ]
    return all.filter(({ title, detail }) => fits(`${title} ${detail}`)).slice(0, 12)
  }, [text, page])
  const choose = (target: Target | undefined) => {
    if (target === undefined) return
    onClose()
    target.go()
  }
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        class="palette-input"
        placeholder="Go to a machine, cluster, host or view"
        aria-label="Go to"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={targets[at] === undefined ? undefined : `palette-${at}`}
        autoFocus
        value={text}
        onInput={(event) => {
          set(event.currentTarget.value)
          setAt(0)
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') setAt(Math.min(at + 1, targets.length - 1))
          else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0))
          else if (event.key === 'Enter') choose(targets[at])
          else return
          event.preventDefault()
        }}
      />
      <ul class="palette" id="palette-list" role="listbox">
        {targets.map((target, index) => (
          <li
            key={target.id}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(target)}
          >
            {target.tone === undefined ? (
              <Icon name="chevron" size={16} />
            ) : (
              <Mark tone={target.tone} title={target.tone} />
            )}
            <span class="grow">{target.title}</span>
            <span class="muted">{target.detail}</span>
          </li>
        ))}
        {targets.length === 0 && <li class="muted">Nothing fits.</li>}
      </ul>
    </Dialog>
  )
}
