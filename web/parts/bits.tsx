import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { ago, exactly, percent } from '../format.ts'
import { type Fetched, useNow } from '../hooks.ts'
import { Icon, type IconName } from './icon.tsx'

/** `alone`: it is the whole view, so its title is the first heading. */
export function Empty({
  icon,
  title,
  alone = false,
  children,
}: {
  readonly alone?: boolean
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={30} />
      </span>
      {alone ? <h1>{title}</h1> : <h2>{title}</h2>}
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

export function Loading({ rows = 4 }: { readonly rows?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class="ghost" />
      ))}
    </div>
  )
}

/** Placeholder for a part that is being fetched, or the reason of its failure. */
export function Awaited({ fetched, rows = 6 }: { readonly fetched: Fetched<unknown>; readonly rows?: number }) {
  const { trouble, again } = fetched
  if (trouble === undefined) return <Loading rows={rows} />
  return (
    <div class="empty" role="alert">
      <span class="empty-icon is-bad">
        <Icon name="bad" size={30} />
      </span>
      <h1>This cannot be loaded now</h1>
      <p>{trouble.message} The page tries again by itself.</p>
      <button type="button" class="button" onClick={again}>
        Try again now
      </button>
    </div>
  )
}

export function Ago({ atMs }: { readonly atMs: number }) {
  const now = useNow()
  return (
    <time dateTime={new Date(atMs).toISOString()} title={exactly(atMs)}>
      {ago(atMs, now)}
    </time>
  )
}

/** A filled bar with its number beside it. `high` is where it becomes worth a second look. */
export function Meter({
  label,
  share,
  high = 0.85,
  text,
}: {
  readonly label: string
  readonly share: number | undefined
  readonly high?: number
  readonly text?: string
}) {
  const level = share === undefined ? undefined : Math.min(1, Math.max(0, share))
  return (
    <div class="meter">
      <span class="meter-label">{label}</span>
      <span
        class={`meter-bar ${level !== undefined && level >= high ? 'is-high' : ''}`}
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round((level ?? 0) * 100)}
      >
        <span style={{ width: `${(level ?? 0) * 100}%` }} />
      </span>
      <span class="meter-text">{text ?? (level === undefined ? '–' : percent(level))}</span>
    </div>
  )
}

/** A command to copy; `what` explains it in a list of several. */
export function Command({ text, what }: { readonly text: string; readonly what?: string }) {
  const [copied, set] = useState(false)
  const box = useRef<HTMLSpanElement>(null)
  const copy = async () => {
    // Without TLS, browsers offer no clipboard: then do not claim that it was copied.
    const done = await navigator.clipboard?.writeText(text).then(
      () => true,
      () => false,
    )
    if (done !== true) {
      select(box.current)
      return
    }
    set(true)
    setTimeout(() => set(false), 1500)
  }
  return (
    <div class="command">
      {what !== undefined && <span class="command-what">{what}</span>}
      <code>
        <span class="command-sign" aria-hidden="true">
          $
        </span>{' '}
        <span ref={box}>{text}</span>
      </code>
      <button type="button" class="button-quiet" onClick={() => void copy()} aria-label="Copy the command" title={text}>
        <Icon name={copied ? 'ok' : 'copy'} size={16} />
        <span class="wide-only" aria-live="polite">
          {copied ? 'Copied' : 'Copy'}
        </span>
      </button>
    </div>
  )
}

function select(node: Node | null): void {
  if (node !== null) getSelection()?.selectAllChildren(node)
}

export function Card({
  title,
  aside,
  children,
  class: name = '',
}: {
  readonly title?: ComponentChildren
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly class?: string
}) {
  return (
    <section class={`card ${name}`}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {aside !== undefined && <div class="card-aside">{aside}</div>}
        </header>
      )}
      {children}
    </section>
  )
}
