import { isFields } from '../../manifest.ts'
import { chartAddon, type ForeignChart, mergeValues, setValue, valueAtPath, valuesIn } from '../addon-draft.ts'
import { directoryElements, fileElements } from '../argocd-directories.ts'
import { type AgentObject, type FromAgent, gitAddon, isCommit, pathAddon, readAgentFiles, wordOf } from '../gitops.ts'
import { type LostMeaning, meaningLost } from '../meaning-lost.ts'
import type { Fields, ForeignFile, ForeignFormat } from '../reading.ts'
import { innerValues, plainPath, type RepositoryAtHand, repositoryAtHand } from '../repository-at-hand.ts'

/** Objects of Argo CD. A source that is a chart, or a directory at a commit or at hand, becomes an add-on. */
export const argocd: ForeignFormat = {
  name: 'argocd',
  about: 'a repository of Argo CD: Application, ApplicationSet with list and git generators, AppProject',
  groups: /^argoproj\.io\//,
  read: (files, options) => {
    let hand: RepositoryAtHand | undefined
    return readAgentFiles(files, options, (object, all) => {
      hand ??= repositoryAtHand(files, directoriesNamed(all))
      return judge(object, hand, files)
    })
  },
}

function judge(
  { apiVersion, kind, name, spec }: AgentObject,
  hand: RepositoryAtHand,
  files: readonly ForeignFile[],
): FromAgent | undefined {
  if (!apiVersion.startsWith('argoproj.io/')) return undefined
  if (kind === 'AppProject') return { why: 'croft has no projects; grants of a source bound what it may declare' }
  if (kind === 'Application') return application(name, spec, hand)
  return kind === 'ApplicationSet' ? set(spec, hand, files) : { why: 'croft has no kind for it' }
}

/** Every directory that Applications name with the address of its repository, and where generators look for them. */
function directoriesNamed(all: readonly AgentObject[]) {
  const found: { readonly url: string; readonly path: string }[] = []
  const add = (url: unknown, path: unknown) => {
    const [address, place] = [wordOf(url), wordOf(path)]
    if (address !== undefined && place !== undefined && !place.includes('{{')) found.push({ url: address, path: place })
  }
  for (const { apiVersion, kind, spec } of all) {
    if (!apiVersion.startsWith('argoproj.io/')) continue
    const template = isFields(spec.template) ? spec.template : {}
    const inner = kind === 'ApplicationSet' && isFields(template.spec) ? template.spec : spec
    for (const source of sourcesOf(inner)) if (source.chart === undefined) add(source.repoURL, source.path)
    for (const { git } of generatorsOf(spec))
      if (isFields(git))
        for (const rule of [git.directories, git.files].flat().filter(isFields))
          if (rule.exclude !== true)
            add(git.repoURL, (wordOf(rule.path) ?? '').replace(/\/[^/]*[*?].*$|\/[^/]*\.[a-z]+$/, ''))
  }
  return found
}

function sourcesOf(spec: Readonly<Record<string, unknown>>) {
  return (Array.isArray(spec.sources) ? spec.sources : [spec.source]).filter(isFields)
}

function generatorsOf(spec: Readonly<Record<string, unknown>>) {
  return (Array.isArray(spec.generators) ? spec.generators : []).filter(isFields)
}

const OF_APPLICATION: LostMeaning = [
  ['ignoreDifferences', 'fields that others change are left to them only where nothing here sets them'],
  [
    'syncPolicy.managedNamespaceMetadata',
    'labels and annotations of the namespace are not set; write a Namespace into objects',
  ],
  [
    'syncPolicy.automated.selfHeal',
    'it is false there, and croft takes drift back; annotate the Addon with croft.dev/drift: report',
    (value) => value === false,
  ],
]

/** Returns the charts or objects that an Application deploys. `hand`: the repository it may be from. */
export function application(name: string, spec: Fields, hand?: RepositoryAtHand): FromAgent {
  const destination = isFields(spec.destination) ? spec.destination : {}
  const server = wordOf(destination.server)
  const elsewhere =
    wordOf(destination.name) ??
    (server === undefined || server === 'https://kubernetes.default.svc' ? undefined : server)
  if (elsewhere !== undefined && elsewhere !== 'in-cluster') return { why: `it is for another cluster, ${elsewhere}` }
  const sources = sourcesOf(spec)
  const deployed = sources.filter(
    (one) => wordOf(one.ref) === undefined || (wordOf(one.path) ?? wordOf(one.chart)) !== undefined,
  )
  const [source] = deployed
  if (source === undefined) return { why: 'it has no source' }
  if (deployed.length > 1) return { why: 'it has several sources; write one Addon for each, or hand it over to argocd' }
  if (source.plugin !== undefined) return { why: 'a plugin renders it' }
  const namespace = wordOf(destination.namespace)
  const repository = wordOf(source.repoURL) ?? ''
  const revision = wordOf(source.targetRevision)
  const helm = isFields(source.helm) ? source.helm : undefined
  const path = wordOf(source.path) ?? ''
  const { values, without: lost } = valuesOf(helm ?? {}, valueFilesOf(sources, source, hand))
  const without = [...lost, ...meaningLost(spec, OF_APPLICATION)]
  const one = (manifest: Extract<FromAgent, { addons: unknown }>['addons'][number]['manifest']): FromAgent => ({
    without,
    addons: [{ name: wordOf(helm?.releaseName) ?? name, manifest }],
  })
  const chartOf = (chart: Omit<ForeignChart, 'name' | 'namespace'>) =>
    one((own, cluster) =>
      chartAddon(own, cluster, { name, ...chart, ...(namespace === undefined ? {} : { namespace }) }),
    )
  if (source.chart !== undefined)
    return chartOf({
      chart: wordOf(source.chart) ?? '',
      // Argo CD writes the address of a registry without its scheme.
      repository: repository.includes('://') ? repository : `oci://${repository}`,
      values,
      ...(revision === undefined ? {} : { version: revision }),
    })
  const changed = changedBy(source)
  if (changed !== undefined) return { why: `${changed} changes what the directory says; move it into the directory` }
  if (!isCommit(revision) && hand?.isOwn(repository) === true) {
    if (hand.appliesApplications(path))
      return { why: 'it applies Applications, which are imported themselves; move what else it applies elsewhere' }
    const shape = hand.shapeOf(path)
    if (shape.is === 'wrapper') {
      const { chart } = shape
      return chartOf({ ...chart, chart: chart.name, values: innerValues(chart, values) })
    }
    const deep = isFields(source.directory) && source.directory.recurse === true
    if (shape.is === 'manifests' && shape.nested && !deep)
      return { why: 'directories below it are not applied without recurse, and would be by Addon.path; move them away' }
    if (shape.is === 'kustomization' || shape.is === 'manifests')
      return one((own, cluster) => pathAddon(own, cluster, plainPath(path), namespace))
    if (shape.is === 'chart')
      return { why: `${path} is a chart of this repository, which an Addon takes at a commit (chart.git)` }
  }
  const place = { url: repository, revision, path, namespace }
  return one((own, cluster) => gitAddon(own, cluster, { ...place, ...(helm === undefined ? {} : { values }) }))
}

