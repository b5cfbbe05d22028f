import { may } from '../../../world/access.ts'
import { pciProblem, usbProblem } from '../../../world/hardware.ts'
import { hasDirectory } from '../../../world/host-directories.ts'
import { parseProperties } from '../../../world/properties.ts'
import type { World } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import type { Call, Routes } from '../../call.ts'
import { type Collection, collectionRoutes, STALE } from '../collection.ts'
import { listOf, type Thing } from '../shelf.ts'

/** Names for devices and directories of hosts, so that a guest can be given one without knowing where it runs. */
const KINDS = ['pci', 'usb', 'dir'] as const
type Kind = (typeof KINDS)[number]

export const mappingRoutes: Routes = Object.assign(
  { 'GET /cluster/mapping': () => ['dir', 'pci', 'usb'].map((name) => ({ name })) },
  ...KINDS.map((kind) => collectionRoutes(mapping(kind))),
)

function mapping(kind: Kind): Collection {
  const what = kind === 'dir' ? 'directory' : 'hardware'
  return {
    at: `/cluster/mapping/${kind}`,
    key: 'id',
    shelf: `mapping/${kind}`,
    exists: (id) => failed(`create ${what} mapping failed: ${kind} ID '${id}' already defined`),
    missing: (id, verb) => {
      if (verb === 'delete') return undefined
      return failed(
        verb === 'read'
          ? `mapping '${id}' not found`
          : `update ${what} mapping failed: ${kind} ID '${id}' does not exist`,
      )
    },
    stale: failed(`update ${what} mapping failed: ${STALE}`),
    sections: `update ${what} mapping failed: `,
    beforeDeletions: (call) => {
      if (call.params.map === undefined)
        throw failed(`update ${what} mapping failed: missing value for required option 'map'`)
    },
    sees: (call, id) =>
      ['Mapping.Use', 'Mapping.Modify', 'Mapping.Audit'].some((right) =>
        may(call.world, call.who, `/mapping/${kind}/${id}`, right),
      ),
    prepare: (call, thing) => {
      if (kind === 'dir') checkDirectories(call, entriesOf(thing))
      return thing
    },
    row: (_, thing) => ({ ...thing, type: kind }),
    listed: (call, thing, id, digest) => ({ ...thing, id, digest, ...checks(call, kind, thing, id) }),
  }
}

function entriesOf(thing: Thing): string[] {
  return listOf(thing.map ?? '')
}

/** A directory is looked for on the host that answers, and only there. */
function checkDirectories(call: Call, entries: readonly string[]): void {
  const [answering] = call.world.hosts.keys()
  const counts = new Map<string, number>()
  for (const entry of entries) {
    const node = parseProperties(entry).named.get('node') ?? ''
    const problem = node === answering ? directoryProblem(call.world, entry) : undefined
    if (problem !== undefined) throw failed(problem)
    counts.set(node, (counts.get(node) ?? 0) + 1)
  }
  for (const [node, count] of counts) if (count > 1) throw failed(`Node '${node}' is specified ${count} times.`)
}

function directoryProblem(world: World, entry: string): string | undefined {
  const path = parseProperties(entry).named.get('path') ?? ''
  return hasDirectory(world, path) ? undefined : `Path ${path} does not exist`
}

/** What is wrong with a mapping on one node. For USB the answer calls its list otherwise. */
function checks(call: Call, kind: Kind, thing: Thing, id: string): Thing {
  const node = call.params['check-node']
  if (node === undefined) return {}
  const name = kind === 'usb' ? 'errors' : 'checks'
  const here = entriesOf(thing).filter((entry) => parseProperties(entry).named.get('node') === node)
  if (here.length === 0) return { [name]: [{ severity: 'warning', message: `No mapping for node ${node}.` }] }
  const problems = here.flatMap((entry) => problemOf(call, node, kind, id, entry, thing) ?? [])
  return { [name]: problems.map((problem) => ({ severity: 'error', message: `Invalid configuration: ${problem}\n` })) }
}

function problemOf(call: Call, node: string, kind: Kind, id: string, entry: string, thing: Thing): string | undefined {
  const host = call.world.hosts.get(node)
  if (host === undefined) return undefined
  if (kind === 'dir') return directoryProblem(call.world, entry)
  return kind === 'pci' ? pciProblem(host, id, entry, thing.mdev === 1) : usbProblem(host, id, entry)
}
