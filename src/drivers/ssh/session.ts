import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { ShellFailure } from '../../lib/shell.ts'
import type { Connection } from '../../model/estate.ts'
import { itemId, type WantedItem } from '../../model/host-item.ts'
import { hottest, readSensors, type Sensors, wattsBetween } from '../../model/host-sensors.ts'
import type { ObservedHost, ObservedResource, Resource } from '../../model/resource.ts'
import type { SshTarget } from '../../model/secret.ts'
import { type DriverDeps, ObservationFailed, type Session } from '../port.ts'
import { sha256 } from './ask.ts'
import { LOGIN } from './doors.ts'
import { refusalOf } from './failures.ts'
import { rulesOf } from './items/registry.ts'
import { type ItemMark, readMark } from './marks.ts'
import { hostCommands, performCommands } from './perform.ts'
import { type Probed, probeInput, readProbe } from './probe.ts'
import { PROBE } from './probe-program.ts'
import { ITEMS_LIST, type ItemDetails, wantedOf } from './rules.ts'

const PROOFS = 10
const PROOF_PAUSE_MS = 500

/** A host over SSH, or this computer. One round trip reads all wanted facts. */
export function openSession(connection: Connection, deps: DriverDeps): Session {
  const { ssh } = connection
  if (ssh === undefined || deps.openShell === undefined) throw new Error(`${connection.name} says no way to a shell`)
  const target: SshTarget = ssh
  const openShell = deps.openShell
  const shell = openShell(target)
  let items: readonly ObservedResource[] = []
  /** The previous look's readings: the energy used since gives the power draw. */
  let sensors: Sensors | undefined

  async function probe(wanted: readonly WantedItem[], signal: AbortSignal): Promise<Probed> {
    const { text, keys } = probeInput(wanted.flatMap(({ item }) => rulesOf(item).asks(item)))
    const timeoutMs = LIMITS.probeTimeoutMs
    const ran = await shell.run(['sh', '-c', PROBE], { input: text, timeoutMs, signal })
    const probed = readProbe(ran.stdout, keys)
    if (probed === undefined)
      throw new ShellFailure('no', 'unreadable', `${target.name} gave no whole answer to the look`)
    return probed
  }

  /** Returns hashes of the secrets for files; if a secret is unreadable, its file is left alone. */
  async function secretShas(wanted: readonly WantedItem[]): Promise<ReadonlyMap<string, string>> {
    const shas = new Map<string, string>()
    for (const { item } of wanted) {
      if (item.type !== 'file' || item.spec.secret === undefined) continue
      const secret = await deps.resolveSecret(item.spec.secret).catch(() => undefined)
      if (secret !== undefined) shas.set(itemId(item), sha256(secret.reveal()))
    }
    return shas
  }

  return {
    async survey(signal, resources: readonly Resource[] = []) {
      const wanted = resources.map(wantedOf)
      try {
        const [probed, shas] = await Promise.all([probe(wanted, signal), secretShas(wanted)])
        const atMs = deps.clock.now()
        items = observedItems(connection.name, target.name, wanted, probed, shas, atMs)
        const now = sensorsOf(probed)
        const host = hostOf(target.name, probed, now, sensors)
        sensors = now
        return {
          connection: connection.name,
          atMs,
          hosts: [host],
          storages: [],
          resources: [],
          tasks: [],
        }
      } catch (error) {
        throw new ObservationFailed(refusalOf(error))
      }
    },
    list: async (list) => (list === ITEMS_LIST ? items : []),
    observe: async (observed) => items.find((one) => one.externalId === observed.externalId),
    idIsFree: async () => true,
    seesEverything: async () => true,
    taskOutcome: async () => undefined,
    perform: (step, signal) =>
      performCommands(
        hostCommands(step),
        {
          host: target.name,
          shell,
          resolveSecret: deps.resolveSecret,
          async prove(stop) {
            if (target.local === true) {
              const { code, stdout } = await shell.run(['sh', '-c', LOGIN], { signal: stop })
              if (code !== 0) throw new ShellFailure('no', 'denied', `${target.name}: ${stdout.trim().slice(0, 300)}`)
              return
            }
            // A server that reloads its configuration does not listen for a moment, so retry; a refusal is final.
            for (let attempt = 1; ; attempt++) {
              await deps.clock.sleep(PROOF_PAUSE_MS, stop)
              // Another name forces a new connection: an existing one would prove nothing.
              const fresh = openShell({ ...target, name: `${target.name} (proof)` })
              try {
                await fresh.run(['true'], { signal: stop })
                return
              } catch (error) {
                const away = error instanceof ShellFailure && error.code === 'unreachable'
                if (!away || attempt >= PROOFS) throw error
              } finally {
                await fresh.close()
              }
            }
          },
        },
        signal,
      ),
    close: () => shell.close(),
  }
}

/** Returns every wanted item in any state, and every marked item that is no longer wanted. */
function observedItems(
  connection: string,
  host: string,
  wanted: readonly WantedItem[],
  { answers, marks: texts, host: box }: Probed,
  shas: ReadonlyMap<string, string>,
  atMs: number,
): readonly ObservedResource[] {
  const marks = new Map<string, ItemMark>()
  for (const text of texts) {
    const mark = readMark(text)
    if (mark !== undefined) marks.set(mark.id, mark)
  }
  const unfit = [...marks.values()].flatMap(({ id, pending }) => (pending?.boot === true ? [id] : [])).sort()
  const observed = (id: string, look: ItemDetails): ObservedResource => ({
    connection,
    type: 'item',
    list: ITEMS_LIST,
    externalId: id,
    host,
    name: id,
    close: { config: { look }, atMs },
    ...defined({ mark: look.mark }),
  })
  const found = wanted.map(({ item }) => {
    const id = itemId(item)
    const mark = marks.get(id)
    const secretSha = shas.get(id)
    marks.delete(id)
    return observed(id, {
      answers,
      unfit,
      ...defined({ bootId: box.id, mark, secretSha }),
    })
  })
  return [...found, ...[...marks.values()].map((mark) => observed(mark.id, { answers: new Map(), mark }))]
}

function sensorsOf({ host }: Probed): Sensors {
  return readSensors((host.sensors ?? '').split('\n'))
}

/** Returns the box as one look shows it; `before` holds the previous sensor readings. */
function hostOf(name: string, { host }: Probed, now: Sensors, before: Sensors | undefined): ObservedHost {
  const bytes = (kib: string | undefined) => Number(kib ?? 0) * 1024
  const cpus = Number(host.cpus ?? 0)
  const temperatureC = hottest(now)
  const watts = wattsBetween(before, now)
  return {
    name,
    online: true,
    cpus,
    memoryBytes: bytes(host.memory),
    memoryUsedBytes: bytes(host.memory) - bytes(host.free),
    // More processes may wait than there are processors: then all are busy.
    ...(host.load === undefined || cpus === 0 ? {} : { load: Math.min(1, Number(host.load) / cpus) }),
    ...defined({ temperatureC, watts }),
  }
}
