import { type Foreign, isRecord } from '../../kubernetes/objects.ts'

/**
 * A HelmChart or HelmChartConfig with its values as the tree that they are. On the wire they are one text; a person wants
 * to see which of them changes. A text that is no JSON was not written by us and stays a text.
 */
export function spreadValues(object: Foreign): Foreign {
  const { spec } = object
  if (!isRecord(spec) || typeof spec.valuesContent !== 'string' || !carriesValues(object.kind)) return object
  try {
    const values: unknown = JSON.parse(spec.valuesContent)
    return isRecord(values) ? { ...object, spec: { ...spec, valuesContent: values } } : object
  } catch {
    return object
  }
}

export function carriesValues(kind: unknown): boolean {
  return kind === 'HelmChart' || kind === 'HelmChartConfig'
}
