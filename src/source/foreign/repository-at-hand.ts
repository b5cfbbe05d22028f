import { isFields } from '../manifest.ts'
import { mergeValues, valuesIn } from './addon-draft.ts'
import { documentsIn } from './documents.ts'
import { wordOf } from './gitops.ts'
import type { Fields, ForeignFile } from './reading.ts'

/** The repository of the files, for references to its directories and files. */
export interface RepositoryAtHand {
  /** Every directory that one of the files is in, at any depth. */
  readonly directories: readonly string[]
  /** Reports whether this URL is the repository itself. */
  isOwn(url: string): boolean
  /** Reports whether the directory applies Applications. */
  appliesApplications(directory: string): boolean
  /** Returns how an agent treats a directory. */
  shapeOf(directory: string): DirectoryShape
  /** A file of Helm values. A text: why not. */
  valuesAt(path: string): Fields | string
}

export type DirectoryShape =
  | { readonly is: 'manifests'; readonly nested: boolean }
  | { readonly is: 'kustomization' }
  /** A chart with one dependency and no templates, which only carries values. */
  | { readonly is: 'wrapper'; readonly chart: WrappedChart }
  | { readonly is: 'chart' }
  | { readonly is: 'nothing' }

export interface WrappedChart {
  readonly repository: string
  readonly name: string
  readonly version: string
  readonly values: Fields
  /** The values of the dependency among those of the wrapper. */
  readonly key: string
}

/** `named`: URLs with the directories said to be there. A URL is this repository if all of them are here. */
export function repositoryAtHand(
  files: readonly ForeignFile[],
  named: readonly { readonly url: string; readonly path: string }[],
): RepositoryAtHand {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const directories = directoriesOf(files)
  const known = new Set(directories)
  const own = new Map<string, boolean>()
  for (const { url, path } of named) {
    const key = sameAddress(url)
    own.set(key, own.get(key) !== false && known.has(plainPath(path)))
  }
  return {
    directories,
    isOwn: (url) => own.get(sameAddress(url)) === true,
    appliesApplications: (directory) =>
      files.some(
        ({ path, text }) =>
          path.startsWith(`${plainPath(directory)}/`) &&
          /^apiVersion: *["']?argoproj\.io\//m.test(text) &&
          /^kind: *["']?Application(?:Set)?\b/m.test(text),
      ),
    shapeOf: (directory) => shapeOf(plainPath(directory), texts),
    valuesAt: (path) => {
      const text = texts.get(plainPath(path))
      if (text === undefined) return `${path} is not among the files`
      return valuesIn(text) ?? `${path} is not a YAML map`
    },
  }
}

/** Normalizes `https://host/a/b.git`, `git@host:a/b` and `ssh://git@host/a/b/` to one form. */
function sameAddress(url: string): string {
  return url
    .replace(/^[a-z+]+:\/\//i, '')
    .replace(/^[^@/]*@/, '')
    .replace(/^([^:/]+):(?!\d)/, '$1/')
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .toLowerCase()
}

export function plainPath(path: string): string {
  return path.replace(/^(?:\.?\/)+|^\.$|\/+$/g, '')
}

function shapeOf(directory: string, texts: ReadonlyMap<string, string>): DirectoryShape {
  const prefix = directory === '' ? '' : `${directory}/`
  const below = [...texts.keys()].filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length))
  if (below.length === 0) return { is: 'nothing' }
  const chart = texts.get(`${prefix}Chart.yaml`)
  if (chart !== undefined) {
    const wrapped = below.some((name) => name.startsWith('templates/'))
      ? undefined
      : wrappedChart(chart, texts.get(`${prefix}values.yaml`))
    return wrapped === undefined ? { is: 'chart' } : { is: 'wrapper', chart: wrapped }
  }
  if (below.some((name) => /^kustomization\.ya?ml$/.test(name))) return { is: 'kustomization' }
  return { is: 'manifests', nested: below.some((name) => name.includes('/')) }
}

function wrappedChart(text: string, values: string | undefined): WrappedChart | undefined {
  const [chart] = documentsIn(text) ?? []
  const dependencies = isFields(chart) && Array.isArray(chart.dependencies) ? chart.dependencies.filter(isFields) : []
  const [only] = dependencies
  if (only === undefined || dependencies.length > 1 || only.condition !== undefined || only.tags !== undefined)
    return undefined
  const [repository, name, version] = [wordOf(only.repository), wordOf(only.name), wordOf(only.version)]
  const own = values === undefined ? {} : valuesIn(values)
  if (repository === undefined || name === undefined || version === undefined || own === undefined) return undefined
  if (!/^(?:https|oci):\/\//.test(repository)) return undefined
  return { repository, name, version, values: own, key: wordOf(only.alias) ?? name }
}

/** Returns the values that a wrapper passes to the inner chart: its own block, and the globals. */
export function innerValues({ values, key }: WrappedChart, more: Fields): Fields {
  const all = mergeValues(values, more)
  const inner = isFields(all[key]) ? { ...all[key] } : {}
  return isFields(all.global) ? mergeValues({ global: all.global }, inner) : inner
}

function directoriesOf(files: readonly ForeignFile[]): readonly string[] {
  const found = new Set<string>()
  for (const { path } of files)
    for (let at = path.lastIndexOf('/'); at > 0 && !found.has(path.slice(0, at)); at = path.lastIndexOf('/', at - 1))
      found.add(path.slice(0, at))
  return [...found].sort()
}
