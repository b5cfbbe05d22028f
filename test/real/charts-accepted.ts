import { createKubernetesClient, type KubernetesClient } from '../../src/kubernetes/client.ts'
import { at, recordsOf } from '../../src/kubernetes/objects.ts'
import type { Wire } from '../../src/lib/wire.ts'
import type { KubeObject } from '../../src/model/kube-object.ts'
import { renderedChart } from '../real-charts.ts'

/** Charts that presets install, with the namespace that each goes to. */
export const CHARTS: readonly (readonly [string, string])[] = [
  ['cilium', 'kube-system'],
  ['coredns', 'kube-system'],
  ['cert-manager', 'cert-manager'],
  ['traefik', 'traefik'],
  ['argo-cd', 'argocd'],
  ['flux2', 'flux-system'],
  ['rook-ceph', 'rook-ceph'],
  ['kube-vip', 'kube-system'],
  ['kube-vip-cloud-provider', 'kube-system'],
  ['metallb', 'metallb-system'],
  ['garage', 'garage'],
  ['local-path-provisioner', 'kube-system'],
]

export interface Acceptance {
  readonly accepted: number
  readonly refused: readonly string[]
  /** Kinds that are not defined here: their operators define them when they run. */
  readonly unknown: readonly string[]
}

/**
 * Is everything that the charts render, and everything that presets write, taken by this server? Definitions are made,
 * the rest is asked as a dry run: nothing of it runs.
 */
export async function acceptAll(wire: Wire, presets: readonly KubeObject[]): Promise<Acceptance> {
  const client = createKubernetesClient(wire)
  const objects = CHARTS.flatMap(([chart, namespace]) => renderedChart(chart).map((object) => ({ object, namespace })))
  const definitions = objects.filter(({ object }) => object.kind === 'CustomResourceDefinition')
  const rest = [
    ...objects.filter(({ object }) => object.kind !== 'CustomResourceDefinition'),
    ...presets.map((object) => ({ object, namespace: 'default' })),
  ]
  const spaces = new Set(rest.flatMap(({ object, namespace }) => [namespace, object.metadata.namespace ?? namespace]))
  for (const name of spaces)
    await client.apply(`/api/v1/namespaces/${name}`, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, name)
  const refused: string[] = []
  const unknown = new Set<string>()
  let accepted = 0
  for (const { object } of definitions) {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${object.metadata.name}`
    const asked = await client.apply(path, object, object.metadata.name)
    if (asked.is === 'answer') accepted++
    else refused.push(`${object.metadata.name}: ${JSON.stringify(asked).slice(0, 300)}`)
  }
  await established(client, definitions.length)
  for (const { object, namespace } of rest) {
    const place = await placeOf(client, object, namespace)
    if (place === undefined) {
      unknown.add(`${object.apiVersion} ${object.kind}`)
      continue
    }
    const asked = await client.applyAs(
      `${place}?fieldManager=croft&force=true&dryRun=All`,
      object,
      object.metadata.name,
    )
    if (asked.is === 'answer') accepted++
    else refused.push(`${object.kind} ${object.metadata.name}: ${JSON.stringify(asked).slice(0, 400)}`)
  }
  return { accepted, refused, unknown: [...unknown].sort() }
}

async function established(client: KubernetesClient, count: number): Promise<void> {
  for (let attempt = 0; attempt < 120; attempt++) {
    const asked = await client.list('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
    const ready = asked.is === 'answer' ? asked.value.filter(isEstablished).length : 0
    if (ready >= count) return
    await new Promise((done) => setTimeout(done, 500))
  }
}

function isEstablished(definition: unknown): boolean {
  return recordsOf(at(definition, 'status', 'conditions')).some(
    ({ type, status }) => type === 'Established' && status === 'True',
  )
}

async function placeOf(client: KubernetesClient, object: KubeObject, otherwise: string): Promise<string | undefined> {
  const { apiVersion, kind, metadata } = object
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
  const group = await client.get(base)
  const found =
    group.is === 'answer'
      ? recordsOf(group.value.resources).find((one) => one.kind === kind && !String(one.name).includes('/'))
      : undefined
  if (found === undefined) return undefined
  const space = found.namespaced === true ? `/namespaces/${metadata.namespace ?? otherwise}` : ''
  return `${base}${space}/${String(found.name)}/${metadata.name}`
}
