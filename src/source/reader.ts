import type { ObjectsAt, Unbuilt } from '../kinds/kind.ts'
import type { FileReading } from './files/read-files.ts'
import type { Revision, SourceFile } from './git/revision.ts'

/** Something that was fetched for an add-on: a file, or a layer of an artifact. */
export interface FetchedBlob {
  readonly name: string
  readonly bytes: Uint8Array
  /** A tar archive of manifests rather than one manifest. */
  readonly tar?: boolean
}

/** Thrown if untrusted text exceeds what may be read. The current revision stays. */
export class TooCostly extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'TooCostly'
  }
}

/** Reads untrusted files. Rejects with TooCostly beyond the limits of time or memory. */
export interface SourceReader {
  /** `places`: what will be asked of `objectsAt`, beside what the add-ons of the tree name. */
  tree(reading: FileReading, places?: readonly string[]): Promise<Revision>
  objects(blobs: readonly FetchedBlob[]): Promise<ObjectsAt>
  /** A kustomization with what it waited for, by place. */
  kustomized(unbuilt: Unbuilt, fetched: ReadonlyMap<string, readonly unknown[]>): Promise<ObjectsAt>
  /** Files that are no manifests and that generators of these kustomizations name. */
  generatorFiles(files: readonly SourceFile[]): Promise<readonly string[]>
}
