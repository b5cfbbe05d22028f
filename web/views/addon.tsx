import { useState } from 'preact/hooks'
import type { Page } from '../../src/server/api/schemas.ts'
import type { TreeNode } from '../../src/server/api/workload-schemas.ts'
import { api } from '../api.ts'
import { plural } from '../format.ts'
import { useFetched, useNow } from '../hooks.ts'
import { Ago, Awaited, Card, Command, Empty } from '../parts/bits.tsx'
import { Badge, Icon } from '../parts/icon.tsx'
import { PodLog } from '../parts/pod-log.tsx'
import { hrefTo } from '../route.ts'
import { readyWord, TONE_ORDER, type Tone, toneOf } from '../tone.ts'
import { withRight } from '../ui.ts'

const ASKED_MS = 5_000

/** Rows of add-ons of a cluster, by the name of the add-on. */
function addonRows(page: Page, cluster: string): ReadonlyMap<string, readonly Page['rows'][number][]> {
  const own = page.rows.filter((row) => row.kind === 'Addon' && row.connection === `cluster/${cluster}`)
  return Map.groupBy(own, ({ name }) => name.split('/')[0] ?? name)
}

/** The add-ons of a cluster, each with the worst of its objects. */
export function AddonList({ page, cluster }: { readonly page: Page; readonly cluster: string }) {
  const addons = [...addonRows(page, cluster)]
  if (addons.length === 0) return null
  return (
    <Card title={`Add-ons (${addons.length})`}>
      <ul class="plain">
        {addons.map(([name, rows]) => {
          const worst = rows.toSorted((a, b) => TONE_ORDER[toneOf(a)] - TONE_ORDER[toneOf(b)])[0]
          const { tone, word } = worst === undefined ? { tone: 'quiet' as Tone, word: '' } : readyWord(worst)
          return (
            <li key={name} class="line-item">
              <a class="clip grow" href={hrefTo('addon', cluster, name)} data-row>
                {name}
              </a>
              <span class="muted">{plural(rows.length, 'object')}</span>
              <Badge tone={tone} word={word} />
            </li>
          )
        })}
      </ul>
    </Card>
  )
}

interface LogOf {
  readonly node: TreeNode
  readonly container: string
  readonly previous: boolean
}

/** Shows an add-on as a tree: its declarations and the objects made of them, with pods, events and logs. */
export function AddonView({
  page,
  cluster,
  addon,
}: {
  readonly page: Page
  readonly cluster: string
  readonly addon: string
}) {
  const now = useNow(ASKED_MS)
  const [log, setLog] = useState<LogOf>()
  const fetched = useFetched(
    () => api.addon(cluster, addon),
    [cluster, addon, Math.floor(now / ASKED_MS)],
    `${cluster}/${addon}`,
  )
  const { value, trouble } = fetched
  if (trouble?.absent === true)
    return (
      <Empty alone icon="search" title={`There is no add-on ${addon}`}>
        None is declared for {cluster}. <a href={hrefTo('cluster', cluster)}>To the cluster</a>
      </Empty>
    )
  if (value === undefined) return <Awaited fetched={fetched} />
  const children = Map.groupBy(value.nodes, ({ parent }) => parent ?? '')
  const pods = value.nodes.filter(({ kind }) => kind === 'Pod')
  const open = (node: TreeNode, container: string, previous: boolean) =>
    withRight('operate', () => setLog({ node, container, previous }))
  return (
    <>
      <nav class="crumbs" aria-label="Where">
        <a href={hrefTo('clusters')}>Clusters</a>
        <a href={hrefTo('cluster', cluster)}>{cluster}</a>
      </nav>
      <header class="view-head">
        <div class="resource-title">
          <h1>{addon}</h1>
          <span class="muted">
            Addon · {plural(value.nodes.length, 'object')}, {plural(pods.length, 'pod')}
          </span>
        </div>
      </header>
      {value.notes.map((note) => (
        <p key={note} class="banner tone-warn" role="status">
          <Icon name="warn" /> {note}
        </p>
      ))}
      <Card title="Objects">
        <Nodes page={page} nodes={children.get('') ?? []} children={children} open={open} />
      </Card>
      {log !== undefined && (
        <PodLog
          key={`${log.node.id}/${log.container}/${log.previous}`}
          question={{
            cluster,
            addon,
            namespace: log.node.namespace ?? '',
            pod: log.node.name,
            container: log.container,
            previous: log.previous,
          }}
          onClose={() => setLog(undefined)}
        />
      )}
      <Card title="In a terminal">
        <Command text="croft get Addon" />
        <Command text={`croft pods ${cluster}`} />
      </Card>
    </>
  )
}

