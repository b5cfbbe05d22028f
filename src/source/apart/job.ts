import type { Unbuilt } from '../../kinds/kind.ts'
import type { ExpressionAnswer, ExpressionQuestion } from '../../model/expressions.ts'
import type { KnownObjects } from '../../model/waiting.ts'
import type { LateInstances } from '../compose/api.ts'
import type { ClusterAnswer, ClusterQuestion, DescribedDefinitions } from '../compose/in-cluster.ts'
import type { DocumentFields } from '../compose/shape.ts'
import type { FileReading } from '../files/read-files.ts'
import type { ImportedText, ImportRequest } from '../foreign/import-text.ts'
import type { SourceFile } from '../git/revision.ts'
import type { FetchedBlob } from '../reader.ts'
import type { PackedHead, RevisionPiece } from './pack.ts'

/** One piece of work in the cage. Its files are sent before it, a piece at a time. */
export type CageJob =
  | {
      readonly job: 'tree'
      readonly reading: Omit<FileReading, 'cache' | 'begin' | 'files'>
      readonly places: readonly string[]
    }
  | { readonly job: 'objects'; readonly blobs: readonly FetchedBlob[] }
  | {
      readonly job: 'kustomized'
      readonly unbuilt: Unbuilt
      readonly fetched: ReadonlyMap<string, readonly unknown[]>
    }
  | { readonly job: 'generator-files' }
  | (ImportRequest & { readonly job: 'import' })
  | { readonly job: 'late'; readonly instances: LateInstances; readonly known: KnownObjects }
  | {
      readonly job: 'compose'
      readonly definitions: readonly DocumentFields[]
      readonly questions: readonly ClusterQuestion[]
    }
  | { readonly job: 'answers'; readonly questions: readonly ExpressionQuestion[] }

/** An answer, and how long it took. */
export interface TimedAnswer {
  readonly holds: ExpressionAnswer
  readonly ms: number
}

/** Answers about instances in a cluster, as far as the round reached them. */
export interface ComposedAnswers {
  readonly described: DescribedDefinitions
  readonly answers: readonly ClusterAnswer[]
}

/** Messages of the program to the cage. */
export type CageOrder = { readonly files: readonly SourceFile[] } | CageJob | 'next'

/** Messages of the cage: that the job started, how it ended, then one piece each time the program asks for the next. */
export type CageMessage =
  | { readonly said: 'begun' }
  | { readonly said: 'tree'; readonly head: PackedHead }
  | { readonly said: 'piece'; readonly piece: RevisionPiece }
  | { readonly said: 'names'; readonly names: readonly string[] }
  | { readonly said: 'imported'; readonly imported: ImportedText }
  | { readonly said: 'composed'; readonly composed: ComposedAnswers }
  | { readonly said: 'answers'; readonly answers: readonly TimedAnswer[] }
  | { readonly said: 'failed'; readonly message: string }
  | { readonly said: 'end'; readonly rssMb: number }

/** The open file to which the cage writes how far it has come, four bytes at a time. */
export const PLACE_FD = 4
