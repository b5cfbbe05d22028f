import type { ClusterOnPage, Page } from '../../src/server/api/schemas.ts'
import { plural } from '../format.ts'
import { quorumWords } from '../quorum-words.ts'
import { hrefTo } from '../route.ts'
import { clusterState, nodeTone, TONE_ORDER } from '../tone.ts'
import { Badge, Icon } from './icon.tsx'

const NODES_SHOWN = 9

export function ClusterCard({
  cluster,
  page,
  nodes = false,
}: {
  readonly cluster: ClusterOnPage
  readonly page: Page
  readonly nodes?: boolean
}) {
  const { tone, word } = clusterState(cluster, page)
  const ready = cluster.nodes.filter(({ ready: is }) => is === 'yes').length
  return (
    <a class="card cluster-card" href={hrefTo('cluster', cluster.name)} data-row>
      <div class="cluster-head">
        <b class="grow clip">{cluster.name}</b>
        <Badge tone={tone} word={word} icon={word === 'Off' ? 'power' : tone} />
      </div>
      <Quorum cluster={cluster} />
      <p class="cluster-facts">
        <span>
          {ready} of {plural(cluster.nodes.length, 'node')} ready
        </span>
        <code>{cluster.version}</code>
      </p>
      <UpgradeBar cluster={cluster} />
      {nodes && (
        <ul class="node-chips">
          {cluster.nodes
            .toSorted((a, b) => TONE_ORDER[nodeTone(a, cluster.phase)] - TONE_ORDER[nodeTone(b, cluster.phase)])
            .slice(0, NODES_SHOWN)
            .map((node) => (
              <li key={node.name} class={`node-chip tone-${nodeTone(node, cluster.phase)}`}>
                <Icon name={nodeTone(node, cluster.phase)} size={15} />
                <span class="clip">{node.name}</span>
                <span class="muted">{node.phase === 'Ready' ? node.role : node.phase}</span>
              </li>
            ))}
          {cluster.nodes.length > NODES_SHOWN && (
            <li class="node-chip muted">and {cluster.nodes.length - NODES_SHOWN} more</li>
          )}
        </ul>
      )}
    </a>
  )
}

/** Shows how many voters etcd can still lose: one mark per voter, and the sentence. */
export function Quorum({ cluster }: { readonly cluster: ClusterOnPage }) {
  const { members } = cluster
  const { tone, words } = quorumWords(cluster)
  return (
    <div class={`quorum tone-${tone}`}>
      {members !== 'unknown' && members.length > 0 && (
        <span class="quorum-marks" aria-hidden="true">
          {members.slice(0, 9).map(({ id, up, learner, leader }) => (
            <i
              key={id}
              class={`voter ${up === 'yes' ? 'is-up' : 'is-down'} ${learner ? 'is-learner' : ''} ${leader ? 'is-leader' : ''}`}
            />
          ))}
        </span>
      )}
      <span class="quorum-words">{words}</span>
    </div>
  )
}

export function upgradeOf(cluster: ClusterOnPage): { readonly done: number; readonly all: number } | undefined {
  // After a restore, nodes report the snapshot's old release until they are back.
  if (cluster.hops.length === 0 || cluster.operation !== undefined) return undefined
  const all = cluster.nodes.length
  return { done: cluster.nodes.filter(({ version }) => version === cluster.version).length, all }
}

export function UpgradeBar({ cluster }: { readonly cluster: ClusterOnPage }) {
  const upgrade = upgradeOf(cluster)
  if (upgrade === undefined) return null
  const at = cluster.nodes.find(({ work }) => work !== undefined)
  return (
    <div class="upgrade">
      <span
        class="upgrade-bar"
        role="progressbar"
        aria-label={`Upgrade of ${cluster.name}`}
        aria-valuemin={0}
        aria-valuemax={upgrade.all}
        aria-valuenow={upgrade.done}
      >
        <span style={{ width: `${(upgrade.done / Math.max(1, upgrade.all)) * 100}%` }} />
      </span>
      <span class="upgrade-words">
        <Icon name={cluster.rolloutPaused ? 'pause' : 'busy'} size={14} /> {upgrade.done} of {upgrade.all} on{' '}
        {cluster.hops.at(-1)}
        {cluster.rolloutPaused ? ', paused' : at === undefined ? '' : `, now ${at.name}`}
      </span>
    </div>
  )
}
