import type { ClusterOnPage, Page } from '../../src/server/api/schemas.ts'
import { bytes } from '../format.ts'
import { Ago, Card, Empty } from '../parts/bits.tsx'
import { Quorum, UpgradeBar, upgradeOf } from '../parts/cluster-card.tsx'
import { ClusterCommands, ClusterOrders } from '../parts/cluster-orders.tsx'
import { ClusterSteps, isUnsettled } from '../parts/cluster-steps.tsx'
import { Badge, Icon, Mark } from '../parts/icon.tsx'
import { later } from '../parts/later.tsx'
import { quorumWords } from '../quorum-words.ts'
import { hrefTo } from '../route.ts'
import { clusterState, nodeTone, TONE_ORDER } from '../tone.ts'

export function ClusterView({ page, name }: { readonly page: Page; readonly name: string }) {
  const cluster = page.clusters.find((one) => one.name === name)
  if (cluster === undefined)
    return (
      <Empty alone icon="cluster" title={`There is no cluster ${name}`}>
        <a href={hrefTo('clusters')}>To the clusters</a>
      </Empty>
    )
  const { tone, word } = clusterState(cluster, page)
  return (
    <>
      <nav class="crumbs" aria-label="Where">
        <a href={hrefTo('clusters')}>Clusters</a>
      </nav>
      <header class="view-head">
        <div class="resource-title">
          <h1>{cluster.name}</h1>
          <span class="muted">
            {cluster.version} · {cluster.endpoint}
          </span>
        </div>
        <Badge tone={tone} word={word} icon={word === 'Off' ? 'power' : tone} />
        <span class="grow" />
        <ClusterOrders cluster={cluster} />
      </header>
      <div class="columns">
        <Card title="etcd">
          <Quorum cluster={cluster} />
          {quorumWords(cluster).detail !== undefined && <p class="muted">{quorumWords(cluster).detail}</p>}
          <Members cluster={cluster} />
        </Card>
        <div class="stack">
          <Now cluster={cluster} page={page} />
        </div>
      </div>
      <Courses of={cluster.key} phase={cluster.phase} />
      <Nodes cluster={cluster} page={page} />
      <Addons page={page} cluster={cluster.name} />
      <Graphs
        title="Over time"
        of={[
          { what: 'cluster' as const, subject: cluster.name },
          ...cluster.nodes.map(({ name: subject }) => ({ what: 'node' as const, subject })),
        ]}
      />
      <div class="columns">
        <Snapshots cluster={cluster} />
        <ClusterCommands cluster={cluster} />
      </div>
    </>
  )
}

const Addons = later(() => import('./addon.tsx').then((module) => module.AddonList), 0)
const Courses = later(() => import('./course.tsx').then((module) => module.Courses), 0)
const Graphs = later(() => import('./graphs.tsx').then((module) => module.Graphs))

function Now({ cluster, page }: { readonly cluster: ClusterOnPage; readonly page: Page }) {
  const { tone, word, ordered: switched } = clusterState(cluster, page)
  const quiet = !isUnsettled(cluster)
  return (
    <Card title="Next steps">
      {upgradeOf(cluster) !== undefined && <UpgradeBar cluster={cluster} />}
      {switched && (
        <p class="line-item">
          <Badge tone={tone} word={word} icon="power" />
          <span class="muted">
            by order; <a href={hrefTo('power')}>how far it is</a>
          </span>
        </p>
      )}
      {quiet && !switched && upgradeOf(cluster) === undefined && (
        <p class="line-item">
          {cluster.phase === 'Ready' ? (
            <Badge tone="ok" word="Nothing to do" />
          ) : (
            <Badge tone="quiet" word="No step is planned now" />
          )}
          <span class="muted">{cluster.phase === 'Ready' ? 'It is as Git says.' : 'croft keeps looking.'}</span>
        </p>
      )}
      <ClusterSteps cluster={cluster} />
    </Card>
  )
}

