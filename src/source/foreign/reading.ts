import type { Draft } from './draft.ts'

/** A part of the foreign files that has no place in a manifest, with the reason. */
export interface NotCarried {
  /** `proxmox_virtual_environment_vm.web`, `Deployment web`, `inventory.yml`. */
  readonly what: string
  readonly why: string
}

/** Drafts made from foreign files, and the parts left out. */
export interface ForeignReading {
  readonly drafts: readonly Draft[]
  readonly notCarried: readonly NotCarried[]
}

export interface ForeignFile {
  readonly path: string
  readonly text: string
}

export interface ReadOptions {
  /** The Cluster that add-ons are for. */
  readonly cluster?: string
  /** Default Host of machines. */
  readonly host?: string
  /** The directory of one cluster, where the files are of several. */
  readonly under?: string
}

/** What the commands know of a format: its files are read in the cage alone. */
export interface FormatFacts {
  readonly name: string
  /** The input that a user passes. */
  readonly about: string
  /** Files of a directory that it reads, in addition to .yaml, .yml and .json. */
  readonly names?: RegExp
  /** The apiVersions of objects in a repository that this format is for. */
  readonly groups?: RegExp
}

/** One format that `croft import NAME` reads. One file, one registry line, one page in docs/import. */
export interface ForeignFormat extends FormatFacts {
  read(files: readonly ForeignFile[], options: ReadOptions): ForeignReading | { readonly problem: string }
}

/** The file or the files of the directory that a person chose with --under; without a choice all. */
export function chosenFiles(files: readonly ForeignFile[], under: string | undefined): readonly ForeignFile[] {
  const place = under?.replace(/^\.\/|\/+$/g, '')
  if (place === undefined || place === '') return files
  return files.filter(({ path }) => path === place || path.startsWith(`${place}/`))
}

export type Fields = Record<string, unknown>

/** Makes a valid name of arbitrary words. */
function nameFrom(words: readonly unknown[]): string {
  return (
    words
      .flatMap((word) => (typeof word === 'string' || typeof word === 'number' ? [String(word)] : []))
      .map((word) => word.toLowerCase().replace(/[^a-z0-9.]+/g, '-'))
      .join('-')
      .replace(/-{2,}/g, '-')
      .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '')
      .slice(0, 200) || 'unnamed'
  )
}

/** Names that are not given twice for one kind. */
export function createNames(): (kind: string, words: readonly unknown[]) => string {
  const taken = new Set<string>()
  /** The next number to try, so that a thousand equal names are not counted from two each time. */
  const numbers = new Map<string, number>()
  return (kind, words) => {
    const base = nameFrom(words)
    let name = base
    let at = numbers.get(`${kind}/${base}`) ?? 2
    for (; taken.has(`${kind}/${name}`); at++) name = `${base}-${at}`
    numbers.set(`${kind}/${base}`, at)
    taken.add(`${kind}/${name}`)
    return name
  }
}
