import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { ago, exactly, percent } from '../format.ts'
import { useNow } from '../hooks.ts'
import { Icon, type IconName } from './icon.tsx'

export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName
  readonly title: string
  readonly children?: ComponentChildren
}) {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} size={30} />
      </span>
      <h2>{title}</h2>
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

export function Command({ text }: { readonly text: string }) {
  const [copied, set] = useState(false)
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => undefined)
    set(true)
    setTimeout(() => set(false), 1500)
  }
  return (
    <div class="command">
      <code>
        <span class="command-sign" aria-hidden="true">
          $
        </span>{' '}
        {text}
      </code>
      <button type="button" class="button-quiet" onClick={() => void copy()} aria-label="Copy the command">
        <Icon name={copied ? 'ok' : 'copy'} size={16} />
        <span class="wide-only">{copied ? 'Copied' : 'Copy'}</span>
      </button>
    </div>
  )
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
