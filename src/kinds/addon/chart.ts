import type { KubeObject } from '../../model/kube-object.ts'
import type { SecretReference } from '../../model/secret.ts'
import { secretReferenceOf } from '../fields/ssh.ts'
import type { ChartFields } from './schema.ts'

/** Namespace in which K3s looks for charts. */
export const CHARTS = 'kube-system'
const VALUES_KEY = 'values.yaml'

/** A chart as K3s' own Helm controller installs it. */
export function chartObject(name: string, namespace: string, chart: ChartFields): KubeObject {
  const oci = chart.name.startsWith('oci://')
  return {
    apiVersion: 'helm.cattle.io/v1',
    kind: 'HelmChart',
    metadata: { name, namespace: CHARTS },
    spec: {
      chart: chart.name,
      version: chart.version,
      ...(chart.repo === undefined || oci ? {} : { repo: chart.repo }),
      targetNamespace: namespace,
      ...(chart.bootstrap ? { bootstrap: true } : {}),
      // By default, K3s removes a failed release, with its definitions and all of their objects.
      failurePolicy: chart.failurePolicy,
      ...(chart.values === undefined ? {} : { valuesContent: text(chart.values) }),
      ...(chart.valuesFrom === undefined
        ? {}
        : { valuesSecrets: [{ name: valuesKey(name).name, keys: [VALUES_KEY] }] }),
    },
  }
}

/** Returns a Secret for the values that must not be readable in Git. It lies beside the chart. */
export function valuesSecret(
  name: string,
  chart: ChartFields,
  namespace: string = CHARTS,
): { readonly object: KubeObject; readonly secrets: Readonly<Record<string, SecretReference>> } | undefined {
  if (chart.valuesFrom === undefined) return undefined
  const metadata = { name: valuesKey(name).name, namespace }
  return {
    object: { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque' },
    secrets: { [VALUES_KEY]: secretReferenceOf(chart.valuesFrom) },
  }
}

/** Further values for a chart that K3s brings. */
export function chartConfigObject({ name, values }: { readonly name: string; readonly values: object }): KubeObject {
  return {
    apiVersion: 'helm.cattle.io/v1',
    kind: 'HelmChartConfig',
    metadata: { name, namespace: CHARTS },
    spec: { valuesContent: text(values) },
  }
}

/** Returns the Secret with a chart's values, and its key. */
export function valuesKey(name: string): { readonly name: string; readonly valuesKey: string } {
  return { name: `${name}-values`, valuesKey: VALUES_KEY }
}

/** JSON is YAML: one way to write it, so that the same values are always the same text. */
function text(values: object): string {
  return JSON.stringify(values, undefined, 2)
}
