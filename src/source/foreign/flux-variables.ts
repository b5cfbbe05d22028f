import { yamlLibrary } from '../../lib/yaml-library.ts'
import { isFields } from '../manifest.ts'

/** Values that `postBuild` substitutes in the objects of a Kustomization. */
export interface FluxVariables {
  readonly known: ReadonlyMap<string, string>
  /** Objects with further variables and unknown content: `Secret cluster-secrets`. */
  readonly elsewhere: readonly string[]
}

/** An object with its variables filled in, and the names of those without a known value. */
export interface Substituted {
  readonly object: Readonly<Record<string, unknown>>
  readonly unknown: readonly string[]
}

const SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'
/** `$${a}` escapes `${a}`; `${a}`, `${a:-b}`, `${a-b}`, `${a:=b}` and `${a=b}` are substituted. Flux ignores `$a`. */
const VARIABLE = /\$?\$\{([^{}]*)\}/g

/**
 * Substitutes variables as Flux does: in the text of the object, so that a number becomes one. A variable without value
 * or default becomes empty; if it may come from a missing object, it stays and is listed.
 */
export function substituted(object: Readonly<Record<string, unknown>>, variables: FluxVariables): Substituted {
  const text = yamlLibrary().stringify(object, { lineWidth: 0, schema: 'yaml-1.1', aliasDuplicateObjects: false })
  if (!text.includes('${') || isSwitchedOff(object)) return { object, unknown: [] }
  const unknown = new Set<string>()
  const filled = text.replace(VARIABLE, (whole, inside: string) => {
    if (whole.startsWith('$$')) return whole.slice(1)
    const [, name = '', , fallback] = /^([A-Za-z_][A-Za-z0-9_]*)(:?[-=](.*))?$/s.exec(inside) ?? []
    if (name === '') {
      unknown.add(whole)
      return whole
    }
    const value = variables.known.get(name)
    if (value !== undefined && value !== '') return value
    if (value === undefined && variables.elsewhere.length > 0) {
      unknown.add(whole)
      return whole
    }
    return fallback ?? ''
  })
  try {
    const read: unknown = yamlLibrary().parse(filled, { schema: 'yaml-1.1', logLevel: 'silent' })
    if (isFields(read)) return { object: read, unknown: [...unknown] }
  } catch {
    // If the result is not YAML, Flux fails too.
  }
  return { object, unknown: ['what its variables make of it is not YAML'] }
}

function isSwitchedOff({ metadata }: Readonly<Record<string, unknown>>): boolean {
  const { labels, annotations } = isFields(metadata) ? metadata : { labels: {}, annotations: {} }
  return [labels, annotations].some((words) => isFields(words) && words[SWITCH] === 'disabled')
}
