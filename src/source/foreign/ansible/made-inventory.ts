import { isFields, objectsOf } from '../../manifest.ts'
import { documentsIn } from '../documents.ts'
import type { Fields, ForeignFile, NotCarried } from '../reading.ts'
import type { FoundInventory } from './find-inventory.ts'
import { emptyInventory, readYamlInventory } from './inventory.ts'

/** A box that a tool other than Ansible has K3s on, in the variables of the playbooks. */
export interface MadeHost {
  readonly name: string
  readonly role: 'server' | 'agent'
  readonly variables: Fields
}

/** What another tool knows of a cluster, as the inventory that a playbook would have for it. */
export function madeInventory(
  path: string,
  hosts: readonly MadeHost[],
  variables: Fields,
  notCarried: readonly NotCarried[],
): FoundInventory | { readonly problem: string } {
  const inventory = emptyInventory()
  const group = (role: MadeHost['role']) => ({
    hosts: Object.fromEntries(hosts.filter((host) => host.role === role).map((host) => [host.name, host.variables])),
  })
  const stopped = readYamlInventory(
    { all: { vars: variables }, server: group('server'), agent: group('agent') },
    inventory,
  )
  if (stopped !== undefined) return { problem: stopped }
  return { path, inventory, files: { groups: new Map(), hosts: new Map() }, notCarried }
}

/** A node as Kubernetes itself describes it: `kubectl get nodes -o json`. */
export interface ListedNode {
  readonly name: string
  readonly role: 'server' | 'agent'
  readonly internal?: string
  readonly external?: string
  readonly version?: string
}

/** The nodes in the file nodes.json, if it is among the files. */
export function kubeNodes(files: readonly ForeignFile[]): readonly ListedNode[] {
  const text = files.find(({ path }) => /(?:^|\/)nodes\.(?:json|ya?ml)$/.test(path))?.text
  const documents = text === undefined ? undefined : documentsIn(text)
  return (documents ?? []).flatMap(objectsOf).flatMap(({ value }): readonly ListedNode[] => {
    const { kind, metadata, status } = value
    if (kind !== 'Node' || !isFields(metadata) || !isFields(status) || typeof metadata.name !== 'string') return []
    const addresses = (Array.isArray(status.addresses) ? status.addresses : []).filter(isFields)
    const of = (type: string) => addresses.find((one) => one.type === type)?.address
    const labels = isFields(metadata.labels) ? metadata.labels : {}
    const [internal, external] = [of('InternalIP'), of('ExternalIP')]
    const version = isFields(status.nodeInfo) ? status.nodeInfo.kubeletVersion : undefined
    return [
      {
        name: metadata.name,
        role: 'node-role.kubernetes.io/control-plane' in labels ? 'server' : 'agent',
        ...(typeof internal === 'string' ? { internal } : {}),
        ...(typeof external === 'string' ? { external } : {}),
        ...(typeof version === 'string' ? { version } : {}),
      },
    ]
  })
}
