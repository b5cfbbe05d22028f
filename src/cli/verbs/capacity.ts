import { mebibytes } from '../../kinds/fields/number.ts'
import type { MachineClassSpec } from '../../kinds/machine-class.ts'
import type { HostSpec } from '../../kinds/schemas/host.ts'
import type { Declaration } from '../../model/declaration.ts'
import type { Estate } from '../../model/estate.ts'
import { guestIn, type Survey } from '../../model/resource.ts'
import { type CapacityClass, capacityOf, type HostCapacity } from '../../plan/things/placement/capacity.ts'
import { place } from '../../plan/things/placement/place.ts'
import { gib } from '../../plan/things/placement/room.ts'
import { EMPTY_LEDGER, observedWorld } from '../../plan/things/world.ts'
import { realDirectory } from '../../state/state-file.ts'
import { exitOfLoaded } from '../load.ts'
import { styleOf, writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { renderTable } from '../render/table.ts'
import type { Style } from '../render/text.ts'
import { CliError, type Options, UsageError, type Verb } from '../verb.ts'

const MIB = 1024 * 1024

/** Shows free and committed capacity, and how much more would fit. Read-only. */
export const run: Verb = async (runtime, [directory = '.'], options) => {
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  const { estate, declarations } = loaded
  const code = exitOfLoaded(runtime, loaded, directory)
  const { drivers, deps } = await runtime.openDrivers({ directory: real })
  const hosts: HostCapacity[] = []
  for (const connection of estate.connections) {
    const driver = drivers.find(({ name }) => name === connection.driver)
    if (driver === undefined) continue
    const session = driver.connect(connection, deps)
    try {
      const survey = await session.survey(runtime.signal)
      hosts.push(...capacityOf(survey, missingIn(estate, survey, runtime.clock.now()), sortsIn(declarations, options)))
    } finally {
      await session.close()
    }
  }
  if (hosts.length === 0) throw new CliError(`No host is to be seen from ${directory}. Run croft doctor ${directory}.`)
  const data = { apiVersion: API_VERSION, kind: 'Capacity', hosts }
  if (!(await writeData(runtime, options.output, data)))
    runtime.out.write(tableOf(hosts, styleOf(runtime, runtime.out)))
  return code
}

/** Declared machines that are not there yet, each on the host that it would go to. */
function missingIn(estate: Estate, survey: Survey, nowMs: number) {
  const connection = estate.connections.find(({ name }) => name === survey.connection)
  if (connection === undefined) return []
  const world = observedWorld(connection, survey)
  const placed = place(estate, { worlds: new Map([[connection.name, world]]), ledger: EMPTY_LEDGER, nowMs })
  return placed.resources.filter(
    ({ connection: where, desired, uid, placement }) =>
      where === survey.connection &&
      guestIn(desired) !== undefined &&
      !world.marked.has(uid) &&
      placement?.refused === undefined,
  )
}

/** Returns the declared classes, and the requested size. */
function sortsIn(declarations: readonly Declaration[], options: Options): readonly CapacityClass[] {
  const hosts = declarations.filter(({ kind }) => kind === 'Host') as readonly Declaration<HostSpec>[]
  const bound = (node: string, storage: string) =>
    hosts.find(({ name, spec }) => (spec.node ?? name) === node)?.spec.bindings.storages[storage]
  const classes = (
    declarations.filter(({ kind }) => kind === 'MachineClass') as readonly Declaration<MachineClassSpec>[]
  ).map(
    ({ name, spec }): CapacityClass => ({
      name,
      demandOn(node) {
        const storages = new Map<string, number>()
        for (const disk of spec.disks ?? []) {
          const storage = bound(node, disk.storage)
          if (storage === undefined) return undefined
          storages.set(storage, (storages.get(storage) ?? 0) + (mebibytes(disk.size) ?? 0) * MIB)
        }
        return { memoryBytes: (mebibytes(spec.memory ?? '') ?? 0) * MIB, storages }
      },
    }),
  )
  if (options.memory === undefined) return classes
  const asked = options.memory as string
  const memory = mebibytes(asked)
  if (memory === undefined) throw new UsageError(`--memory ${asked} is not a size. Write it like 4Gi.`)
  return [...classes, { name: asked, demandOn: () => ({ memoryBytes: memory * MIB, storages: new Map() }) }]
}

function tableOf(hosts: readonly HostCapacity[], style: Style): string {
  const sorts = Object.keys(hosts[0]?.fits ?? {})
  const size = (bytes: number | undefined) => (bytes === undefined ? '?' : gib(bytes))
  const rows = hosts.map((host) => [
    host.host,
    host.online ? 'online' : 'offline',
    host.load === undefined ? '?' : `${Math.round(host.load * 100)} %`,
    size(host.memory.totalBytes),
    size(host.memory.promisedBytes),
    size(host.memory.freeBytes),
    host.storages.map(({ name, freeBytes }) => `${name} ${size(freeBytes)}`).join(', '),
    ...sorts.map((sort) => String(host.fits[sort] ?? 0)),
  ])
  const titles = ['HOST', 'STATE', 'LOAD', 'MEMORY', 'PROMISED', 'FREE', 'STORAGE FREE']
  const columns = [...titles, ...sorts.map((sort) => `FITS ${sort.toUpperCase()}`)].map((title) => ({ title }))
  return renderTable(columns, rows, style)
}
