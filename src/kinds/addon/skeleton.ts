import type { HandoverTarget, KubeObject } from '../../model/kube-object.ts'
import type { Resource } from '../../model/resource.ts'
import { keepersOf } from './handover.ts'
import { type AddonDeclaration, chartOf, namespaceOf } from './objects.ts'

/** One file of a repository: its path, and the objects or the text in it. */
export interface SkeletonFile {
  readonly path: string
  readonly objects?: readonly KubeObject[]
  readonly text?: string
}

/** Kinds that stay with croft, or that only K3s reads. */
const NOT_THEIRS: ReadonlySet<string> = new Set(['Secret', 'HelmChart', 'HelmChartConfig'])

/**
 * The repository with which people go on at Argo CD or Flux: for each add-on what it is, and the object by which the
 * agent keeps it. Secrets are named and not written.
 */
export function gitopsSkeleton(
  to: HandoverTarget,
  addons: readonly AddonDeclaration[],
  resources: readonly Resource[],
  repository: string,
): readonly SkeletonFile[] {
  const files: SkeletonFile[] = []
  const clusters = new Map<string, string[]>()
  const secrets: string[] = []
  for (const addon of addons.toSorted((a, b) => (a.key < b.key ? -1 : 1))) {
    const { cluster } = addon.spec
    const own = resources.flatMap(({ key, desired }) =>
      key.startsWith(`${addon.key}@`) && desired.type === 'object' ? [desired.object] : [],
    )
    const keepers = new Set(own.flatMap(({ handover }) => (handover === undefined ? [] : [handover.by.kind])))
    const objects = own.map(({ object }) => object).filter(({ kind }) => !NOT_THEIRS.has(kind) && !keepers.has(kind))
    for (const { object } of own)
      if (object.kind === 'Secret')
        secrets.push(`${cluster}: ${object.metadata.namespace ?? ''}/${object.metadata.name}`)
    const chart = chartOf(addon)
    const path = `clusters/${cluster}/${addon.name}`
    if (objects.length > 0) files.push({ path: `${path}/objects.yaml`, objects })
    const handover = { to, revision: 'main', project: 'default', ...addon.spec.handover }
    const told = (place: object) => ({ ...addon, spec: { ...addon.spec, handover: { ...handover, to, ...place } } })
    const [namespace, mine] = [namespaceOf(addon), `clusters/${cluster}/${to}/${addon.name}.yaml`]
    const written = [
      ...(chart === undefined ? [] : keepersOf(told({ repository: undefined }), chart, namespace)),
      ...(objects.length === 0
        ? []
        : keepersOf(told({ repository, path }), undefined, namespace).map((one) =>
            chart === undefined ? one : second(one),
          )),
    ]
    files.push({ path: mine, objects: written })
    clusters.set(cluster, [...(clusters.get(cluster) ?? []), `${addon.name}.yaml`])
  }
  for (const [cluster, names] of clusters) {
    const kustomization = { apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization', resources: names }
    files.push({
      path: `clusters/${cluster}/${to}/kustomization.yaml`,
      text: `${JSON.stringify(kustomization, undefined, 2)}\n`,
    })
  }
  return [...files, { path: 'README.md', text: readme(to, secrets) }]
}

/** A chart and the objects beside it are two things to the agent, and so have two names. */
function second(object: KubeObject): KubeObject {
  const name = `${object.metadata.name}-objects`
  const { spec } = object as { readonly spec?: Readonly<Record<string, unknown>> }
  const source = spec?.sourceRef === undefined ? {} : { sourceRef: { ...(spec.sourceRef as object), name } }
  return { ...object, metadata: { ...object.metadata, name }, spec: { ...spec, ...source } }
}

function readme(to: HandoverTarget, secrets: readonly string[]): string {
  const kept = secrets.length === 0 ? 'None.\n' : secrets.map((one) => `- ${one}\n`).join('')
  return `# Add-ons, kept by ${to}\n\nEach directory below \`clusters/\` is one add-on; \`${to}/\` holds the objects by which it is kept.\n\nSecrets that must be there first, and whose values are not in this repository:\n\n${kept}`
}
