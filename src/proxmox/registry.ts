import type { Definition } from '../model/rest.ts'
import { ACCESS } from './access.ts'
import { CLUSTER } from './cluster.ts'
import { FIREWALL } from './firewall.ts'
import { HA } from './ha.ts'
import { NETWORK } from './network.ts'
import { NODE } from './node.ts'
import { STORAGE } from './storage.ts'

/** Every sort of setting that croft keeps. One table row is one sort. */
export const DEFINITIONS: readonly Definition[] = [
  ...ACCESS,
  ...STORAGE,
  ...NETWORK,
  ...FIREWALL,
  ...HA,
  ...NODE,
  ...CLUSTER,
]

const byName = new Map(DEFINITIONS.map((definition) => [definition.name, definition]))

/** The definition of that name. One that is not there is a mistake in the program, not in a manifest. */
export function definitionNamed(name: string): Definition {
  const found = byName.get(name)
  if (found === undefined) throw new Error(`there is no definition ${name}`)
  return found
}