type Open = (node: TreeNode, container: string, previous: boolean) => void

function Nodes({
  page,
  nodes,
  children,
  open,
}: {
  readonly page: Page
  readonly nodes: readonly TreeNode[]
  readonly children: ReadonlyMap<string, readonly TreeNode[]>
  readonly open: Open
}) {
  return (
    <ul class="tree">
      {nodes.map((node) => (
        <li key={node.id} data-node={`${node.kind}/${node.name}`}>
          <NodeLine page={page} node={node} open={open} />
          {children.has(node.id) && (
            <Nodes page={page} nodes={children.get(node.id) ?? []} children={children} open={open} />
          )}
        </li>
      ))}
    </ul>
  )
}

function NodeLine({ page, node, open }: { readonly page: Page; readonly node: TreeNode; readonly open: Open }) {
  const [shown, set] = useState(false)
  // For an object without pods, croft's state is better than the object's own.
  const row = node.key === undefined ? undefined : page.rows.find(({ key }) => key === node.key)
  const known = row === undefined ? undefined : readyWord(row)
  const [tone, word] =
    node.status === '' ? [known?.tone ?? 'quiet', known?.word ?? 'declared'] : [node.state, node.status]
  const warnings = node.events.filter(({ type }) => type === 'Warning').length
  const details = node.events.length > 0 || node.containers !== undefined
  return (
    <>
      <div class="tree-line">
        <span class="tree-kind muted">{node.kind}</span>
        {node.key === undefined ? (
          <b class="clip">{node.name}</b>
        ) : (
          <a class="clip" href={hrefTo('resource', node.key)} data-row>
            {node.name}
          </a>
        )}
        <Badge tone={tone} word={word} />
        {node.restarts !== undefined && node.restarts > 0 && (
          <span class="muted">{plural(node.restarts, 'restart')}</span>
        )}
        {warnings > 0 && <Badge tone="warn" word={plural(warnings, 'warning')} />}
        <span class="grow" />
        {node.node !== undefined && <span class="muted wide-only clip">{node.node}</span>}
        {node.createdMs !== undefined && (
          <span class="muted wide-only">
            <Ago atMs={node.createdMs} />
          </span>
        )}
        {details && (
          <button
            type="button"
            class="button-quiet"
            aria-expanded={shown}
            aria-label={`Details of ${node.kind} ${node.name}`}
            onClick={() => set(!shown)}
          >
            {shown ? 'Less' : 'Details'}
          </button>
        )}
      </div>
      {shown && (
        <div class="tree-details">
          {(node.containers ?? []).map((one) => (
            <p key={one.name} class="tree-line">
              <Badge
                tone={one.ready || one.state === 'Completed' ? 'ok' : one.state === 'Running' ? 'busy' : 'bad'}
                word={one.state}
              />
              <b class="clip">{one.name}</b>
              <code class="tree-image">{one.image}</code>
              <button type="button" class="button" onClick={() => open(node, one.name, false)}>
                Log <span class="hidden">of {one.name}</span>
              </button>
              {one.previous && (
                <button type="button" class="button" onClick={() => open(node, one.name, true)}>
                  Previous log <span class="hidden">of {one.name}</span>
                </button>
              )}
            </p>
          ))}
          {node.events.length === 0 ? (
            <p class="muted">No events in the last hour.</p>
          ) : (
            <ul class="plain">
              {node.events.map((event) => (
                <li key={`${event.reason}${event.atMs}${event.message}`} class="condition">
                  <Badge tone={event.type === 'Warning' ? 'warn' : 'quiet'} word={event.reason} />
                  <span class="grow">
                    {event.message}{' '}
                    <span class="muted">
                      {event.count > 1 && `${event.count} times, last `}
                      <Ago atMs={event.atMs} />
                    </span>
                  </span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </>
  )
}
