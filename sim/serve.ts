import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { RELEASES } from '../src/k3s/releases.ts'
import { SIM_CLOCK_HEADER } from '../src/lib/clock.ts'
import { defined } from '../src/lib/defined.ts'
import { LIMITS } from '../src/lib/limits.ts'
import { seededRandom } from '../src/lib/random.ts'
import type { WireResponse } from '../src/lib/wire.ts'
import { createKeyPair, issueCertificate, privateKeyPem } from '../src/lib/x509.ts'
import { createDatacentre, type Datacentre, type DatacentreOptions } from './datacentre.ts'
import { createHeadStart } from './head-start-clock.ts'
import { formHomelabCluster } from './k3s/homelab-cluster.ts'
import { releaseChecksum } from './k3s/install.ts'
import { type ClusterProxy, serveClusters } from './kubernetes/proxy.ts'
import { all } from './kubernetes/store.ts'
import { createScaledClock } from './scaled-clock.ts'
import type { SimClock } from './sim-clock.ts'
import type { Stats } from './stats.ts'
import type { TerminalDoor } from './terminal-door.ts'
import { guestName } from './world/guest-config.ts'
import { agentAnswers } from './world/guest-run.ts'
import { PRESETS, type Preset } from './world/presets.ts'
import type { Guest, World } from './world/types.ts'

export interface ServedDatacentre {
  readonly endpoint: string
  readonly fingerprint: string
  /** `root@pam!croft=…` */
  readonly token: string
  readonly tokens?: Readonly<Record<string, string>>
  readonly datacentre: Datacentre
  close(): Promise<void>
}

export interface SimulatorOptions extends Pick<DatacentreOptions, 'hosts' | 'vms' | 'site' | 'timing'> {
  readonly preset?: string
  /** Any that is free unless given. */
  readonly port?: number
  readonly host?: string
  readonly seed?: number
  readonly speed?: number
  /** Also serve a proxy through which the Kubernetes APIs of simulated clusters are reached by their addresses. */
  readonly proxy?: boolean
}

/** A guest as it really is, past every API. */
export interface SimulatedGuest {
  readonly vmid: number
  readonly host: string
  readonly name: string
  readonly running: boolean
  readonly booted: boolean
  /** Does the agent inside answer? */
  readonly agent: boolean
  readonly startedAtMs: number
  readonly config: Readonly<Record<string, string>>
  /** Its disks as `storage:name`, with their sizes. */
  readonly disks: readonly { readonly volume: string; readonly bytes: number }[]
}

export interface RunningSimulator extends ServedDatacentre {
  /** For HTTPS_PROXY, when it was asked for. */
  readonly proxy?: string
  /** The first line that `croft sim` prints, as data. */
  readonly announcement: Readonly<Record<string, unknown>>
  readonly clock: SimClock
  stats(): Stats
  hosts(): readonly string[]
  guests(): readonly SimulatedGuest[]
  nodes(): readonly { readonly name: string; readonly ready: boolean; readonly votes: boolean }[]
  releaseChecksum(version: string): string
  patchGuest(vmid: number, patch: Readonly<Record<string, unknown>>): void
  hostPower(name: string, power: 'on' | 'off'): void
}

const HOUR_MS = 3_600_000

/** Starts what `croft sim` serves: a datacentre with a separate clock, over HTTPS. */
export async function startSimulator(options: SimulatorOptions): Promise<RunningSimulator> {
  const { hosts, vms, site, timing } = options
  const preset = presetOf(options.preset)
  const [speed, startMs] = [options.speed ?? 1, Date.now()]
  const scaled = createScaledClock(speed, startMs)
  // Only the homelab has something in it that took time to become what it is.
  const headStart = preset === 'homelab' && site === undefined ? createHeadStart(scaled, HOUR_MS) : undefined
  const clock = headStart?.clock ?? scaled
  const datacentre = createDatacentre({
    clock,
    random: seededRandom(options.seed ?? 1),
    preset,
    ...defined({ hosts, vms, site, timing }),
  })
  if (headStart !== undefined) {
    await formHomelabCluster(datacentre.world, headStart.past)
    await headStart.letGo()
  }
  const served = await serveDatacentre(datacentre, {
    port: options.port ?? 0,
    ...defined({ host: options.host }),
    showTokens: preset === 'recording',
    ...(speed === 1 ? {} : { clock: `${speed}@${startMs}` }),
  })
  const { endpoint, fingerprint, token, tokens } = served
  let clusters: ClusterProxy | undefined
  if (options.proxy === true) {
    clusters = await serveClusters(datacentre.world, options.host === undefined ? {} : { host: options.host })
  }
  const proxy = clusters === undefined ? {} : { proxy: clusters.url }
  return {
    ...served,
    ...proxy,
    clock,
    announcement: {
      endpoint,
      fingerprint,
      token,
      ...(tokens ? { tokens } : {}),
      ...(speed === 1 ? {} : { clock: `${speed}@${startMs}` }),
      ...proxy,
      ...(clusters === undefined ? {} : { k3s: checksums() }),
    },
    close: async () => {
      await clusters?.close()
      await served.close()
    },
    stats: () => datacentre.stats(),
    hosts: () => [...datacentre.world.hosts.keys()],
    nodes: () => simulatedNodes(datacentre.world),
    releaseChecksum,
    patchGuest: (vmid, patch) => datacentre.patchGuest(vmid, patch),
    hostPower: (name, power) => datacentre.hostPower(name, power),
    guests: () => [...datacentre.world.guests.values()].map((guest) => simulatedGuest(datacentre.world, guest)),
  }
}

