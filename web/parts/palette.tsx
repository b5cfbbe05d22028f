import { useMemo, useState } from 'preact/hooks'
import { live } from '../live.ts'
import { goTo } from '../route.ts'
import { toneOf } from '../tone.ts'
import { VIEWS } from '../views.ts'
import { Dialog } from './dialog.tsx'
import { Icon, Mark } from './icon.tsx'

interface Target {
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly tone?: ReturnType<typeof toneOf>
  go(): void
}

export function Palette({ onClose }: { readonly onClose: () => void }) {
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
      <ul class="palette" id="palette-list" role="listbox" aria-label="What fits">
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
        {targets.length === 0 && <li class="muted">No match.</li>}
      </ul>
    </Dialog>
  )
}
