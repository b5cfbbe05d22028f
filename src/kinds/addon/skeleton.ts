import { type HandoverTarget, type KubeObject, objectId } from '../../model/kube-object.ts'
import type { Resource } from '../../model/resource.ts'
import type { Lookup } from '../kind.ts'
import { clusterFacts } from './cluster-facts.ts'
import { isHandedOver, keepersOf } from './handover.ts'
import { chartOf, namespaceOf } from './objects.ts'
import type { AddonDeclaration } from './schema.ts'

/** One file of a repository: its path, and its objects or text. */
export interface SkeletonFile {
  readonly path: string
  readonly objects?: readonly KubeObject[]
  readonly text?: string
}

/**
 * The repository with which people go on at Argo CD or Flux: for each add-on what it is, and the object by which the
 * agent keeps it. Secrets are named and not written.
 */
export function gitopsSkeleton(
  to: HandoverTarget,
  addons: readonly AddonDeclaration[],
  resources: readonly Resource[],
  repository: string,
  clusters: Pick<Lookup, 'declaration'>,
): readonly SkeletonFile[] {
  const files: SkeletonFile[] = []
  const kept = new Map<string, string[]>()
  const secrets: string[] = []
  const unread: string[] = []
  for (const addon of addons.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const { cluster } = addon.spec
    const own = resources.flatMap(({ key, desired }) =>
      key.startsWith(`${addon.key}@`) && desired.type === 'object' ? [desired.object] : [],
    )
    const [chart, namespace] = [chartOf(addon, clusterFacts(clusters, cluster)), namespaceOf(addon)]
    const all = own.map(({ object }) => object)
    const now = keepersOf(addon, chart, namespace, all)
    const keeping = new Set([...now.chart, ...now.objects].map(objectId))
    const objects = all.filter((one) => isHandedOver(one) && !keeping.has(objectId(one)))
    for (const { object } of own)
      if (object.kind === 'Secret')
        secrets.push(`${cluster}: ${object.metadata.namespace ?? ''}/${object.metadata.name}`)
    const path = `clusters/${cluster}/${addon.name}`
    if (objects.length > 0) files.push({ path: `${path}/objects.yaml`, objects })
    const handover = { revision: 'main', project: 'default', ...addon.spec.handover, to, repository, path }
    const handed = { ...addon, spec: { ...addon.spec, handover } }
    const keepers = keepersOf(handed, chart, namespace, objects)
    if (to === 'argocd' && chart?.valuesFrom !== undefined) unread.push(`${cluster}: ${addon.name}`)
    files.push({
      path: `clusters/${cluster}/${to}/${addon.name}.yaml`,
      objects: [...keepers.chart, ...keepers.objects],
    })
    kept.set(cluster, [...(kept.get(cluster) ?? []), `${addon.name}.yaml`])
  }
  for (const [cluster, names] of kept) {
    const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: names }
    files.push({
      path: `clusters/${cluster}/${to}/kustomization.yaml`,
      text: `${JSON.stringify(kustomization, undefined, 2)}\n`,
    })
  }
  return [...files, { path: 'README.md', text: readme(to, secrets, unread) }]
}

function readme(to: HandoverTarget, secrets: readonly string[], unread: readonly string[]): string {
  const list = (lines: readonly string[]) => lines.map((one) => `- ${one}\n`).join('')
  const kept = secrets.length === 0 ? 'None.\n' : list(secrets)
  const lost =
    unread.length === 0
      ? ''
      : `\nCharts with values in a Secret, which Argo CD cannot read. Give each a Secret of its own first:\n\n${list(unread)}`
  return `# Add-ons, kept by ${to}\n\nEach directory below \`clusters/\` is one add-on; \`${to}/\` holds the objects by which it is kept.\n\nSecrets that must be there first, and whose values are not in this repository:\n\n${kept}${lost}`
}
