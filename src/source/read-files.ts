import { createHash } from 'node:crypto'
import type { Problem } from '../model/problem.ts'
import { assemble, type FileOutcome } from './assemble.ts'
import { excerpt, printable } from './excerpt.ts'
import { blobHash, createParseCache, judgeText, type ParseCache } from './parse-cache.ts'
import type { Ignored, Revision } from './revision.ts'
import { textOf } from './text-of.ts'

/** A file as its source gives it. The hash is known beforehand when Git gives it. */
export type SourceFile = { readonly path: string; readonly blob?: string } & (
  | { readonly bytes: Uint8Array }
  | { readonly refused: { readonly code: string; readonly message: string; readonly hint?: string } }
)

export interface Reading {
  readonly files: readonly SourceFile[]
  readonly links: readonly string[]
  readonly tooLarge?: string
  readonly commit?: string
  readonly cache?: ParseCache
}

/** Files to declarations, wherever the files come from. */
export function readFiles(reading: Reading): Revision {
  const { commit } = reading
  const at = commit === undefined ? {} : { commit }
  if (reading.tooLarge !== undefined) {
    const message = `the tree is too large: ${reading.tooLarge}`
    const problem: Problem = {
      code: 'too-large',
      origin: { file: '.', line: 1, column: 1, ...at },
      message,
      severity: 'error',
    }
    return assemble(commit ?? 'too-large', [], commit, { problems: [problem], ignored: [], incomplete: true })
  }
  const cache = reading.cache ?? createParseCache()
  const used = new Set<string>()
  const identity = createHash('sha256')
  const ignored: Ignored[] = []
  const outcomes: FileOutcome[] = []
  for (const file of reading.files) {
    const path = printable(file.path)
    if ('refused' in file) {
      identity.update(`${file.path}\0${file.refused.code}\n`)
      outcomes.push(refusedFile(path, { line: 1, column: 1, ...file.refused }, commit))
      continue
    }
    const blob = file.blob ?? blobHash(file.bytes)
    identity.update(`${file.path}\0${blob}\n`)
    if (/^kustomization\.ya?ml$/.test(path.split('/').at(-1) ?? '')) {
      ignored.push({
        file: path,
        line: 1,
        apiVersion: 'kustomize.config.k8s.io/v1beta1',
        kind: 'Kustomization',
        note: KUSTOMIZE,
      })
      continue
    }
    outcomes.push(judgeFile(path, file.bytes, blob, cache, used, commit))
  }
  cache.retain(used)
  const problems = reading.links.map((path) => linkWarning(printable(path), commit))
  const id = commit ?? `files-${identity.digest('hex').slice(0, 16)}`
  return assemble(id, outcomes, commit, { problems, ignored, incomplete: false })
}

const KUSTOMIZE = 'kustomizations are not built yet: every manifest below the directory is read as it stands'

function judgeFile(
  path: string,
  bytes: Uint8Array,
  blob: string,
  cache: ParseCache,
  used: Set<string>,
  commit: string | undefined,
): FileOutcome {
  const json = /\.json$/i.test(path)
  const key = json ? `${blob}.json` : blob
  used.add(key)
  const known = cache.get(key)
  if (known !== undefined) return { file: path, judged: known }
  const text = textOf(bytes)
  if ('finding' in text) return refusedFile(path, text.finding, commit, new TextDecoder().decode(bytes))
  return { file: path, judged: judgeText(text.text, json, blob, cache) }
}

function refusedFile(
  file: string,
  why: {
    readonly code: string
    readonly line: number
    readonly column: number
    readonly message: string
    readonly hint?: string
  },
  commit: string | undefined,
  text?: string,
): FileOutcome {
  return {
    file,
    problem: {
      code: why.code,
      origin: { file, line: why.line, column: why.column, ...(commit === undefined ? {} : { commit }) },
      message: why.message,
      ...(why.hint === undefined ? {} : { hint: why.hint }),
      ...(text === undefined ? {} : { excerpt: excerpt(text, why.line, why.column) }),
      severity: 'error',
    },
  }
}

function linkWarning(file: string, commit: string | undefined): Problem {
  return {
    code: 'symbolic-link',
    origin: { file, line: 1, column: 1, ...(commit === undefined ? {} : { commit }) },
    message: 'symbolic links are not followed',
    hint: 'put the file itself here',
    severity: 'warning',
  }
}
