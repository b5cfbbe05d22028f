import { graphlib, layout } from '@dagrejs/dagre'
import type { Page, Row } from '../src/server/api/schemas.ts'
import { hostNames } from './boxes.ts'
import { hostWords, plural } from './format.ts'
import type { IconName } from './parts/icon.tsx'
import { hrefTo } from './route.ts'
import { clusterState, hostsAsleep, hostTone, nodeTone, TONE_ORDER, type Tone, toneOf } from './tone.ts'

/** One box of the graph. */
export interface Vertex {
  readonly id: string
  readonly title: string
  readonly detail: string
  readonly tone: Tone
  readonly icon: IconName
  readonly href?: string
  /** For a group that can be opened and closed: its host. */
  readonly opens?: string
}

export const WIDTH = 208
export const HEIGHT = 46

export interface Picture {
  readonly width: number
  readonly height: number
  readonly vertices: readonly { readonly vertex: Vertex; readonly x: number; readonly y: number }[]
  readonly edges: readonly { readonly id: string; readonly path: string }[]
}

function worst(rows: readonly Row[]): Tone {
  return rows.map(toneOf).reduce<Tone>((a, b) => (TONE_ORDER[b] < TONE_ORDER[a] ? b : a), 'ok')
}

/** Site, host, machine, node, cluster, layered from left to right. Machines of a host that is not open are one box. */
export function layOut(page: Page, isOpen: (host: string) => boolean, all: boolean): Picture {
  const vertices = new Map<string, Vertex>()
  const edges = new Map<string, Edge>()
  const add = (vertex: Vertex) => vertices.set(vertex.id, vertex)
  const connect = (from: string, to: string) => {
    if (vertices.has(from) && vertices.has(to)) edges.set(`${from}>${to}`, [from, to])
  }
  const addMachine = (row: Row, above: string) => {
    add({
      id: row.key,
      title: row.name,
      detail: `${row.kind}, ${row.status}`,
      tone: toneOf(row),
      icon: row.power === undefined ? 'plan' : 'machine',
      href: hrefTo('resource', row.key),
    })
    connect(above, row.key)
    const node = nodes.get(`${row.cluster ?? ''}/${row.name}`)
    if (node === undefined || row.cluster === undefined) return
    const id = `node/${row.cluster}/${node.name}`
    add({
      id,
      title: node.name,
      detail: `${node.role}, ${node.phase}${node.version === undefined ? '' : `, ${node.version}`}`,
      tone: nodeTone(node, phases.get(row.cluster)),
      icon: 'node',
      href: hrefTo('cluster', row.cluster),
    })
    connect(row.key, id)
    connect(id, `cluster/${row.cluster}`)
  }
  const site = page.sources[0]?.name ?? 'site'
  add({ id: 'site', title: site, detail: 'site', tone: worst(page.rows), icon: 'overview', href: hrefTo('overview') })
  for (const cluster of page.clusters)
    add({
      id: `cluster/${cluster.name}`,
      title: cluster.name,
      detail: `${plural(cluster.nodes.length, 'node')}, ${clusterState(cluster, page).word}`,
      tone: clusterState(cluster, page).tone,
      icon: 'cluster',
      href: hrefTo('cluster', cluster.name),
    })
  const nodes = new Map(
    page.clusters.flatMap(({ name, nodes: own }) => own.map((node) => [`${name}/${node.name}`, node] as const)),
  )
  const phases = new Map(page.clusters.map(({ name, phase }) => [name, phase]))
  const asleep = hostsAsleep(page)
  const nameOf = hostNames(page)
  const byHost = Map.groupBy(page.rows, (row) => nameOf(row.host ?? ''))
  for (const host of page.hosts) {
    const rows = byHost.get(host.name) ?? []
    add({
      id: `host/${host.name}`,
      title: host.name,
      detail: host.online
        ? `host, ${hostWords(host) || plural(rows.length, 'resource')}`
        : asleep.has(host.name)
          ? 'host, off as ordered'
          : 'host, offline',
      tone: hostTone(host, asleep),
      icon: 'estate',
      href: hrefTo('estate', 'host', host.name),
    })
    connect('site', `host/${host.name}`)
  }
  for (const [host, rows] of byHost) {
    const above = vertices.has(`host/${host}`) ? `host/${host}` : 'site'
    const open = all || rows.length === 1 || isOpen(host)
    const group = `group/${host}`
    if (!all && rows.length > 1) {
      const unwell = rows.filter((row) => ['bad', 'warn'].includes(toneOf(row))).length
      add({
        id: group,
        title: plural(rows.length, 'resource'),
        detail: `${unwell === 0 ? 'all well' : `${unwell} not well`}, ${open ? 'close' : 'open'}`,
        tone: worst(rows),
        icon: 'more',
        opens: host,
      })
      connect(above, group)
      if (!open)
        for (const cluster of new Set(rows.map((row) => row.cluster))) connect(group, `cluster/${cluster ?? ''}`)
    }
    if (open) for (const row of rows) addMachine(row, vertices.has(group) ? group : above)
  }
  const { width, height, at } = placed([...vertices.keys()], [...edges.values()])
  const where = (id: string) => at.get(id) ?? { x: 0, y: 0 }
  return {
    width,
    height,
    vertices: [...vertices.values()].map((vertex) => ({ vertex, ...where(vertex.id) })),
    edges: [...edges].map(([id, [from, to]]) => ({
      id,
      path: curve(where(from).x + WIDTH / 2, where(from).y, where(to).x - WIDTH / 2, where(to).y),
    })),
  }
}

type Edge = readonly [from: string, to: string]

interface Places {
  readonly width: number
  readonly height: number
  readonly at: ReadonlyMap<string, { readonly x: number; readonly y: number }>
}

let last: { readonly shape: string; readonly places: Places } | undefined

/** Returns the position of each box. Cached by the graph's shape, which seldom changes, so that boxes do not move. */
function placed(ids: readonly string[], edges: readonly Edge[]): Places {
  const shape = JSON.stringify([ids, edges])
  if (last?.shape !== shape) last = { shape, places: place(ids, edges) }
  return last.places
}

function place(ids: readonly string[], edges: readonly Edge[]): Places {
  const graph = new graphlib.Graph()
  graph.setGraph({ rankdir: 'LR', nodesep: 12, ranksep: 70, marginx: 12, marginy: 12 })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const id of ids) graph.setNode(id, { width: WIDTH, height: HEIGHT })
  for (const [from, to] of edges) graph.setEdge(from, to)
  layout(graph)
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  const at = ids.map((id) => {
    const { x = 0, y = 0 } = graph.node(id) as { x?: number; y?: number }
    return [id, { x, y }] as const
  })
  return { width, height, at: new Map(at) }
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}
