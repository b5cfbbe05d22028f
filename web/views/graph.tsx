import { graphlib, layout } from '@dagrejs/dagre'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Page, Row } from '../../src/server/api/schemas.ts'
import { plural } from '../format.ts'
import { Empty } from '../parts/bits.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { hrefTo } from '../route.ts'
import { clusterTone, TONE_ORDER, type Tone, toneOf } from '../tone.ts'

interface Vertex {
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly tone: Tone
  readonly icon: IconName
  readonly href?: string
  /** Of a group that can be opened. */
  readonly opens?: string
}

const WIDTH = 208
const HEIGHT = 46
/** Up to so many machines are drawn one by one; more are one box for each host, which opens on a click. */
const ONE_BY_ONE = 60

/** Site, host, machine, cluster: layered from left to right. */
export function GraphView({ page }: { readonly page: Page }) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set())
  const [zoom, setZoom] = useState(1)
  const box = useRef<HTMLDivElement>(null)
  const all = page.rows.length <= ONE_BY_ONE
  const drawn = useMemo(
    () => draw(page, (host) => all || open.has(host)),
    [page.rows, page.hosts, page.clusters, open, all],
  )
  // Begins as large as fits in the width, but never too small to read.
  useLayoutEffect(() => setZoom(fitting(box.current, drawn.width, 0.7)), [])
  if (page.rows.length === 0 && page.hosts.length === 0)
    return (
      <Empty icon="graph" title="Nothing to draw yet">
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
          site, {plural(page.hosts.length, 'host')}, {plural(page.rows.length, 'resource')},{' '}
          {plural(page.clusters.length, 'cluster')}
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
  if (opens !== undefined)
    return (
      <button
        type="button"
        class={`vertex is-group tone-edge-${vertex.tone}`}
        style={style}
        onClick={() => onOpen(opens)}
        data-row
      >
        {inside}
      </button>
    )
  return (
    <a class={`vertex tone-edge-${vertex.tone}`} style={style} href={vertex.href ?? '#/'} data-row>
      {inside}
    </a>
  )
}

function worst(rows: readonly Row[]): Tone {
  return rows.map(toneOf).reduce<Tone>((a, b) => (TONE_ORDER[b] < TONE_ORDER[a] ? b : a), 'ok')
}

function draw(page: Page, isOpen: (host: string) => boolean) {
  const graph = new graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 70, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  const vertices = new Map<string, Vertex>()
  const add = (vertex: Vertex) => {
    vertices.set(vertex.id, vertex)
    graph.setNode(vertex.id, { width: WIDTH, height: HEIGHT })
  }
  const connect = (from: string, to: string) => vertices.has(from) && vertices.has(to) && graph.setEdge(from, to)
  const site = page.sources[0]?.name ?? 'site'
  add({ id: 'site', title: site, detail: 'site', tone: worst(page.rows), icon: 'overview', href: hrefTo('overview') })
  for (const cluster of page.clusters)
    add({
      id: `cluster/${cluster.name}`,
      title: cluster.name,
      detail: `${plural(cluster.nodes.length, 'node')}, ${cluster.phase}`,
      tone: clusterTone(cluster),
      icon: 'cluster',
      href: hrefTo('cluster', cluster.name),
    })
  const byHost = Map.groupBy(page.rows, (row) => row.host ?? '')
  for (const host of page.hosts) {
    const rows = byHost.get(host.name) ?? []
    add({
      id: `host/${host.name}`,
      title: host.name,
      detail: host.online ? `host, ${plural(rows.length, 'resource')}` : 'host, offline',
      tone: host.online ? 'ok' : 'bad',
      icon: 'estate',
      href: hrefTo('estate', 'host', host.name),
    })
    connect('site', `host/${host.name}`)
  }
  for (const [host, rows] of byHost) {
    const parent = vertices.has(`host/${host}`) ? `host/${host}` : 'site'
    if (!isOpen(host) && rows.length > 1) {
      const unwell = rows.filter((row) => ['bad', 'warn'].includes(toneOf(row))).length
      const detail = unwell === 0 ? 'all well' : `${unwell} not well`
      const id = `group/${host}`
      add({
        id,
        title: plural(rows.length, 'resource'),
        detail: `${detail}, open`,
        tone: worst(rows),
        icon: 'more',
        opens: host,
      })
      connect(parent, id)
      for (const cluster of new Set(rows.map((row) => row.cluster))) connect(id, `cluster/${cluster ?? ''}`)
      continue
    }
    for (const row of rows) {
      add({
        id: row.key,
        title: row.name,
        detail: `${row.kind}, ${row.status}`,
        tone: toneOf(row),
        icon: 'power',
        href: hrefTo('resource', row.key),
      })
      connect(parent, row.key)
      if (row.cluster !== undefined) connect(row.key, `cluster/${row.cluster}`)
    }
  }
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    width,
    height,
    vertices: graph.nodes().flatMap((id) => {
      const vertex = vertices.get(id)
      const at = graph.node(id) as { x?: number; y?: number }
      return vertex === undefined ? [] : [{ vertex, x: at.x ?? 0, y: at.y ?? 0 }]
    }),
    edges: graph.edges().map(({ v, w }) => {
      const [from, to] = [graph.node(v) as { x?: number; y?: number }, graph.node(w) as { x?: number; y?: number }]
      return {
        id: `${v}>${w}`,
        path: curve((from.x ?? 0) + WIDTH / 2, from.y ?? 0, (to.x ?? 0) - WIDTH / 2, to.y ?? 0),
      }
    }),
  }
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}
