import { isIP } from 'node:net'
import { cleanText } from '../../lib/clean-text.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { neighbourProbe, readNeighbours } from '../../lib/neighbour-probe.ts'
import type { Connection } from '../../model/estate.ts'
import { type AddressUse, type ObservedResource, type Survey, usedNear } from '../../model/resource.ts'
import type { SystemReading } from '../../model/system-id.ts'
import { type DriverDeps, type GuestSnapshot, type GuestSnapshots, ObservationFailed, type Session } from '../port.ts'
import { agentShell } from './agent-shell.ts'
import { type Overlays, readOverlays, withPool } from './backing.ts'
import { consoleOf } from './console.ts'
import { bytesOf } from './domain-view.ts'
import { taskOutcome } from './jobs.ts'
import { listPlaces } from './list-places.ts'
import { isDiskOf } from './names.ts'
import { observeDomain, volumeNames } from './observe.ts'
import { performStep } from './perform.ts'
import { placeListed } from './place-rules.ts'
import { FIRST_QUESTIONS, needsFirst, readFirst, readHost, readSecond, words } from './survey.ts'
import { CAPABILITIES, readSystem } from './system.ts'
import { createVirsh, type Virsh } from './virsh.ts'
import { find, type HostPlaces, parseXml, textIn } from './xml.ts'

/** A connection to libvirt on one host. */
export function openSession(connection: Connection, deps: DriverDeps): Session {
  const target = connection.ssh
  const host = target?.name ?? connection.name
  const uri = localUri(connection.endpoint)
  const shell = target === undefined ? undefined : deps.openShell?.(target)
  const open = (): Virsh => {
    if (shell === undefined) throw noShell(connection)
    return createVirsh(shell, uri, deps.random)
  }
  let places: HostPlaces | undefined
  /** A host stays the same for as long as each survey reaches it. */
  let system: SystemReading | undefined
  const patience = new Map<string, number>()

  /** Returns how long this session has known a task, on the monotonic clock, since the wall clock may jump. */
  const waitedMs = (taskId: string): number => {
    const nowMs = deps.clock.monotonicMs()
    const firstSeenMs = patience.get(taskId) ?? nowMs
    if (patience.size > LIMITS.surveyEntries) patience.clear()
    patience.set(taskId, firstSeenMs)
    return nowMs - firstSeenMs
  }

  /** Pools and networks change rarely; a survey refreshes them. */
  const knownPlaces = async (signal: AbortSignal): Promise<HostPlaces> => {
    if (places === undefined) await survey(signal)
    return places ?? { pools: new Map(), networks: new Set() }
  }

  const survey = async (signal: AbortSignal): Promise<Survey> => {
    const virsh = open()
    const doing = `look at ${connection.name}`
    const known = system?.is === 'seen' ? system : undefined
    system = undefined
    const questions = known === undefined ? [...FIRST_QUESTIONS, CAPABILITIES] : FIRST_QUESTIONS
    const said = await virsh.ask(questions, doing, signal, needsFirst)
    const first = readFirst(said)
    const answers = await virsh.ask(
      [
        ...first.uuids.map((uuid) => ['dumpxml', '--inactive', uuid]),
        ...first.pools.map((pool) => ['pool-dumpxml', pool]),
      ],
      doing,
      signal,
    )
    const { resources, storages, pools } = readSecond(connection.name, host, first, answers, doing)
    const off = first.pools.filter((name) => !first.activePools.has(name))
    places = { pools, networks: first.networks, off }
    system = known ?? (shell === undefined ? undefined : await readSystem(said.at(-1) ?? '', shell, signal))
    return {
      connection: connection.name,
      atMs: deps.clock.now(),
      hosts: [readHost(host, first.nodeinfo)],
      storages,
      resources,
      tasks: [],
      ...defined({ system }),
    }
  }

  const list = async (name: string, signal: AbortSignal): Promise<readonly ObservedResource[]> => {
    const about = { connection: connection.name, host, list: name, uri, atMs: deps.clock.now() }
    const place = placeListed(name)
    return place === undefined ? readVolumeList(open(), about, signal) : listPlaces(open(), place, about, signal)
  }

  return {
    survey,
    list,
    addresses: { inUse: (_, addresses, signal) => addressUse(open(), host, addresses, signal) },
    async observe(observed, ask, signal) {
      if (observed.list !== undefined)
        return (await list(observed.list, signal)).find(({ externalId }) => externalId === observed.externalId)
      return observeDomain(open(), observed, ask, await knownPlaces(signal), deps.clock, signal)
    },
    async idIsFree(externalId, signal) {
      try {
        return (await open().read(['domname', externalId], `ask whether ${externalId} is free`, signal)) === undefined
      } catch (error) {
        // Permission was denied, so it exists.
        if (error instanceof ObservationFailed && error.refusal.reason === 'PermissionDenied') return false
        throw error
      }
    },
    // A user who may list a host's domains sees all of them.
    seesEverything: async () => true,
    taskOutcome: (taskId, signal) => taskOutcome(open(), taskId, host, waitedMs(taskId), signal),
    async perform(step, signal) {
      if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
      try {
        const outcome = await performStep({ virsh: open(), uri, places: await knownPlaces(signal), deps }, step, signal)
        if (outcome.result === 'started') waitedMs(outcome.taskId)
        return outcome
      } catch (error) {
        if (error instanceof ObservationFailed)
          return error.refusal.meaning === 'stalled'
            ? { result: 'refused', refusal: error.refusal }
            : { result: 'not-sent', message: error.refusal.message }
        throw error
      }
    },
    console: consoleOf(open, shell, uri, target),
    snapshots: snapshotsOf(open),
    agent: { shell: (observed) => agentShell(open(), observed.externalId, deps) },
    close: async () => shell?.close(),
  }
}

