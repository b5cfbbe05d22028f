import { yamlLibrary } from '../../lib/yaml-library.ts'
import { isFields } from '../manifest.ts'

/** What `postBuild` puts into the objects of a Kustomization. */
export interface FluxVariables {
  readonly known: ReadonlyMap<string, string>
  /** Objects that hold more variables and whose content is not at hand: `Secret cluster-secrets`. */
  readonly elsewhere: readonly string[]
}

/** An object with its variables filled in, and the names of those without a known value. */
export interface Substituted {
  readonly object: Readonly<Record<string, unknown>>
  readonly unknown: readonly string[]
}

const SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'
/** `$${a}` stays as `${a}`; `${a}`, `${a:-b}`, `${a-b}`, `${a:=b}` and `${a=b}` are filled in. `$a` is no variable of Flux. */
const VARIABLE = /\$?\$\{([^{}]*)\}/g

/**
 * Fills in variables as Flux does: in the text of the object, so that a number becomes one. A variable without value
 * or default is empty there; if it may come from an object that is not at hand, it stays as it is and is named.
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
    // What is no YAML once it is filled in is no object to Flux either.
  }
  return { object, unknown: ['what its variables make of it is not YAML'] }
}

function isSwitchedOff({ metadata }: Readonly<Record<string, unknown>>): boolean {
  const { labels, annotations } = isFields(metadata) ? metadata : { labels: {}, annotations: {} }
  return [labels, annotations].some((words) => isFields(words) && words[SWITCH] === 'disabled')
}
