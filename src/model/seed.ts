import type { SecretReference } from './secret.ts'

/** A value as YAML and JSON both know it. */
export type Tree = null | boolean | number | string | readonly Tree[] | TreeMap
export interface TreeMap {
  readonly [key: string]: Tree
}

/**
 * What a guest reads when it boots for the first time, as cloud-init's NoCloud source knows it. A map with the one key
 * `valueFrom` stands for a secret: the value takes its place when the image is built, and nowhere else.
 */
export interface SeedDocument {
  readonly userData: TreeMap
  /** Holds `instance-id`: while it stays the same, cloud-init does not run again. */
  readonly metaData: TreeMap
  readonly networkConfig?: TreeMap
}

/** A document that a machine is to be born with, and how it gets there. */
export interface VmSeed {
  readonly document: SeedDocument
  /** Of the document, references and all; a secret that changes behind its reference does not change it. */
  readonly hash: string
  /** What a changed document means for a machine that has already read another one. */
  readonly onChange: 'ignore' | 'rerun' | 'replace'
  /** Drive that the image is put into. */
  readonly slot: string
  /** Storage that holds the image until it was read; one of the host's own is chosen when none is declared. */
  readonly storage?: string
  /** Storages that may be chosen where none is declared, as a grant lists them. Absent: any of the host. */
  readonly storages?: readonly string[]
  /** Without an agent nobody says when the image was read: it is taken out after so long. */
  readonly removeAfterSeconds: number
}

/** The reference in a place that is to be filled with a secret. */
export function valueFrom(tree: Tree): SecretReference | undefined {
  if (tree === null || typeof tree !== 'object' || Array.isArray(tree)) return undefined
  const keys = Object.keys(tree)
  return keys.length === 1 && keys[0] === 'valueFrom'
    ? ((tree as TreeMap).valueFrom as unknown as SecretReference)
    : undefined
}