/** Returns the URI on the host itself, where virsh runs: `qemu+ssh://root@kvm1/system` is `qemu:///system` there. */
function localUri(endpoint: string): string {
  const [, scheme = 'qemu', path = '/system'] = /^([a-z]+)(?:\+[a-z]+)?:\/\/[^/]*(\/.*)$/.exec(endpoint) ?? []
  return `${scheme}://${path}`
}

function noShell(connection: Connection): Error {
  const message = `connection ${connection.name} does not say how its host is reached`
  return new ObservationFailed({ reason: 'NoShell', meaning: 'stalled', message, connectionWide: true })
}

async function readVolumeList(
  virsh: Virsh,
  about: { readonly connection: string; readonly host: string; readonly list: string; readonly atMs: number },
  signal: AbortSignal,
): Promise<readonly ObservedResource[]> {
  const { connection, list, host, atMs } = about
  const [kind, , pool = '', uid] = list.split('/')
  const doing = `list the volumes of ${pool} on ${host}`
  const table = await virsh.read(['vol-list', '--pool', pool], doing, signal).catch((error: unknown) => {
    throw withPool(error, pool)
  })
  const names = volumeNames(table ?? '').filter((name) => kind !== 'remains' || isDiskOf(uid ?? '', name))
  const answers = await virsh.ask(
    names.map((name) => ['vol-dumpxml', '--pool', pool, name]),
    doing,
    signal,
  )
  const { on, unread }: Overlays =
    kind === 'remains' ? { on: new Map(), unread: [] } : await readOverlays(virsh, doing, signal)
  return names.flatMap((name, at): ObservedResource[] => {
    const volume = parseXml(answers[at] ?? '')
    if (volume === undefined) return []
    const size = bytesOf(find(volume, 'physical')) ?? bytesOf(find(volume, 'capacity')) ?? 0
    const ctime = Math.floor(Number(textIn(find(volume, 'target/timestamps/ctime'))) || 0)
    const content = name.endsWith('.iso') ? 'iso' : 'import'
    const externalId = kind === 'remains' ? `${pool}:${name}` : `${pool}:${content}/${name}`
    const overlays = on.get(textIn(find(volume, 'target/path')).trim())
    const unreadPools = unread.length === 0 ? undefined : unread
    const config = { content, size, ctime, ...defined({ overlays, unreadPools }) }
    return [{ connection, type: 'file', list, externalId, host, close: { config, atMs } }]
  })
}

