import { isRecord } from '../../lib/is-record.ts'
import { type KubeObject, RELEASE } from '../../model/kube-object.ts'
import type { FieldProblem } from '../kind.ts'

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/
const API_VERSION = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?v[0-9]+(?:(?:alpha|beta)[0-9]+)?$/
const KIND = /^[A-Z][A-Za-z0-9]{0,62}$/
const LONGEST_GROUP = 253

/** A manifest as an object of a cluster, or what is wrong with it. */
export function readObject(
  raw: unknown,
  path: FieldProblem['path'],
  { ofChart = false }: { readonly ofChart?: boolean } = {},
): { readonly object: KubeObject } | { readonly problems: readonly FieldProblem[] } {
  const wrong = (field: readonly string[], message: string, hint?: string) => ({
    problems: [{ code: 'bad-object', path: [...path, ...field], message, ...(hint === undefined ? {} : { hint }) }],
  })
  if (!isRecord(raw)) return wrong([], 'an object of Kubernetes has apiVersion, kind and metadata.name')
  const { apiVersion, kind } = raw
  const metadata = isRecord(raw.metadata) ? raw.metadata : {}
  const { name, namespace } = metadata
  if (typeof apiVersion !== 'string' || !API_VERSION.test(apiVersion) || apiVersion.lastIndexOf('/') > LONGEST_GROUP)
    return wrong(['apiVersion'], 'apiVersion is missing or is none')
  if (typeof kind !== 'string' || !KIND.test(kind)) return wrong(['kind'], 'kind is missing or is none')
  if (apiVersion === RELEASE.apiVersion && kind === RELEASE.kind)
    return wrong(['kind'], 'a Helm release is no object of Kubernetes', 'declare its chart, with install: helm')
  const called = `${kind} ${typeof name === 'string' ? name.slice(0, 100) : ''}`
  if (typeof name !== 'string' || name.length > 253 || !NAME.test(name))
    return wrong(['metadata', 'name'], `${called}: metadata.name is missing or is not a name`)
  if (namespace !== undefined && (typeof namespace !== 'string' || namespace.length > 63 || !NAMESPACE.test(namespace)))
    return wrong(['metadata', 'namespace'], `${called}: metadata.namespace is not a name`)
  // A chart's rendered Secret is no secret: its values are in Git, or in the chart.
  if (kind === 'Secret' && !ofChart && (raw.data !== undefined || raw.stringData !== undefined)) {
    return wrong(
      ['data'],
      `${called}: values of secrets do not belong into Git`,
      'name it under spec.secrets, with references to its values',
    )
  }
  const { status: _, ...object } = raw
  return { object: plain(object) as KubeObject }
}

/** Maps from YAML have no prototype; what is compared and printed is plain. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]))
}