function Members({ cluster }: { readonly cluster: ClusterOnPage }) {
  if (cluster.members === 'unknown')
    return cluster.phase === 'Forming' ? null : <p class="muted">The members cannot be seen now.</p>
  return (
    <ul class="plain">
      {cluster.members.map((member) => (
        <li key={member.id} class="line-item">
          <Mark
            tone={member.up === 'yes' ? 'ok' : member.up === 'no' ? 'bad' : 'quiet'}
            title={member.up === 'yes' ? 'up' : member.up === 'no' ? 'down' : 'not known'}
          />
          <b class="clip">{member.node === '' ? '(never started)' : member.node}</b>
          {member.leader && <Badge tone="ok" word="leader" />}
          {member.learner && <Badge tone="busy" word="learner" />}
          <span class="grow" />
          <span class="muted wide-only clip">{member.etcd !== undefined && `etcd ${member.etcd}`}</span>
          <code class="muted wide-only clip" title={`member ${member.id}`}>
            {member.id.slice(0, 8)}
          </code>
        </li>
      ))}
    </ul>
  )
}

function Nodes({ cluster, page }: { readonly cluster: ClusterOnPage; readonly page: Page }) {
  const machines = new Map(page.rows.filter((row) => row.cluster === cluster.name).map((row) => [row.name, row]))
  const sorted = cluster.nodes.toSorted(
    (a, b) =>
      TONE_ORDER[nodeTone(a, cluster.phase)] - TONE_ORDER[nodeTone(b, cluster.phase)] ||
      (a.role === b.role ? (a.name < b.name ? -1 : 1) : a.role === 'server' ? -1 : 1),
  )
  return (
    <Card title={`Nodes (${cluster.nodes.length})`} class="is-table">
      <div class="table-scroll" tabIndex={0} role="group" aria-label="Nodes">
        <table class="table">
          <thead>
            <tr>
              <th>Node</th>
              <th>State</th>
              <th>Role</th>
              <th>Version</th>
              <th>Address</th>
              <th>Work</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((node) => {
              const machine = machines.get(node.name)
              return (
                <tr key={node.name} data-node={node.name}>
                  <td>
                    {machine === undefined ? (
                      <b>{node.name}</b>
                    ) : (
                      <a href={hrefTo('resource', machine.key)} data-row>
                        {node.name}
                      </a>
                    )}
                  </td>
                  <td>
                    <Badge tone={nodeTone(node, cluster.phase)} word={node.phase} />
                    {node.message !== '' && <span class="trouble-detail">{node.message}</span>}
                  </td>
                  <td data-label="Role">{node.role}</td>
                  <td data-label="Version">
                    <code class={node.version === cluster.version ? '' : 'is-old'}>{node.version ?? '–'}</code>
                  </td>
                  <td data-label="Address">{node.addresses.join(', ')}</td>
                  <td data-label="Work">
                    {node.work !== undefined && (
                      <span>
                        <Icon name="busy" size={14} /> {node.work.purpose}{' '}
                        <span class="muted">
                          {node.podsToMove !== undefined && node.podsToMove > 0
                            ? `${node.podsToMove} pods to move`
                            : ''}
                        </span>
                      </span>
                    )}
                    {node.work === undefined && node.unschedulable && <span class="muted">cordoned</span>}
                    {node.drainBlockedBy !== undefined && <span class="trouble-detail">{node.drainBlockedBy}</span>}
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </Card>
  )
}

function Snapshots({ cluster }: { readonly cluster: ClusterOnPage }) {
  return (
    <Card title="Snapshots">
      {cluster.snapshots === 'unknown' ? (
        <p class="muted">They cannot be seen now.</p>
      ) : cluster.snapshots.length === 0 ? (
        <p class="muted">There is none. Declare a backup, or take one above.</p>
      ) : (
        <ul class="plain">
          {cluster.snapshots.slice(0, 8).map((one) => (
            <li key={one.name} class="line-item snapshot">
              <Badge
                tone={one.usable === 'yes' ? 'ok' : one.usable === 'no' ? 'bad' : 'quiet'}
                word={
                  one.usable === 'yes'
                    ? 'usable'
                    : one.usable === 'no'
                      ? 'unusable: no token opens it'
                      : 'token not known'
                }
              />
              <code class="clip grow">{one.name}</code>
              <span class="muted">
                {one.bytes !== undefined && `${bytes(one.bytes)}, `}
                <Ago atMs={one.atMs} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}
