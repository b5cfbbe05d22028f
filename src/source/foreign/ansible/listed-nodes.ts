import { isFields, objectsOf } from '../../manifest.ts'
import { documentsIn } from '../documents.ts'
import type { ForeignFile } from '../reading.ts'

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
