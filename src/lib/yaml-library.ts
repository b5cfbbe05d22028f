import { createRequire } from 'node:module'
import type * as Yaml from 'yaml'

let loaded: typeof Yaml | undefined

/**
 * The full YAML library. Loaded when first needed: manifests are nearly always plain enough for the fast reader, and
 * loading this one takes as long as reading a few hundred of them.
 */
export function yamlLibrary(): typeof Yaml {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof Yaml
  return loaded
}