/** Returns who uses these addresses on a host's networks: by libvirt's leases, and by answers on the network. */
async function addressUse(
  virsh: Virsh,
  host: string,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<readonly AddressUse[]> {
  const doing = `ask ${host} who has ${addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`}`
  const [list = ''] = await virsh.ask([['net-list', '--name']], doing, signal)
  const networks = words(list).slice(0, LIMITS.addressLooks)
  const tables = await virsh.hear(
    networks.map((network) => ['net-dhcp-leases', network]),
    doing,
    signal,
  )
  const leased = networks.flatMap((network, at) => readLeases(tables[at] ?? '', network, host))
  const { stdout } = await virsh.run(neighbourProbe(addresses), doing, signal)
  const near = usedNear(host, readNeighbours(stdout, addresses))
  return [...leased.filter(({ address }) => addresses.includes(address)), ...near]
}

/** Parses `virsh net-dhcp-leases`: expiry, hardware address, protocol, address, name, client. Pure. */
export function readLeases(table: string, network: string, host: string): readonly AddressUse[] {
  return words(table).flatMap((line) => {
    const [, hardware = '', text = '', name = '-'] =
      /^\S+ \S+\s+((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\s+ipv[46]\s+(\S+)\s+(\S+)/i.exec(line) ?? []
    const [address = ''] = text.split('/')
    if (isIP(address) === 0) return []
    const called = name === '-' ? '' : ` (${cleanText(name, 63)})`
    const by = `${hardware.toLowerCase()}${called}, which has it by DHCP from the network ${cleanText(network, 63)} of ${host}`
    return [{ address, hardware: hardware.toLowerCase(), by }]
  })
}

/** libvirt's snapshots: inside the disks, with a running guest's memory. */
function snapshotsOf(open: () => Virsh): GuestSnapshots {
  return {
    async list({ externalId: uuid, host }, signal) {
      const virsh = open()
      const doing = `list the snapshots of domain ${uuid} on ${host}`
      const [all = '', current = ''] = await virsh.hear(
        [
          ['snapshot-list', '--name', uuid],
          ['snapshot-current', '--name', uuid],
        ],
        doing,
        signal,
      )
      const names = words(all).slice(0, LIMITS.surveyEntries)
      const answers = await virsh.ask(
        names.map((name) => ['snapshot-dumpxml', uuid, '--snapshotname', name]),
        doing,
        signal,
      )
      return names.map((name, at): GuestSnapshot => {
        const seconds = Number(textIn(find(parseXml(answers[at] ?? ''), 'creationTime')))
        return {
          name: cleanText(name, LIMITS.foreignNameLength),
          current: words(current)[0] === name,
          ...(Number.isFinite(seconds) && seconds > 0 ? { createdMs: seconds * 1000 } : {}),
        }
      })
    },
    take: ({ externalId: uuid, host }, name, signal) =>
      open().write(
        ['snapshot-create-as', uuid, '--name', name, '--atomic'],
        { doing: `take snapshot ${name} of domain ${uuid} on ${host}`, says: /snapshot .* created/ },
        signal,
      ),
    revert: ({ externalId: uuid, host }, name, signal) =>
      open().write(
        ['snapshot-revert', uuid, '--snapshotname', name],
        { doing: `bring domain ${uuid} on ${host} back to snapshot ${name}`, says: /^\s*$|reverted/ },
        signal,
      ),
    remove: ({ externalId: uuid, host }, name, signal) =>
      open().write(
        ['snapshot-delete', uuid, '--snapshotname', name],
        { doing: `remove snapshot ${name} of domain ${uuid} on ${host}`, says: /snapshot .* deleted/ },
        signal,
      ),
  }
}