/** Settings of the source that make something else of a directory. */
function changedBy(source: Readonly<Record<string, unknown>>): string | undefined {
  for (const field of ['directory', 'kustomize']) {
    const block = isFields(source[field]) ? source[field] : {}
    // Reading what lies deeper is what croft does, and a version of kustomize changes nothing of the files.
    if (Object.keys(block).some((key) => key !== 'recurse' && key !== 'version')) return field
  }
  return undefined
}

/** Reads value files of a source, from its directory and by `$name` from another source, if the repository has them. */
function valueFilesOf(
  sources: readonly Readonly<Record<string, unknown>>[],
  source: Readonly<Record<string, unknown>>,
  hand: RepositoryAtHand | undefined,
): (file: string) => Fields | string {
  return (file) => {
    const [, ref, rest = ''] = /^\$([^/]+)\/(.+)$/.exec(file) ?? []
    const from = ref === undefined ? source : sources.find((other) => other.ref === ref)
    if (hand === undefined || from === undefined || from.chart !== undefined || !hand.isOwn(wordOf(from.repoURL) ?? ''))
      return `${file} lies in a repository that is not at hand`
    return hand.valuesAt(ref !== undefined ? rest : file.startsWith('/') ? file : `${wordOf(from.path) ?? ''}/${file}`)
  }
}

function valuesOf(
  helm: Readonly<Record<string, unknown>>,
  fileAt: (file: string) => Fields | string,
): { readonly values: Fields; readonly without: readonly string[] } {
  const without: string[] = []
  let inFiles: Fields = {}
  for (const file of (Array.isArray(helm.valueFiles) ? helm.valueFiles : []).filter((one) => typeof one === 'string')) {
    const more = fileAt(file)
    if (typeof more !== 'string') inFiles = mergeValues(inFiles, more)
    else if (helm.ignoreMissingValueFiles !== true) without.push(`${more}; write its values into chart.values`)
  }
  const text = wordOf(helm.values)
  const written = text === undefined ? {} : valuesIn(text)
  if (written === undefined) without.push('helm.values is not a YAML map')
  let values = mergeValues(mergeValues(inFiles, written ?? {}), isFields(helm.valuesObject) ? helm.valuesObject : {})
  for (const one of (Array.isArray(helm.parameters) ? helm.parameters : []).filter(isFields)) {
    const path = wordOf(one.name) ?? ''
    const more = valueAtPath(path, setValue(scalarOf(one.value) ?? '', one.forceString === true ? 'string' : undefined))
    if (more === undefined) without.push(`the parameter ${path} names a place in a list; write it into chart.values`)
    else values = mergeValues(values, more)
  }
  if (Array.isArray(helm.fileParameters))
    without.push('fileParameters lie in the repository of the chart; write them into chart.values')
  return { values, without }
}

/** Expands an ApplicationSet from its lists and the repository's directories; other generators ask a cluster. */
function set(spec: Fields, hand: RepositoryAtHand, files: readonly ForeignFile[]): FromAgent {
  const generators = generatorsOf(spec)
  if (spec.templatePatch !== undefined)
    return { why: 'templatePatch changes each application by a program; write an Addon for each' }
  const template = isFields(spec.template) ? spec.template : {}
  const elements: Readonly<Record<string, unknown>>[] = []
  for (const one of generators.length === 0 ? [{}] : generators) {
    const more = elementsOf(one, hand.directories, files)
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
    const from = application(name, isFields(one.spec) ? { ...one.spec } : {}, hand)
    if ('why' in from) without.push(`the application ${name}: ${from.why}`)
    if ('addons' in from) {
      addons.push(...from.addons)
      without.push(...(from.without ?? []))
    }
  }
  return { addons, without }
}

/** Returns the elements that a generator gives, or a text that says why they cannot be known here. */
function elementsOf(
  generator: Readonly<Record<string, unknown>>,
  directories: readonly string[],
  files: readonly ForeignFile[],
): readonly Readonly<Record<string, unknown>>[] | string {
  const { list, git } = generator
  if (generator.selector !== undefined)
    return 'its selector chooses among what its generator gives; write an Addon for each application'
  if (isFields(list) && Array.isArray(list.elements)) return list.elements.filter(isFields)
  if (isFields(git) && Array.isArray(git.files)) return fileElements(git, files)
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
