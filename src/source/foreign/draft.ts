import { yamlLibrary } from '../../lib/yaml-library.ts'

/** A generated manifest with notes for people. */
export interface Draft {
  readonly manifest: DraftManifest
  /** Lines above the document. */
  readonly comments: readonly string[]
}

export interface DraftManifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec: unknown
}

/** YAML, one document each. Words that an older reader would take for a number or a yes are quoted. */
export function printDrafts(drafts: readonly Draft[]): string {
  const { Document } = yamlLibrary()
  return drafts
    .map(({ manifest, comments }) => {
      const document = new Document(manifest, { schema: 'yaml-1.1', aliasDuplicateObjects: false })
      const text = document.toString({ lineWidth: 0 })
      return `${comments.map((line) => `# ${oneLine(line)}\n`).join('')}${text}`
    })
    .join('---\n')
}

/** A comment ends with its line: nothing may begin a new one. */
function oneLine(text: string): string {
  return text
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]+/g, ' ')
    .toWellFormed()
}
