import type { ClusterDeclaration, Connection, Estate } from '../model/estate.ts'
import { isGuest, type Resource } from '../model/resource.ts'

/** The part of an estate that a twin simulates, and the parts it leaves out, in words. */
export interface RehearsalScope {
  readonly estate: Estate
  readonly leftOut: readonly string[]
}

/** Twins exist only for Proxmox. */
const TWINNED = 'proxmox'

/**
 * Returns guests and files of Proxmox, and clusters of such guests. Settings of hosts would all look missing; boxes,
 * other hypervisors, the objects of clusters and power have no twin. Pure.
 */
export function rehearsalScope(whole: Estate): RehearsalScope {
  const { powers: _, ...estate } = whole
  const connections = estate.connections.filter(({ driver }) => driver === TWINNED)
  const twinned = new Set(connections.map(({ name }) => name))
  const isKept = ({ connection, desired }: Resource) =>
    twinned.has(connection) && (isGuest(desired.type) || desired.type === 'file')
  const resources = estate.resources.filter(isKept)
  const kept = new Set(resources.map(({ key }) => key))
  const boxed = (estate.clusters ?? []).filter((one) => nodesBeside(one, kept).length > 0)
  return {
    estate: {
      ...estate,
      connections,
      resources: resources.map((one) => ({ ...one, needs: one.needs.filter((need) => kept.has(need)) })),
      ...(estate.clusters === undefined ? {} : { clusters: estate.clusters.filter((one) => !boxed.includes(one)) }),
    },
    leftOut: [
      ...boxed.map((one) => `${one.key}: ${some(nodesBeside(one, kept))} is not a machine on Proxmox`),
      ...whole.connections.flatMap((one) =>
        leftOn(
          one,
          whole.resources.filter((part) => part.connection === one.name && !isKept(part)),
        ),
      ),
    ],
  }
}

/** Reports whether there is nothing to rehearse. */
export function isEmptyScope({ estate }: RehearsalScope): boolean {
  return estate.connections.length === 0 && (estate.clusters ?? []).length === 0
}

/** Nodes of a cluster that are not among the machines of the twin. */
function nodesBeside({ spec }: ClusterDeclaration, kept: ReadonlySet<string>): readonly string[] {
  return [...spec.servers, ...spec.agents]
    .filter(({ machine }) => !('key' in machine && kept.has(machine.key)))
    .map(({ name }) => name)
}

const WORDS: Readonly<Record<Resource['desired']['type'], string>> = {
  vm: 'machines',
  container: 'containers',
  file: 'files',
  setting: 'settings',
  item: 'items of the host',
  object: 'objects of add-ons',
}

function leftOn({ name }: Connection, parts: readonly Resource[]): readonly string[] {
  const counts = Map.groupBy(parts, ({ desired }) => WORDS[desired.type])
  return [...counts].map(([word, all]) => `${name}: ${word} (${all.length})`)
}

function some(names: readonly string[]): string {
  const more = names.length - 3
  return `${names.slice(0, 3).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
