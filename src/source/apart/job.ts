import type { Unbuilt } from '../../kinds/kind.ts'
import type { FileReading } from '../files/read-files.ts'
import type { SourceFile } from '../git/revision.ts'
import type { FetchedBlob } from '../reader.ts'
import type { PackedHead, RevisionPiece } from './pack.ts'

/** What a worker is started with. */
export type WorkerJob =
  | { readonly job: 'tree'; readonly reading: Omit<FileReading, 'cache' | 'begin'>; readonly places: readonly string[] }
  | { readonly job: 'objects'; readonly blobs: readonly FetchedBlob[] }
  | {
      readonly job: 'kustomized'
      readonly unbuilt: Unbuilt
      readonly fetched: ReadonlyMap<string, readonly unknown[]>
    }
  | { readonly job: 'generator-files'; readonly files: readonly SourceFile[] }

export interface WorkerData {
  readonly job: WorkerJob
  /** The number of the file that is being read, for whoever has to say where it got stuck. */
  readonly at: SharedArrayBuffer
}

/** What it says: that it has begun, how it went, then a piece whenever it is asked for the next one. */
export type WorkerMessage =
  | { readonly said: 'begun' }
  | { readonly said: 'tree'; readonly head: PackedHead }
  | { readonly said: 'piece'; readonly piece: RevisionPiece }
  | { readonly said: 'names'; readonly names: readonly string[] }
  | { readonly said: 'end' }
