import { createHash } from 'node:crypto'
import { RESULT_FILE, readCloudInit, STATUS_FILE } from '../../cloudinit/result.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { CloudInitResult, ObservedResource, PowerState } from '../../model/resource.ts'
import { fileText, readAddresses, returned } from './agent-shell.ts'
import { bytesOf, type DomainView, viewDomain } from './domain-view.ts'
import { readDescription, readMark, readTags } from './marks.ts'
import { type DomainConfig, insertedSeed, isVolumeOf, ranFact, seedHashIn } from './names.ts'
import { words } from './survey.ts'
import type { Virsh } from './virsh.ts'
import { find, type HostPlaces, parseXml, textIn } from './xml.ts'

/** Returns the version of a definition: it differs after any change. */
export function digestOf(definition: string): string {
  return createHash('sha256').update(definition.trim()).digest('hex').slice(0, 40)
}

/** Reads one domain closely, in two rounds: itself, then its volumes. */
export async function observeDomain(
  virsh: Virsh,
  observed: ObservedResource,
  ask: { readonly power?: boolean; readonly agent?: boolean },
  places: HostPlaces,
  clock: { readonly now: () => number },
  signal: AbortSignal,
): Promise<ObservedResource | undefined> {
  const uuid = observed.externalId
  const doing = `look at domain ${uuid} on ${observed.host}`
  const [definition = '', running = '', state = '', info = '', snapshots = ''] = await virsh.ask(
    [
      ['dumpxml', '--inactive', uuid],
      ['dumpxml', uuid],
      ['domstate', uuid],
      ['dominfo', uuid],
      ['snapshot-list', '--name', uuid],
    ],
    doing,
    signal,
  )
  const domain = parseXml(definition)
  // Nothing came: the domain is missing, or unreadable. Only the first is an answer.
  if (domain?.name !== 'domain') {
    await virsh.read(['domname', uuid], doing, signal)
    return undefined
  }
  const power = powerOf(state)
  const mark = readMark(domain)
  const view = viewDomain(domain, places)
  const liveTree = power === 'running' || power === 'paused' ? parseXml(running) : undefined
  const live = liveTree === undefined ? undefined : viewDomain(liveTree, places)
  const { volumes, ours, unread } = await readVolumes(
    virsh,
    [view, ...(live === undefined ? [] : [live])],
    mark?.uid,
    doing,
    signal,
  )
  const tags = readTags(domain)
  const config: DomainConfig = {
    digest: digestOf(definition),
    name: view.name,
    human: readDescription(domain),
    description: textIn(find(domain, 'description')),
    tags: [...tags, ...(mark === undefined ? [] : ['croft', `croft-${mark.uid}`])].join(';'),
    humanTags: tags,
    onBoot: /^Autostart:\s+enable/m.test(info),
    domain: view,
    live,
    volumes,
    ours,
    unread,
    hidden: places.off ?? [],
    snapshots: words(snapshots).length,
  }
  const { mark: _before, ...rest } = observed
  const seen: ObservedResource = {
    ...rest,
    name: cleanText(view.name),
    power,
    ...(mark === undefined ? {} : { mark }),
    close: {
      digest: config.digest,
      config,
      power,
      birth: `uuid ${uuid}`,
      facts: ranFacts(mark?.uid, live, volumes),
      atMs: clock.now(),
    },
  }
  // Only the guest itself shows whether its seed may be removed.
  const reading = insertedSeed(mark?.uid, live) !== undefined && insertedSeed(mark?.uid, view) !== undefined
  if (power !== 'running' || (!ask.agent && !reading)) return seen
  const [agent, uptimeSeconds] = await Promise.all([
    view.agent ? askAgent(virsh, uuid, doing, signal) : Promise.resolve(UNASKED),
    reading ? uptimeOf(virsh, view.name, doing, signal) : Promise.resolve(undefined),
  ])
  const cloudInit = agent.agent === 'up' && ask.agent ? await askCloudInit(virsh, uuid, doing, signal) : undefined
  const close = seen.close ?? { config, atMs: clock.now() }
  return {
    ...seen,
    ...(uptimeSeconds === undefined ? {} : { uptimeSeconds }),
    close: { ...close, ...agent, ...(cloudInit === undefined ? {} : { cloudInit }) },
  }
}

/** The record keeps which disks ran: such a disk holds data, and is not recreated if its volume is missing. */
function ranFacts(
  uid: string | undefined,
  live: DomainView | undefined,
  volumes: Readonly<Record<string, number>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (live?.disks ?? [])
      .filter(({ pool, volume = '' }) => volumes[`${pool}:${volume}`] !== undefined)
      .filter(({ volume = '' }) => seedHashIn(uid ?? '', volume) === undefined)
      .map(({ dev }) => [ranFact(dev), '1']),
  )
}

interface AgentAnswer {
  readonly agent?: 'up' | 'down'
  readonly addresses?: readonly string[]
}

const UNASKED: AgentAnswer = {}

