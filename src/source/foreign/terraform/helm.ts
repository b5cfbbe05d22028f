import { isFields } from '../../manifest.ts'
import { ADDON, chartAddon, mergeValues, NO_CLUSTER, setValue, valueAtPath, valuesIn } from '../addon-draft.ts'
import type { Fields } from '../reading.ts'
import { wordOf } from './attributes.ts'
import type { ResourceReader } from './resource.ts'

/** Releases of the helm provider, 2 and 3. */
export const helm: ResourceReader = {
  provider: /(?:^|\/)(?:hashicorp|opentofu)\/helm["\]]*$/,
  read({ type, name, attributes, options }) {
    if (type !== 'helm_release') return { why: 'croft has no kind for it' }
    if (options.cluster === undefined) return { why: NO_CLUSTER }
    const release = wordOf(attributes.name) ?? ''
    let values: Fields = {}
    const without: string[] = []
    for (const text of listOf(attributes.values)) {
      const more = typeof text === 'string' ? valuesIn(text) : undefined
      if (more === undefined) without.push('a text of values is not a YAML map')
      else values = mergeValues(values, more)
    }
    for (const one of listOf(attributes.set).filter(isFields)) {
      const more = valueAtPath(wordOf(one.name) ?? '', setValue(wordOf(one.value) ?? '', one.type))
      if (more === undefined)
        without.push(`set ${wordOf(one.name) ?? ''} names a place in a list; write it into chart.values`)
      else values = mergeValues(values, more)
    }
    const secrets = [...listOf(attributes.set_sensitive), ...listOf(attributes.set_wo)].filter(isFields)
    for (const one of secrets)
      without.push(`set_sensitive ${wordOf(one.name) ?? ''} is secret; put it into chart.valuesFrom`)
    const own = name('Addon')
    const manifest = chartAddon(own, options.cluster, {
      name: release,
      chart: wordOf(attributes.chart) ?? '',
      values,
      createNamespace: attributes.create_namespace === true,
      ...definedWords({
        repository: attributes.repository,
        namespace: attributes.namespace,
        version: installedVersion(attributes) ?? attributes.version,
      }),
    })
    if ('why' in manifest) return manifest
    if (own !== release)
      return { why: `the release is called ${release}, and an Addon takes a release over by its name` }
    return { kind: ADDON, manifest, without }
  },
}

/** Returns the installed version, for a configuration with a range. */
function installedVersion({ metadata }: Fields): unknown {
  const one: unknown = Array.isArray(metadata) ? metadata[0] : metadata
  return isFields(one) ? one.version : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function definedWords(fields: Fields): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      const word = wordOf(value)
      return word === undefined || word === '' ? [] : [[name, word]]
    }),
  )
}
