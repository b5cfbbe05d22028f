import { join } from 'node:path'
import type { Problem } from '../../model/declaration.ts'
import { readFiles } from '../files/read-files.ts'
import type { Revision } from '../git/revision.ts'

/** Reads texts as if they were files of one tree. */
export function readTexts(texts: Readonly<Record<string, string>>): Revision {
  const files = Object.entries(texts).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
  return readFiles({ files, links: [] })
}

export function readText(text: string): Revision {
  return readTexts({ 'a.yaml': text })
}

export function errorsOf(revision: Revision): readonly Problem[] {
  return revision.problems.filter((problem) => problem.severity === 'error')
}

/** `code line:column message (hint)` for each problem: short enough for tables. */
export function told(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ code, origin, message, hint }) => {
    return `${code} ${origin.line}:${origin.column} ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
}

export function vmManifest(fields: string, name = 'web-1'): string {
  const body = fields
    .split('\n')
    .map((line) => (line === '' ? '' : `    ${line}`))
    .join('\n')
  return `apiVersion: virtualenvironmentvm.crossplane.io/v1alpha1
kind: EnvironmentVM
metadata:
  name: ${name}
spec:
  forProvider:
    nodeName: pve1
${body}
`
}

export const ROOT = join(import.meta.dirname, '../../..')
