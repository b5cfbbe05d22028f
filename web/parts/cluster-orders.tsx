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
    ['Kubeconfig for kubectl', `croft cluster kubeconfig ${name} --merge`],
    ['Watch its pods', `croft pods ${name} -w`],
    ['Take a snapshot', `croft cluster backup ${name} --now`],
  ]
  if (upgradeOf(cluster) !== undefined)
    all.push([
      cluster.rolloutPaused ? 'Resume the upgrade' : 'Pause the upgrade',
      `croft cluster upgrade ${name} --${cluster.rolloutPaused ? 'resume' : 'pause'}`,
    ])
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
        body: 'Upgraded nodes keep the new version. The others stay on theirs until you resume the upgrade or change the declaration.',
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
            title={cluster.rolloutPaused ? 'Resume the upgrade' : 'Finish the current node, then stop'}
            onClick={() => order(cluster.rolloutPaused ? 'resume' : 'pause')}
          >
            {cluster.rolloutPaused ? 'Resume' : 'Pause'}
          </button>
          <button
            type="button"
            class="button"
            title="Stop the upgrade here; asks first"
            onClick={() => withRight('admin', abort)}
          >
            Abort
          </button>
        </>
      )}
    </div>
  )
}
