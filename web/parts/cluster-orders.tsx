import type { ClusterOnPage } from '../../src/server/api/schemas.ts'
import { ui, wish, withRight } from '../ui.ts'
import { Card, Command } from './bits.tsx'
import { upgradeOf } from './cluster-card.tsx'

export function ClusterCommands({ cluster }: { readonly cluster: ClusterOnPage }) {
  return (
    <Card title="In a terminal">
      <div class="commands">
        {commandsOf(cluster).map(([what, text]) => (
          <Command key={text} what={what} text={text} />
        ))}
      </div>
    </Card>
  )
}

/** What does the same in a terminal as the buttons above, and the way in. */
function commandsOf(cluster: ClusterOnPage): readonly (readonly [string, string])[] {
  const { name } = cluster
  const all: (readonly [string, string])[] = [
    ['The way in with kubectl', `croft cluster kubeconfig ${name} --merge`],
    ['Its pods, as they change', `croft pods ${name} -w`],
    ['A snapshot now', `croft cluster backup ${name} --now`],
  ]
  if (upgradeOf(cluster) !== undefined)
    all.push(['The upgrade', `croft cluster upgrade ${name} --${cluster.rolloutPaused ? 'resume' : 'pause'}`])
  return all
}

/** The buttons of a cluster. Each says what it will do. */
export function ClusterOrders({ cluster }: { readonly cluster: ClusterOnPage }) {
  const order = (name: string) =>
    withRight('operate', () => void wish('cluster', { cluster: cluster.name, order: name }))
  const abort = () =>
    ui.set({
      confirm: {
        title: `Abort the upgrade of ${cluster.name}?`,
        body: 'Nodes that have the new version keep it. The rest stays as it is until the declaration changes or it is resumed.',
        action: 'Abort',
        danger: true,
        type: cluster.name,
        command: `croft cluster upgrade ${cluster.name} --abort`,
        go: async () => void (await wish('cluster', { cluster: cluster.name, order: 'abort' })),
      },
    })
  return (
    <div class="buttons">
      <button
        type="button"
        class="button"
        title="Take a snapshot of etcd now, on one of its servers"
        onClick={() => order('snapshot')}
      >
        Snapshot
      </button>
      {upgradeOf(cluster) !== undefined && (
        <>
          <button
            type="button"
            class="button"
            title={cluster.rolloutPaused ? 'Go on with the upgrade' : 'Finish the node that has begun, begin no other'}
            onClick={() => order(cluster.rolloutPaused ? 'resume' : 'pause')}
          >
            {cluster.rolloutPaused ? 'Resume' : 'Pause'}
          </button>
          <button
            type="button"
            class="button"
            title="Stop the upgrade where it is; you are asked first"
            onClick={() => withRight('admin', abort)}
          >
            Abort
          </button>
        </>
      )}
    </div>
  )
}
