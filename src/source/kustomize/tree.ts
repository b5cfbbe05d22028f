import { LIMITS } from '../../lib/limits.ts'
import type { Budget } from '../budget.ts'
import type { LeftAlone } from '../files/ignore-rules.ts'
import type { SourceFile } from '../git/revision.ts'
import { textOf } from '../yaml/text-of.ts'
import {
  type BuiltDocument,
  createKustomizer,
  type FilesInHand,
  isKustomization,
  type KustomizeFinding,
} from './build.ts'

/** The result of one root kustomization, with everything that it names. */
export interface BuiltRoot {
  readonly file: string
  readonly documents: readonly BuiltDocument[]
  readonly findings: readonly KustomizeFinding[]
  /** Reports whether a file may belong to it. If a broken text hides its parts, all files below its directory may. */
  spans(path: string): boolean
}

export interface BuiltTree {
  readonly roots: readonly BuiltRoot[]
  /** Components that no kustomization of the tree names: they change nothing. */
  readonly idle: readonly string[]
  /** Files that were read for kustomizations. */
  readonly used: ReadonlySet<string>
  /** Reports whether kustomizations decide about this file. */
  governs(path: string): boolean
}

/**
 * Builds the root kustomizations of a tree. A base that an overlay names is built only as part of the overlay; files
 * below a kustomization's directory count only where it names them. A skipped kustomization is no root, but others may
 * name it.
 */
export function buildTree(hand: FilesInHand, budget?: Budget, skip: LeftAlone = () => undefined): BuiltTree {
  const kustomizer = createKustomizer(hand, budget)
  const own = [...hand.texts.keys()]
    .filter((path) => isKustomization(path) && !path.startsWith('../') && skip(path) === undefined)
    .sort()
  const directories = own.map(directoryOf)
  const named = new Map(own.map((file) => [file, kustomizer.names(file)]))
  const meant = new Set([...named.values()].flatMap((one) => one.directories))
  const independent = own.filter(
    (file) => named.get(file)?.component !== true && !directories.some((above) => isBelow(directoryOf(file), above)),
  )
  const governs = (path: string) =>
    kustomizer.used.has(path) || directories.some((directory) => isBelow(path, directory))
  const spanOf = (file: string) => {
    const reached = new Set([directoryOf(file)])
    for (const directory of reached)
      for (const one of own.filter((other) => directoryOf(other) === directory)) {
        const names = named.get(one)
        if (names?.readable !== true) return governs
        for (const next of names.directories) reached.add(next)
      }
    return (path: string) => [...reached].some((directory) => isBelow(path, directory))
  }
  const roots: BuiltRoot[] = []
  const build = (file: string) => {
    const before = kustomizer.findings.length
    const documents = kustomizer.build(directoryOf(file))
    roots.push({ file, documents, findings: kustomizer.findings.slice(before), spans: spanOf(file) })
  }
  for (const file of independent) if (!meant.has(directoryOf(file))) build(file)
  // The rest are cycles: building one reports it.
  for (const file of independent) if (!kustomizer.used.has(file)) build(file)
  return {
    roots,
    idle: own.filter((file) => named.get(file)?.component === true && !kustomizer.used.has(file)),
    used: kustomizer.used,
    governs,
  }
}

/**
 * Reports whether a kustomization leads above the top of the tree: then those files must be loaded too. May return true
 * too often (a path in a comment), never too seldom.
 */
export function leadsAbove(file: SourceFile): boolean {
  if (!('bytes' in file) || !isKustomization(file.path)) return false
  const depth = file.path.split('/').length - 1
  const steps =
    Buffer.from(file.bytes)
      .toString('utf8')
      .match(/(?:\.\.(?:\/|(?![\w.])))+/g) ?? []
  return steps.some((one) => one.split('..').length - 1 > depth)
}

/** Files that generators of these kustomizations name and that are not among them: other than manifests, perhaps. */
export function generatorFilesOf(files: readonly SourceFile[]): readonly string[] {
  const kustomizations = files.filter((file) => 'bytes' in file && isKustomization(file.path))
  const texts = new Map(
    kustomizations.flatMap((file) => {
      const text = 'bytes' in file ? textOf(file.bytes) : undefined
      return text !== undefined && 'text' in text ? [[file.path, text.text] as const] : []
    }),
  )
  const kustomizer = createKustomizer({ texts })
  const there = new Set(files.map(({ path }) => path))
  const named = [...texts.keys()].flatMap((file) => kustomizer.names(file).generatorFiles)
  return [...new Set(named)].filter((path) => !there.has(path)).slice(0, LIMITS.generatorFiles)
}

function directoryOf(file: string): string {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')))
}

function isBelow(path: string, directory: string): boolean {
  return directory === '' ? path !== '' : path.startsWith(`${directory}/`)
}
