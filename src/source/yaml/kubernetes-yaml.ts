/**
 * How a text is read. croft reads strictly: it refuses what two readers could read differently. Objects of Kubernetes
 * are read as their tools read them, quirks included: kubectl by YAML 1.1, kustomize by a mixture.
 */
export type Dialect = 'strict' | 'kubectl' | 'kustomize'

const WORDS: Readonly<Record<string, boolean | null>> = Object.fromEntries([
  ...['', '~', 'null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
])
const OLD_WORDS: Readonly<Record<string, boolean>> = Object.fromEntries([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'on', 'On', 'ON'].map((word) => [word, true] as const),
  ...['n', 'N', 'no', 'No', 'NO', 'off', 'Off', 'OFF'].map((word) => [word, false] as const),
])
const WHOLE = /^[-+]?(?:0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)$/
const FRACTION = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const UNENDING = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/** Returns the value of an unquoted scalar. Undefined: a number that cannot be represented exactly. */
export function plainScalar(source: string, dialect: Exclude<Dialect, 'strict'>): unknown {
  if (Object.hasOwn(WORDS, source)) return WORDS[source]
  if (dialect === 'kubectl' && Object.hasOwn(OLD_WORDS, source)) return OLD_WORDS[source]
  if (WHOLE.test(source)) {
    const number = wholeNumber(source.replaceAll('_', ''))
    return number === undefined || Number.isSafeInteger(number) ? number : undefined
  }
  if (FRACTION.test(source)) return Number(source)
  if (UNENDING.test(source)) return undefined
  // kustomize knows dates and writes them out.
  if (dialect === 'kustomize' && /^\d{4}-\d{2}-\d{2}$/.test(source)) return `${source}T00:00:00Z`
  return source
}

/** `0400` is octal; `08`, which cannot be, is eight. */
function wholeNumber(digits: string): number | undefined {
  const [, sign, prefix, rest] = /^([-+]?)(0b|0o|0x|0(?=[0-7]+$)|)([0-9a-fA-F]+)$/.exec(digits) ?? []
  if (rest === undefined) return undefined
  const base = prefix === '0b' ? 2 : prefix === '0x' ? 16 : prefix === '' ? 10 : 8
  const number = Number.parseInt(rest, base)
  return sign === '-' && number !== 0 ? -number : number
}

/** Reports whether the text may hold a word that old readers take for a boolean. Never false by mistake. */
export function hasOldWords(text: string): boolean {
  return /(?:^|[\s:,[{-])(?:y|n|yes|no|on|off)(?=$|[\s:,\]}])/im.test(text)
}

/** Reports whether this dialect may read the text differently. May return true too often, never too seldom. */
export function isReadOtherwise(text: string, dialect: Dialect): boolean {
  // `{a: }` is null to kubectl; kustomize writes it out as an empty text.
  if (dialect === 'kustomize' && /:\s*[,}]/.test(text)) return true
  const folded = dialect === 'kustomize' && />[-+1-9]*[ \t]*(?:#.*)?$/m.test(text)
  return folded || (!text.endsWith('\n') && /[|>][-+1-9]*[ \t]*(?:#.*)?$/m.test(text))
}

/**
 * A block as tools of Kubernetes read it: at the end of a text without a line break they add none. Where lines of a
 * folded one become deeper kustomize writes an empty line before them (`spread`).
 */
export function blockOfKubernetes(value: string, spread: boolean, unended: boolean): string {
  const whole = spread ? value.replace(/(^|\n)([^ \t\n][^\n]*\n+)(?=[ \t])/g, '$1$2\n') : value
  return unended ? whole.replace(/\n$/, '') : whole
}