/** What a Cluster must say under `checksums` to be formed here: the simulated programs are not the real ones. */
function checksums(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    RELEASES.filter(({ minor }) => minor >= 33).map(({ version }) => [`${version}/amd64`, releaseChecksum(version)]),
  )
}

/** Every node of every simulated cluster: does its own Node say Ready, and has it a vote? */
function simulatedNodes(world: World): ReturnType<RunningSimulator['nodes']> {
  return [...world.k3s.clusters.values()].flatMap((cluster) => {
    const voters = new Set([...cluster.members.values()].filter(({ learner }) => !learner).map(({ name }) => name))
    return all(cluster.store, '/nodes').map((node) => {
      const { status } = node as { readonly status?: { readonly conditions?: readonly NodeCondition[] } }
      return {
        name: node.metadata.name,
        ready: status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true,
        votes: [...voters].some((name) => name.replace(/-[0-9a-f]{8}$/, '') === node.metadata.name),
      }
    })
  })
}

interface NodeCondition {
  readonly type: string
  readonly status: string
}

function simulatedGuest(world: World, guest: Guest): SimulatedGuest {
  return {
    vmid: guest.vmid,
    host: guest.node,
    name: guestName(guest),
    running: guest.run.status === 'running',
    booted: guest.run.bootedAtMs !== undefined && guest.run.bootedAtMs <= world.clock.now(),
    agent: agentAnswers(guest),
    startedAtMs: guest.run.startedAtMs,
    config: Object.fromEntries(guest.config),
    disks: [...(world.hosts.get(guest.node)?.volumes ?? [])].flatMap(([storage, volumes]) =>
      [...volumes.values()]
        .filter((volume) => volume.vmid === guest.vmid)
        .map((volume) => ({ volume: `${storage}:${volume.name}`, bytes: volume.sizeBytes })),
    ),
  }
}

function presetOf(name: string | undefined): Preset {
  if (name === undefined) return 'hosts'
  const preset = PRESETS.find((one) => one === name)
  if (preset === undefined) throw new Error(`there is no preset "${name}": take ${PRESETS.join(', ')}`)
  return preset
}

/** Serves the Proxmox API, and the simulator's own door, with a certificate made for this run. */
export async function serveDatacentre(
  datacentre: Datacentre,
  options: {
    readonly port: number
    readonly host?: string
    readonly showTokens?: boolean
    /** Sent with every answer, so that a client that compares clocks skips this one. */
    readonly clock?: string
  },
): Promise<ServedDatacentre> {
  const host = options.host ?? '127.0.0.1'
  const certificate = ownCertificate(host, datacentre.world.clock.now())
  const tls: ServerOptions = { key: certificate.key, cert: certificate.pem, keepAliveTimeout: 5_000 }
  const server = createServer(tls, (request, response) => {
    if (options.clock !== undefined) response.setHeader(SIM_CLOCK_HEADER, options.clock)
    void exchange(datacentre, request, response)
  })
  // Loaded when the first terminal is opened: most runs open none.
  let terminals: Promise<TerminalDoor> | undefined
  server.on('upgrade', (request, socket, head) => {
    terminals ??= openTerminals(datacentre)
    void terminals.then((door) => door.upgrade(request, socket, head))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    fingerprint: certificate.fingerprint,
    token: datacentre.token,
    ...(options.showTokens ? { tokens: datacentre.tokens } : {}),
    datacentre,
    close: () =>
      new Promise((resolve) => {
        void terminals?.then((door) => door.close())
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function openTerminals(datacentre: Datacentre): Promise<TerminalDoor> {
  const { createTerminalDoor } = await import('./terminal-door.ts')
  return createTerminalDoor(datacentre.world, (request) => datacentre.handle(request))
}

function ownCertificate(host: string, nowMs: number): { key: string; pem: string; fingerprint: string } {
  const keys = createKeyPair()
  const subject = { commonName: 'croft-sim', organizations: ['croft simulated datacentre'] }
  const yearMs = 365 * 86_400_000
  const made = issueCertificate(
    {
      subject,
      publicKey: keys.publicKey,
      altNames: [...new Set(['localhost', '127.0.0.1', '::1', host])],
      usages: ['serverAuth'],
      notBefore: new Date(nowMs - 86_400_000),
      notAfter: new Date(nowMs + 2 * yearMs),
    },
    { subject, privateKey: keys.privateKey },
  )
  return { key: privateKeyPem(keys.privateKey), pem: made.pem, fingerprint: made.fingerprint }
}

async function exchange(datacentre: Datacentre, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const body = await readBody(request)
    const headers: Record<string, string> = {}
    for (const [name, value] of Object.entries(request.headers))
      headers[name] = Array.isArray(value) ? value.join(', ') : (value ?? '')
    const path = request.url ?? '/'
    const method = request.method ?? 'GET'
    const answer = await datacentre.handle({ method, path, headers, ...(body.length > 0 ? { body } : {}) })
    // Its own clock, as a real host: else a refused login looks like clocks that are apart.
    response.setHeader('Date', new Date(datacentre.world.clock.now()).toUTCString())
    write(response, answer, method)
  } catch {
    // A lost connection is what the fault asked for, and what a broken request deserves.
    request.socket.destroy()
  }
}

function write(response: ServerResponse, answer: WireResponse, method: string): void {
  const bytes = Buffer.from(answer.body, 'utf8')
  const headers: Record<string, string | number> = { ...answer.headers, 'Content-Length': bytes.length }
  if (answer.status >= 400) headers.Connection = 'close'
  // The status line carries the error text; what cannot stand there is shown as a question mark.
  response.writeHead(answer.status, answer.reason.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?'), headers)
  response.end(method === 'HEAD' ? undefined : bytes)
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > LIMITS.shellFileBytes) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
