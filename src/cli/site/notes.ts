import type { Origin } from '../../model/declaration.ts'
import type { SettingValue } from '../../model/rest.ts'
import type { Site, SiteDevice, SiteFile, SiteGuest, SitePart, SiteStorage } from '../../model/site.ts'

const GIB = 2 ** 30
/** Default size of a simulated host. */
const USUAL = { cpus: 16, memoryBytes: 64 * GIB, storageBytes: 500 * GIB }
/** Content types that only file storages have. */
const FILE_CONTENT = new Set(['iso', 'vztmpl', 'snippets', 'import', 'backup', 'files'])

interface NotedHost {
  readonly from: Origin
  readonly bridges: Map<string, Origin>
  readonly cards: Map<string, Origin>
  readonly pci: Map<string, SiteDevice>
  readonly usb: Map<string, SiteDevice>
  memoryMb: number
  cpus: number
}

interface NotedStorage {
  readonly from: Origin
  readonly content: Set<string>
  /** GiB of declared disks by host. */
  readonly hosts: Map<string, number>
  /** A declaration names it without a host. */
  everywhere: boolean
  fields: Readonly<Record<string, SettingValue>>
}

/** Collects named things, each with the first place that names it. */
export type Notes = ReturnType<typeof createNotes>

export function createNotes(made: ReadonlySet<string>) {
  const hosts = new Map<string, NotedHost>()
  const storages = new Map<string, NotedStorage>()
  const pools = new Map<string, Origin>()
  const files = new Map<string, SiteFile>()

  function host(name: string, from: Origin): NotedHost {
    const known = hosts.get(name)
    if (known !== undefined) return known
    const noted = { from, bridges: new Map(), cards: new Map(), pci: new Map(), usb: new Map(), memoryMb: 0, cpus: 0 }
    hosts.set(name, noted)
    return noted
  }

  function storage(
    name: string,
    on: string | undefined,
    content: readonly string[],
    from: Origin,
    gib = 0,
  ): NotedStorage | undefined {
    if (on !== undefined) host(on, from)
    if (made.has(`storage ${name}`)) return undefined
    const noted = storages.get(name) ?? { from, content: new Set(), hosts: new Map(), everywhere: false, fields: {} }
    storages.set(name, noted)
    for (const one of content) noted.content.add(one)
    if (on === undefined) noted.everywhere = true
    else noted.hosts.set(on, (noted.hosts.get(on) ?? 0) + gib)
    return noted
  }

  return {
    host,
    storage,
    /** Adds a declared guest's needs, so that the simulated host is large enough. */
    load(name: string, memoryMb: number, cpus: number): void {
      const noted = hosts.get(name)
      if (noted === undefined) return
      noted.memoryMb += memoryMb
      noted.cpus = Math.max(noted.cpus, cpus)
    },
    bridge(on: string, name: string, from: Origin): void {
      const { bridges } = host(on, from)
      if (made.has(`interface ${on} ${name}`) || made.has(`vnet ${name}`) || bridges.has(name)) return
      bridges.set(name, from)
    },
    card(on: string, name: string, from: Origin): void {
      const { cards } = host(on, from)
      if (!made.has(`interface ${on} ${name}`) && !cards.has(name)) cards.set(name, from)
    },
    device(sort: 'pci' | 'usb', on: string, name: string, id: string, from: Origin): void {
      const noted = host(on, from)[sort]
      // A mapping describes the device; a mere use does not.
      if (!noted.has(name) || id !== '8086:0000') noted.set(name, { name, id, from })
    },
    pool(name: string, from: Origin): void {
      if (!made.has(`pool ${name}`) && !pools.has(name)) pools.set(name, from)
    },
    /** `local:import/noble.qcow2`; anything else is no file on a storage. */
    file(on: string, volume: string | undefined, from: Origin): void {
      const [, name, file] = /^([A-Za-z][\w.-]*):((iso|vztmpl|snippets|import)\/.+)$/.exec(volume ?? '') ?? []
      if (name === undefined || file === undefined) return
      storage(name, on, [file.slice(0, file.indexOf('/'))], from)
      if (made.has(`file ${on} ${volume}`) || made.has(`storage ${name}`)) return
      const key = `${on} ${volume}`
      if (!files.has(key)) files.set(key, { name: file, storage: name, host: on, from })
    },
    /** A storage entry that is there already, as it is declared. */
    storageEntry(
      name: string,
      fields: Readonly<Record<string, SettingValue>>,
      on: readonly string[],
      from: Origin,
    ): void {
      for (const one of on.length === 0 ? [undefined] : on) {
        const noted = storage(name, one, [], from)
        if (noted !== undefined) noted.fields = fields
      }
    },
    /** A storage of a host that can hold a disk. Every host has `local`. */
    storageFor(on: string): string {
      return [...storages].find(([, noted]) => noted.content.has('images') && noted.hosts.has(on))?.[0] ?? 'local'
    },
    site(guests: readonly SiteGuest[]): Site {
      return {
        hosts: [...hosts].map(([name, noted]) => ({
          name,
          cpus: Math.max(USUAL.cpus, noted.cpus),
          memoryBytes: Math.max(USUAL.memoryBytes, Math.ceil((noted.memoryMb * 1.5) / 1024) * GIB),
          bridges: withInstalled(partsOf(noted.bridges), 'vmbr0', made.has(`interface ${name} vmbr0`)),
          cards: partsOf(noted.cards),
          pci: [...noted.pci.values()],
          usb: [...noted.usb.values()],
          from: noted.from,
        })),
        storages: withInstalled([...storages].map(storageOf), 'local', false).map((one) => ({ type: 'dir', ...one })),
        pools: partsOf(pools),
        guests,
        files: [...files.values()],
      }
    },
  }
}

function partsOf(parts: ReadonlyMap<string, Origin>): readonly SitePart[] {
  return [...parts].map(([name, from]) => ({ name, from }))
}

/** The installer of Proxmox makes these on every host, so they are there unless a declaration makes them. */
function withInstalled<Part extends SitePart>(parts: readonly Part[], name: string, made: boolean) {
  return made || parts.some((part) => part.name === name) ? parts : [{ name }, ...parts]
}

function storageOf([name, { from, content, hosts, everywhere, fields }]: readonly [string, NotedStorage]): SiteStorage {
  const type = typeof fields.type === 'string' ? fields.type : typeFor(name, content)
  const gib = Math.max(0, ...hosts.values())
  return {
    name,
    type,
    ...(Array.isArray(fields.content) ? { content: fields.content.map(String) } : {}),
    bytes: Math.max(USUAL.storageBytes, gib * 2 * GIB),
    ...(fields.shared === true ? { shared: true } : {}),
    // Every installation has `local` on all hosts.
    ...(everywhere || name === 'local' ? {} : { hosts: [...hosts.keys()] }),
    from,
  }
}

/** Guesses a storage's type, which manifests do not state: by its content, or the installer's default names. */
function typeFor(name: string, content: ReadonlySet<string>): string {
  if (name === 'local' || [...content].some((one) => FILE_CONTENT.has(one))) return 'dir'
  return name.includes('lvm') ? 'lvmthin' : 'zfspool'
}