/** The agent's silence is an answer: it is down. */
async function askAgent(virsh: Virsh, uuid: string, doing: string, signal: AbortSignal): Promise<AgentAnswer> {
  const question = JSON.stringify({ execute: 'guest-network-get-interfaces' })
  const [answer = ''] = await virsh.hear([['qemu-agent-command', '--timeout', '5', uuid, question]], doing, signal)
  const addresses = readAddresses(answer)
  return addresses === undefined ? { agent: 'down' } : { agent: 'up', addresses }
}

/** Returns the result of its first boot. Undefined: its agent may not read files, or has no cloud-init. */
async function askCloudInit(
  virsh: Virsh,
  uuid: string,
  doing: string,
  signal: AbortSignal,
): Promise<CloudInitResult | undefined> {
  const result = await readThroughAgent(virsh, uuid, RESULT_FILE, doing, signal)
  if (result !== undefined) return readCloudInit(result)
  const status = await readThroughAgent(virsh, uuid, STATUS_FILE, doing, signal)
  return status === undefined ? undefined : { state: 'running' }
}

/** Reads one small file of a guest. Undefined: it does not exist, or the agent does not open files. */
async function readThroughAgent(
  virsh: Virsh,
  uuid: string,
  file: string,
  doing: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const words = (execute: string, args: object) =>
    ['qemu-agent-command', '--timeout', '5', uuid, JSON.stringify({ execute, arguments: args })] as const
  const [opened = ''] = await virsh.hear([words('guest-file-open', { path: file, mode: 'r' })], doing, signal)
  const handle = returned(opened)
  if (typeof handle !== 'number') return undefined
  const [read = ''] = await virsh.hear(
    [words('guest-file-read', { handle, count: LIMITS.cloudInitBytes }), words('guest-file-close', { handle })],
    doing,
    signal,
  )
  return fileText(read)
}

/** Prints how long a process has run, by the kernel's own counter: any wall clock may have been set meanwhile. */
const RUNNING_FOR = `set -eu
pid=$(cat -- "$1")
begun=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
echo $(($(cut -d. -f1 /proc/uptime) - begun / $(getconf CLK_TCK)))`

/** Returns how long QEMU has run, by libvirt's pid file. */
async function uptimeOf(virsh: Virsh, name: string, doing: string, signal: AbortSignal): Promise<number | undefined> {
  const argv = ['sh', '-c', RUNNING_FOR, 'croft-uptime', `/run/libvirt/qemu/${name}.pid`]
  const ran = await virsh.run(argv, doing, signal)
  const seconds = Number(ran.stdout.trim() === '' ? Number.NaN : ran.stdout)
  return ran.code === 0 && Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}

async function readVolumes(
  virsh: Virsh,
  views: readonly DomainView[],
  uid: string | undefined,
  doing: string,
  signal: AbortSignal,
): Promise<Pick<DomainConfig, 'volumes' | 'ours' | 'unread'>> {
  const wanted = new Map<string, readonly [string, string]>()
  for (const { pool, volume } of views.flatMap((view) => view.disks))
    if (pool !== undefined && volume !== undefined) wanted.set(`${pool}:${volume}`, [pool, volume])
  const pools = [...new Set([...wanted.values()].map(([pool]) => pool))].sort()
  const ids = [...wanted.keys()].sort()
  const poolAt = [...ids.map((id) => wanted.get(id)?.[0] ?? ''), ...pools]
  const unread: Record<string, string> = {}
  const answers = await virsh.ask(
    [
      ...ids.map((id) => ['vol-dumpxml', '--pool', wanted.get(id)?.[0] ?? '', wanted.get(id)?.[1] ?? '']),
      ...pools.map((pool) => ['vol-list', '--pool', pool]),
    ],
    doing,
    signal,
    (at, { reason, message }) => {
      unread[poolAt[at] ?? ''] = reason === 'PoolInactive' ? 'it is not active' : message
    },
  )
  // A pool that can be listed answers at least with the head of its table.
  for (const [at, pool] of pools.entries())
    if (answers[ids.length + at] === '') unread[pool] ??= 'it is not there any more'
  const volumes: Record<string, number> = {}
  for (const [at, id] of ids.entries()) {
    const bytes = bytesOf(find(parseXml(answers[at] ?? ''), 'capacity'))
    if (bytes !== undefined) volumes[id] = bytes
  }
  const ours = pools.flatMap((pool, at) =>
    volumeNames(answers[ids.length + at] ?? '')
      .filter((name) => uid !== undefined && isVolumeOf(uid, name))
      .map((name) => `${pool}:${name}`),
  )
  return { volumes, ours: ours.sort(), unread }
}

/** Returns the first column of `vol-list`: volume names are file names, and paths start with a slash. */
export function volumeNames(table: string): readonly string[] {
  return words(table).flatMap((line) => /^(\S(?:.*?\S)?)\s{2,}\//.exec(line)?.[1] ?? [])
}

export function powerOf(state: string): PowerState {
  const [first = ''] = words(state)
  if (first === 'running' || first === 'idle' || first === 'in shutdown' || first === 'no state') return 'running'
  if (first === 'paused' || first === 'pmsuspended') return 'paused'
  return first === 'shut off' || first === 'crashed' ? 'stopped' : 'unknown'
}
