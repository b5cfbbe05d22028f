import type { ClusterOnPage } from '../../src/server/api/schemas.ts'
import { api } from '../api.ts'
import { attempt, ui, wish, withRight } from '../ui.ts'
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

/** Returns the commands of the buttons above, and those for access. */
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

/** The buttons of a cluster, with their effects. */
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
  const kubeconfig = () =>
    ui.set({
      confirm: {
        title: `Download a kubeconfig of ${cluster.name}?`,
        body: 'Its certificate may do everything on the cluster for eight hours, and nobody can revoke it. The audit log records that you took it.',
        action: 'Download',
        command: `croft cluster kubeconfig ${cluster.name} --merge --ttl 8h`,
        go: async () => void (await attempt(() => download(cluster.name))),
      },
    })
  const why = whyNot(cluster)
  return (
    <div class="buttons">
      <button
        type="button"
        class="button"
        title="Download access for kubectl; asks first"
        disabled={why?.kubeconfig === true}
        aria-describedby={why?.kubeconfig === true ? 'why-not' : undefined}
        onClick={() => withRight('admin', kubeconfig)}
      >
        Kubeconfig
      </button>
      <button
        type="button"
        class="button"
        title="Take a snapshot of etcd now, on one of its servers"
        disabled={why !== undefined}
        aria-describedby={why === undefined ? undefined : 'why-not'}
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
      {why !== undefined && (
        <span id="why-not" class="muted">
          {why.says}
        </span>
      )}
    </div>
  )
}

/** Returns why a cluster's commands are not available, and whether its kubeconfig is not either. */
function whyNot({ phase, name }: ClusterOnPage): { readonly says: string; readonly kubeconfig: boolean } | undefined {
  switch (phase) {
    case 'Forming':
      return { says: `Available when the API of ${name} answers`, kubeconfig: true }
    case 'Off':
      return { says: `A snapshot can be taken when ${name} is on again`, kubeconfig: false }
    case 'QuorumLost':
      return { says: 'A snapshot can be taken when etcd has its majority again', kubeconfig: false }
    default:
      return undefined
  }
}

/** Saves the answer directly to a file; the page keeps no copy. */
async function download(cluster: string): Promise<{ readonly message: string }> {
  const { yaml, message } = await api.kubeconfig(cluster)
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([yaml], { type: 'application/yaml' }))
  link.download = `${cluster}.kubeconfig`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
  return { message }
}
