import type { Problem } from '../../model/declaration.ts'
import { readFiles } from '../files/read-files.ts'
import { printDrafts } from './draft.ts'
import type { ForeignFile, NotCarried, ReadOptions } from './reading.ts'
import { readForeign } from './registry.ts'

/** What a person asked `croft import` for. */
export interface ImportRequest {
  readonly format: string
  readonly options: ReadOptions
}

/** Returns the manifests made of foreign files as text, with notes for people. */
export type ImportedText =
  | { readonly problem: string }
  | {
      readonly text: string
      readonly objects: number
      readonly notCarried: readonly NotCarried[]
      /** What is wrong with the manifests. They are shown all the same. */
      readonly problems: readonly Problem[]
    }

export function importText({ format, options }: ImportRequest, files: readonly ForeignFile[]): ImportedText {
  const reading = readForeign(format, files, options)
  if ('problem' in reading) return reading
  const { drafts, notCarried } = reading
  const text = printDrafts(drafts)
  const { problems } = readFiles({ files: [{ path: 'import.yaml', bytes: Buffer.from(text) }], links: [] })
  return { text, objects: drafts.length, notCarried, problems }
}
