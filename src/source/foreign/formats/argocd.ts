import { isFields } from '../../manifest.ts'
import { chartAddon, mergeValues, setValue, valueAtPath, valuesIn } from '../addon-draft.ts'
import { directoryElements } from '../argocd-directories.ts'
import { type AgentObject, type FromAgent, gitAddon, readAgentFiles, wordOf } from '../gitops.ts'
import type { Fields, ForeignFormat } from '../reading.ts'

/** Objects of Argo CD. A source that is a chart, or a directory at a commit, becomes an add-on. */
export const argocd: ForeignFormat = {
  name: 'argocd',
  about: 'a repository of Argo CD: Application, ApplicationSet with list and git directory generators, AppProject',
  read: (files, options) => readAgentFiles(files, options, judge),
}

function judge(
  { apiVersion, kind, name, spec }: AgentObject,
  _all: readonly AgentObject[],
  directories: readonly string[],
): FromAgent | undefined {
  if (!apiVersion.startsWith('argoproj.io/')) return undefined
  if (kind === 'AppProject') return { why: 'croft has no projects; grants of a source bound what it may declare' }
  if (kind === 'Application') return application(name, spec)
  return kind === 'ApplicationSet' ? set(spec, directories) : { why: 'croft has no kind for it' }
}

/** What an Application deploys. */
export function application(name: string, spec: Fields): FromAgent {
  const destination = isFields(spec.destination) ? spec.destination : {}
  const server = wordOf(destination.server)
  const elsewhere =
    wordOf(destination.name) ??
    (server === undefined || server === 'https://kubernetes.default.svc' ? undefined : server)
  if (elsewhere !== undefined && elsewhere !== 'in-cluster') return { why: `it is for another cluster, ${elsewhere}` }
  const sources = (Array.isArray(spec.sources) ? spec.sources : [spec.source]).filter(isFields)
  const [source] = sources
  if (source === undefined) return { why: 'it has no source' }
  if (sources.length > 1) return { why: 'it has several sources; write one Addon for each, or hand it over to argocd' }
  if (source.plugin !== undefined) return { why: 'a plugin renders it' }
  const namespace = wordOf(destination.namespace)
  const repository = wordOf(source.repoURL) ?? ''
  const revision = wordOf(source.targetRevision)
  const helm = isFields(source.helm) ? source.helm : undefined
  const { values, without } = valuesOf(helm ?? {})
  if (source.chart === undefined) {
    for (const field of ['directory', 'kustomize'])
      if (isFields(source[field]))
        return { why: `${field} changes what the directory says; move it into the directory` }
    const place = { url: repository, revision, path: wordOf(source.path) ?? '', namespace }
    return {
      without,
      addons: [
        {
          name: wordOf(helm?.releaseName) ?? name,
          manifest: (own, cluster) => gitAddon(own, cluster, { ...place, ...(helm === undefined ? {} : { values }) }),
        },
      ],
    }
  }
  return {
    without,
    addons: [
      {
        name: wordOf(helm?.releaseName) ?? name,
        manifest: (own, cluster) =>
          chartAddon(own, cluster, {
            name,
            chart: wordOf(source.chart) ?? '',
            // Argo CD writes the address of a registry without its scheme.
            repository: repository.includes('://') ? repository : `oci://${repository}`,
            values,
            ...(revision === undefined ? {} : { version: revision }),
            ...(namespace === undefined ? {} : { namespace }),
          }),
      },
    ],
  }
}

function valuesOf(helm: Readonly<Record<string, unknown>>): {
  readonly values: Fields
  readonly without: readonly string[]
} {
  const without: string[] = []
  const text = wordOf(helm.values)
  const written = text === undefined ? {} : valuesIn(text)
  if (written === undefined) without.push('helm.values is not a YAML map')
  let values = mergeValues(written ?? {}, isFields(helm.valuesObject) ? helm.valuesObject : {})
  for (const one of (Array.isArray(helm.parameters) ? helm.parameters : []).filter(isFields)) {
    const path = wordOf(one.name) ?? ''
    const more = valueAtPath(path, setValue(scalarOf(one.value) ?? '', one.forceString === true ? 'string' : undefined))
    if (more === undefined) without.push(`the parameter ${path} names a place in a list; write it into chart.values`)
    else values = mergeValues(values, more)
  }
  for (const field of ['valueFiles', 'fileParameters'])
    if (Array.isArray(helm[field]))
      without.push(`${field} lie in the repository of the chart; write them into chart.values`)
  return { values, without }
}

/** A list says by itself which applications there are, directories are among the files; others ask a cluster. */
function set(spec: Fields, directories: readonly string[]): FromAgent {
  const generators = (Array.isArray(spec.generators) ? spec.generators : []).filter(isFields)
  const template = isFields(spec.template) ? spec.template : {}
  const elements: Readonly<Record<string, unknown>>[] = []
  for (const one of generators.length === 0 ? [{}] : generators) {
    const more = elementsOf(one, directories)
    if (typeof more === 'string') return { why: more }
    elements.push(...more)
  }
  const made = elements.map((element) => filled(template, element))
  const addons: Extract<FromAgent, { addons: unknown }>['addons'][number][] = []
  const without: string[] = []
  for (const one of made) {
    const metadata = isFields(one.metadata) ? one.metadata : {}
    const name = wordOf(metadata.name) ?? 'unnamed'
    if (/\{\{/.test(JSON.stringify(one))) {
      without.push(`the application ${name} has a placeholder that its generator does not fill`)
      continue
    }
    const from = application(name, isFields(one.spec) ? { ...one.spec } : {})
    if ('why' in from) without.push(`the application ${name}: ${from.why}`)
    if ('addons' in from) {
      addons.push(...from.addons)
      without.push(...(from.without ?? []))
    }
  }
  return { addons, without }
}

/** A text: why nobody can say here what the generator gives. */
function elementsOf(
  generator: Readonly<Record<string, unknown>>,
  directories: readonly string[],
): readonly Readonly<Record<string, unknown>>[] | string {
  const { list, git } = generator
  if (isFields(list) && Array.isArray(list.elements)) return list.elements.filter(isFields)
  if (isFields(git)) return directoryElements(git, directories)
  return `its generator ${Object.keys(generator)[0] ?? ''} asks a cluster or a repository; write an Addon for each application`
}

/** A value that is no map and no list, as text. */
function scalarOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined
}

/** `{{name}}`, `{{ .name }}`, `{{path.basename}}` and `{{path[0]}}`, by the values of one element. */
function filled(template: Fields, element: Readonly<Record<string, unknown>>): Fields {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(
        /\{\{\s*\.?([A-Za-z0-9_-]+(?:[.[][A-Za-z0-9_-]+\]?)*)\s*\}\}/g,
        (whole, key: string) => (Object.hasOwn(element, key) ? scalarOf(element[key]) : undefined) ?? whole,
      )
    if (Array.isArray(value)) return value.map(fill)
    return isFields(value) ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner)])) : value
  }
  return fill(template) as Fields
}
