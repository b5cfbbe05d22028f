import type { Keys } from '../shape.ts'

/** Why a text is not of a format, in the daemon's words and without the newline they end with; undefined when it is. */
export type Judge = (text: string) => string | undefined

/** A named format: a judge of the whole text, or the keys of a property string with a judge of what they say together. */
export type Format =
  | { readonly judge: Judge }
  | {
      readonly keys: Keys
      readonly together?: (values: ReadonlyMap<string, string>, known: Known) => string | undefined
    }

/** Facts that a few formats need in addition to the text. */
export interface Known {
  /** Names of the CPU models that were defined on this cluster. */
  readonly cpuModels?: ReadonlySet<string>
}

export type Formats = Readonly<Record<string, Format>>

/** A format that is one regular expression and one sentence. */
export function matching(pattern: RegExp, complaint: (text: string) => string): Format {
  return { judge: (text) => (pattern.test(text) ? undefined : complaint(text)) }
}

/** The elements of a list: separated by comma, semicolon or white space, empty ones left out. */
export function splitList(text: string): string[] {
  if (text.includes('\0')) return text.split('\0')
  return text.split(/[,;\s]+/).filter((element) => element !== '')
}
