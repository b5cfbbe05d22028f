import { AREAS } from '../facts/form.ts'
import { ROUTES } from '../handlers/index.ts'
import { allOperations, findOperation, type Operation } from '../validate/operations.ts'

/** How much of the real API is simulated. */
export interface Coverage {
  readonly areas: readonly { readonly area: string; readonly simulated: number; readonly all: number }[]
  readonly simulated: number
  readonly all: number
  /** `METHOD /path` of what is answered with 501 and a clear text, in order. */
  readonly refused: readonly string[]
}

/** Parts of the API by the beginning of their path, as people speak of them. The first that fits counts. */
const PARTS: readonly (readonly [string, RegExp])[] = [
  ['machines', /^\/nodes\/\{node\}\/qemu/],
  ['containers', /^\/nodes\/\{node\}\/lxc/],
  ['storage and content', /^\/(storage|nodes\/\{node\}\/storage)/],
  ['Ceph', /ceph/],
  ['disks of a host', /^\/nodes\/\{node\}\/disks/],
  ['the rest of a host', /^\/nodes/],
  ['firewall of the cluster', /^\/cluster\/firewall/],
  ['software-defined network', /^\/cluster\/sdn/],
  ['high availability', /^\/cluster\/ha/],
  ['notifications', /^\/cluster\/notifications/],
  ['the rest of the cluster', /^\/cluster/],
  ['users and rights', /^\/access/],
  ['pools, version', /./],
]

export function coverage(): Coverage {
  const operations = allOperations(AREAS)
  const areas = new Map(PARTS.map(([area]) => [area, { area, simulated: 0, all: 0 }]))
  const refused: string[] = []
  for (const operation of operations) {
    const part = PARTS.find(([, pattern]) => pattern.test(operation.path))?.[0] ?? ''
    const area = areas.get(part)
    if (area === undefined) continue
    area.all += 1
    if (ROUTES.has(keyOf(operation))) area.simulated += 1
    else refused.push(keyOf(operation))
  }
  const simulated = operations.length - refused.length
  return { areas: [...areas.values()], simulated, all: operations.length, refused: refused.sort() }
}

/** Is this call, with a real path, one that is simulated? Undefined: there is no such operation. */
export function isSimulated(method: string, path: string): boolean | undefined {
  const found = findOperation(method, path)
  return found && ROUTES.has(keyOf(found.operation))
}

function keyOf(operation: Operation): string {
  return `${operation.method} ${operation.path}`
}

/** The table that the documentation shows. */
export function coverageTable(found: Coverage): string {
  const rows = found.areas.map(({ area, simulated, all }) => `| ${area} | ${simulated} | ${all} |`)
  return [
    '| Part | Simulated | Operations |',
    '|---|---|---|',
    ...rows,
    `| all | ${found.simulated} | ${found.all} |`,
  ].join('\n')
}
