import type { Volume } from '../world/parts.ts'
import type { Guest, Host, World } from '../world/types.ts'
import { volumesOf } from '../world/volumes.ts'

/** A domain as libvirt keeps it. The machine that runs is a guest of the simulated world like any other. */
export interface Domain {
  readonly uuid: string
  name: string
  /** The persistent XML as written, used from the next start. */
  definition: string
  /** The live XML, while it runs. */
  live: string | undefined
  autostart: boolean
  readonly snapshots: string[]
  readonly guest: Guest
}

/** A network or pool as libvirt keeps it. */
export interface SimPlace {
  readonly name: string
  readonly uuid: string
  /** The persistent XML as written, used from the next start. */
  definition: string
  /** The live XML, while it is active. */
  live: string | undefined
  autostart: boolean
}

export interface SimPool extends SimPlace {
  readonly path: string
  readonly totalBytes: number
  /** Is its directory there? */
  built: boolean
}

/** One host with libvirt. */
export interface LibvirtHost {
  readonly world: World
  readonly host: Host
  /** Another board, or another installation. */
  identity: { readonly uuid: string; readonly machineId: string }
  /** What virsh says instead of an answer, by its command. */
  readonly failing: Map<string, string>
  readonly domains: Map<string, Domain>
  readonly pools: Map<string, SimPool>
  readonly networks: Map<string, SimPlace>
  /** Jobs that were started on the host, by their id. */
  readonly jobs: Map<string, { state: 'running' | 'done' | 'failed'; log: string }>
  /** Other computers on its networks, by address, which libvirt does not know. */
  readonly neighbours: Map<string, { readonly mac: string; readonly state: 'REACHABLE' | 'STALE' }>
  /** What its DHCP server has given away, by address. */
  readonly leases: Map<string, { readonly mac: string; readonly name: string }>
}

/** By its name or its UUID, as libvirt takes both. */
export function poolNamed({ pools }: LibvirtHost, word: string): SimPool | undefined {
  return pools.get(word) ?? [...pools.values()].find(({ uuid }) => uuid === word)
}

export function volumes({ host }: LibvirtHost, pool: string): Map<string, Volume> {
  return volumesOf(host, pool)
}

export function textIn(xml: string, element: string): string | undefined {
  const found = new RegExp(`<${element}(?:\\s[^>]*)?>([^<]*)</${element}>`).exec(xml)?.[1]
  return found === undefined ? undefined : unescaped(found)
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', apos: "'", quot: '"', amp: '&' }

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|apos|quot|amp);/g, (_, name: string) => ENTITIES[name] ?? '')
}

export interface SimDisk {
  readonly text: string
  readonly dev: string
  readonly path: string | undefined
}

/** The disks of a definition, in the order in which they stand there. */
export function disksIn(xml: string): readonly SimDisk[] {
  return [...xml.matchAll(/<disk\s[^>]*>.*?<\/disk>/gs)].map(([text]) => {
    const path = /<source\s[^>]*(?:file|dev)='([^']*)'/.exec(text)?.[1]
    return { text, dev: /<target\s[^>]*dev='([^']*)'/.exec(text)?.[1] ?? '', path }
  })
}

export function withoutDisk(xml: string, dev: string): string {
  const disk = disksIn(xml).find((one) => one.dev === dev)
  return disk === undefined ? xml : xml.replace(disk.text, '')
}

/** `pool:volume` of a path on this host. */
export function volumeAt({ pools }: LibvirtHost, path: string): { pool: string; name: string } | undefined {
  for (const [pool, { path: root }] of pools)
    if (path.startsWith(`${root}/`)) return { pool, name: path.slice(root.length + 1) }
  return undefined
}

/** What the simulated machine knows of itself, from the definition that it is started with. */
export function guestConfig(at: LibvirtHost, domain: Domain): Map<string, string> {
  const { definition: xml } = domain
  const config = new Map<string, string>([
    ['name', domain.name],
    ['cores', textIn(xml, 'vcpu') ?? '1'],
    ['memory', String(Math.round(Number(textIn(xml, 'memory') ?? '0') / 1024))],
    ['smbios1', `uuid=${domain.uuid}`],
    ['agent', xml.includes('org.qemu.guest_agent.0') ? '1' : '0'],
    ['boot', 'order=scsi0'],
  ])
  let next = 0
  for (const disk of disksIn(xml)) {
    const place = disk.path === undefined ? undefined : volumeAt(at, disk.path)
    if (place === undefined) continue
    if (place.name.endsWith('.iso')) config.set('ide2', `${place.pool}:${place.name},media=cdrom`)
    else config.set(`scsi${next++}`, `${place.pool}:${place.name}`)
  }
  for (const [index, [text]] of [...xml.matchAll(/<interface\s[^>]*>.*?<\/interface>/gs)].entries()) {
    const mac = /<mac\s[^>]*address='([^']*)'/.exec(text)?.[1] ?? ''
    config.set(`net${index}`, `virtio=${mac.toUpperCase()},bridge=vmbr0`)
  }
  return config
}
