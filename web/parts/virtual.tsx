import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

const OVERSCAN = 8

/** Draws only the visible rows, so that a thousand cost as much as thirty. Rows have one height. */
export function VirtualList<T>({
  items,
  rowHeight,
  keyOf,
  draw,
  label,
}: {
  readonly items: readonly T[]
  readonly rowHeight: number
  readonly keyOf: (item: T) => string
  readonly draw: (item: T) => ComponentChildren
  readonly label: string
}) {
  const box = useRef<HTMLDivElement>(null)
  const [range, set] = useState({ from: 0, to: 40 })

  const measure = () => {
    const scroller = box.current?.closest('main')
    if (box.current === null || scroller === null || scroller === undefined) return
    const top = scroller.getBoundingClientRect().top - box.current.getBoundingClientRect().top
    const from = Math.max(0, Math.floor(top / rowHeight) - OVERSCAN)
    // For a list far below the view, a negative end would count from the end of the list.
    const to = Math.max(0, Math.ceil((top + scroller.clientHeight) / rowHeight) + OVERSCAN)
    set((old) => (old.from === from && old.to === to ? old : { from, to }))
  }
  useLayoutEffect(measure)
  useEffect(() => {
    const scroller = box.current?.closest('main')
    scroller?.addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      scroller?.removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [rowHeight])

  return (
    <div class="virtual" ref={box} role="list" aria-label={label} style={{ height: `${items.length * rowHeight}px` }}>
      {items.slice(range.from, range.to).map((item, index) => {
        const at = range.from + index
        return (
          <div
            key={keyOf(item)}
            class="virtual-row"
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={at + 1}
            style={{ transform: `translateY(${at * rowHeight}px)`, height: `${rowHeight}px` }}
          >
            {draw(item)}
          </div>
        )
      })}
    </div>
  )
}
