import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Page } from '../../src/server/api/schemas.ts'
import { plural } from '../format.ts'
import { HEIGHT, layOut, type Vertex, WIDTH } from '../graph-layout.ts'
import { Empty } from '../parts/bits.tsx'
import { Icon } from '../parts/icon.tsx'

/** Up to so many machines are drawn one by one; more are one box for each host, which opens on a click. */
const ONE_BY_ONE = 60

/** Site, host, machine, node, cluster: layered from left to right. */
export function GraphView({ page }: { readonly page: Page }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [zoom, setZoom] = useState(1)
  const box = useRef<HTMLDivElement>(null)
  const all = page.rows.length <= ONE_BY_ONE
  const drawn = useMemo(
    () => layOut(page, (host) => open.has(host), all),
    [page.rows, page.hosts, page.clusters, open, all],
  )
  // Begins as large as fits in the width, but never too small to read, with the site in the middle of the height.
  useLayoutEffect(() => setZoom(fitting(box.current, drawn.width, 0.7)), [])
  useEffect(() => {
    const site = drawn.vertices.find(({ vertex }) => vertex.id === 'site')
    if (box.current === null || site === undefined) return
    box.current.scrollTop = site.y * fitting(box.current, drawn.width, 0.7) - box.current.clientHeight / 2
  }, [])
  if (page.rows.length === 0 && page.hosts.length === 0)
    return (
      <Empty alone icon="graph" title="Nothing to show yet">
        Hosts and machines appear here when croft has seen them.
      </Empty>
    )
  const toggle = (host: string) => {
    const next = new Set(open)
    if (!next.delete(host)) next.add(host)
    setOpen(next)
  }
  const fit = () => setZoom(fitting(box.current, drawn.width, 0.25))
  return (
    <>
      <header class="view-head">
        <h1>Graph</h1>
        <span class="muted">
          {plural(page.hosts.length, 'host')}, {plural(page.rows.length, 'resource')},{' '}
          {plural(page.clusters.length, 'cluster')}
          <span class="wide-only">: what stands on what, from left to right</span>
        </span>
        <span class="grow" />
        <div class="segments" role="group" aria-label="Size">
          <button type="button" onClick={() => setZoom(Math.max(0.25, zoom / 1.25))} aria-label="Smaller">
            −
          </button>
          <button type="button" onClick={fit}>
            Fit
          </button>
          <button type="button" onClick={() => setZoom(Math.min(2, zoom * 1.25))} aria-label="Larger">
            +
          </button>
        </div>
      </header>
      <div class="card graph" ref={box} tabIndex={0} role="group" aria-label="Graph of the estate">
        <div style={{ width: `${drawn.width * zoom}px`, height: `${drawn.height * zoom}px` }}>
          <div
            class="graph-plane"
            style={{ width: `${drawn.width}px`, height: `${drawn.height}px`, transform: `scale(${zoom})` }}
          >
            <svg width={drawn.width} height={drawn.height} aria-hidden="true">
              {drawn.edges.map(({ id, path }) => (
                <path key={id} d={path} />
              ))}
            </svg>
            {drawn.vertices.map(({ vertex, x, y }) => (
              <Box key={vertex.id} vertex={vertex} x={x} y={y} onOpen={toggle} />
            ))}
          </div>
        </div>
      </div>
    </>
  )
}

function fitting(box: HTMLElement | null, width: number, smallest: number): number {
  return Math.min(1.15, Math.max(smallest, ((box?.clientWidth ?? width) - 4) / width))
}

function Box({
  vertex,
  x,
  y,
  onOpen,
}: {
  readonly vertex: Vertex
  readonly x: number
  readonly y: number
  readonly onOpen: (host: string) => void
}) {
  const style = {
    transform: `translate(${x - WIDTH / 2}px, ${y - HEIGHT / 2}px)`,
    width: `${WIDTH}px`,
    height: `${HEIGHT}px`,
  }
  const inside = (
    <>
      <span class={`vertex-icon tone-${vertex.tone}`}>
        <Icon name={vertex.icon} size={17} />
      </span>
      <span class="vertex-words">
        <b class="clip">{vertex.title}</b>
        <span class="clip muted">{vertex.detail}</span>
      </span>
      <span class={`tone-${vertex.tone}`}>
        <Icon name={vertex.tone} size={15} />
      </span>
    </>
  )
  const { opens } = vertex
  const title = `${vertex.title}: ${vertex.detail}`
  if (opens !== undefined)
    return (
      <button
        type="button"
        class={`vertex is-group tone-edge-${vertex.tone}`}
        style={style}
        title={title}
        onClick={() => onOpen(opens)}
        data-row
      >
        {inside}
      </button>
    )
  return (
    <a class={`vertex tone-edge-${vertex.tone}`} style={style} title={title} href={vertex.href ?? '#/'} data-row>
      {inside}
    </a>
  )
}
