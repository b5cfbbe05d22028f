import { macAddress, uuid } from './chance.ts'
import { addHost, addStorage } from './create-world.ts'
import { newGuest, noteSeen, powerOn } from './guest-run.ts'
import type { Volume } from './parts.ts'
import { GIB, MIB } from './sizes.ts'
import type { Guest, Host, World } from './types.ts'
import { volumesOf } from './volumes.ts'

export const PRESETS = ['hosts', 'homelab', 'recording', 'empty'] as const
export type Preset = (typeof PRESETS)[number]

const HOMELAB_HOSTS = ['pumped-piglet', 'still-fawn', 'fun-bedbug']
export const NOBLE = 'import/noble-server-cloudimg-amd64.qcow2'

/** The names of the hosts: the three of the homelab, then numbered ones. */
export function hostNames(wanted: readonly string[] | number | undefined): readonly string[] {
  if (typeof wanted === 'object') return wanted
  const count = wanted ?? HOMELAB_HOSTS.length
  return Array.from({ length: count }, (_, index) => HOMELAB_HOSTS[index] ?? `host-${index + 1}`)
}

/** Hosts with their storages and a token of root, and nothing else. */
export function fillEmpty(world: World, names: readonly string[]): void {
  for (const name of names) addCards(addHost(world, name))
  addStorage(world, { id: 'local', totalBytes: 200 * GIB })
  addStorage(world, {
    id: 'local-zfs',
    type: 'zfspool',
    content: ['images', 'rootdir'],
    path: '',
    totalBytes: 2000 * GIB,
    baseUsedBytes: GIB,
    options: { pool: 'rpool/data', sparse: '1' },
  })
  addUser(world, 'root@pam', undefined)
  addToken(world, 'root@pam', 'croft', false)
}

/** Cards that nothing uses yet: what bridges, bonds and VLANs are made on. */
function addCards({ interfaces }: Host): void {
  for (const [index, name] of ['eno1', 'eno2', 'eno3', 'eno4'].entries())
    interfaces.set(name, { type: 'eth', method: 'manual', method6: 'manual', families: ['inet'], priority: index + 5 })
}

/** Two running guests with the names of K3s servers, and all that a third one needs: the state in which the tour begins. */
export function fillHomelab(world: World, names: readonly string[]): void {
  fillEmpty(world, names)
  const [first, second] = names.map((name) => world.hosts.get(name))
  const last = world.hosts.get('fun-bedbug') ?? [...world.hosts.values()].at(-1)
  if (first !== undefined) addServer(world, first, 109, 'k3s-vm-pumped-piglet-gpu')
  if (second !== undefined) addServer(world, second, 108, 'k3s-vm-still-fawn')
  if (last !== undefined) putFirstBootFiles(world, last)
}

/** Hosts on which a machine can be made at once: each has an image and user data for it. No guest runs yet. */
export function fillHosts(world: World, names: readonly string[]): void {
  fillEmpty(world, names)
  // An installer of Proxmox makes this one, and manifests that name no storage mean it.
  addStorage(world, {
    id: 'local-lvm',
    type: 'lvmthin',
    content: ['images', 'rootdir'],
    path: '',
    totalBytes: 1000 * GIB,
    options: { thinpool: 'data', vgname: 'pve' },
  })
  for (const host of world.hosts.values()) putFirstBootFiles(world, host)
}

function putFirstBootFiles(world: World, host: Host): void {
  putFile(world, host, 'local', 'snippets/k3s-server-fun-bedbug.yaml', {
    format: 'snippet',
    sizeBytes: 1843,
    text: SNIPPET,
  })
  putFile(world, host, 'local', NOBLE, {
    format: 'qcow2',
    sizeBytes: 618_925_568,
    virtualBytes: 3.5 * GIB,
    system: { agent: true, acpi: true },
    checksumSeed: 'noble',
  })
}

const SNIPPET = '#cloud-config\nhostname: k3s-vm-fun-bedbug\npackages:\n  - qemu-guest-agent\n'

/** Machines that a person made by hand, long ago: they carry no mark. */
function addServer(world: World, host: Host, vmid: number, name: string): void {
  addRunningGuest(world, host, vmid, {
    name,
    cores: '4',
    memory: '16384',
    agent: '1',
    cpu: 'host',
    onboot: '1',
    ostype: 'l26',
    scsihw: 'virtio-scsi-pci',
    scsi0: 'local-zfs:200',
    net0: `virtio=${macAddress(world.random)},bridge=vmbr0`,
  })
}

/** Guests as many declarations would make them, running, spread over the hosts. */
export function fillGuests(world: World, count: number): void {
  const hosts = [...world.hosts.values()]
  for (let index = 0; index < count; index++) {
    const host = hosts[index % hosts.length]
    const vmid = 1000 + index
    if (host === undefined) return
    addRunningGuest(world, host, vmid, {
      name: `vm-${vmid}`,
      cores: '2',
      memory: '2048',
      agent: '1',
      ostype: 'l26',
      scsihw: 'virtio-scsi-pci',
      scsi0: 'local-zfs:10',
      net0: `virtio=${macAddress(world.random)},bridge=vmbr0`,
    })
  }
}

/** A guest that runs and has run for an hour. Disks are written `storage:GiB`. */
export function addRunningGuest(
  world: World,
  host: Host,
  vmid: number,
  options: Readonly<Record<string, string>>,
): Guest {
  const guest = addGuest(world, host, vmid, options)
  powerOn(world, host, guest, 0)
  guest.run.startedAtMs -= 3_600_000
  guest.run.bootedAtMs = guest.run.startedAtMs + 20_000
  backdate(world, guest)
  return guest
}

export function addGuest(world: World, host: Host, vmid: number, options: Readonly<Record<string, string>>): Guest {
  const config = new Map<string, string>()
  for (const [key, value] of Object.entries(options)) {
    const disk = /^([^:]+):(\d+)$/.exec(value)
    config.set(key, disk === null ? value : diskFor(world, host, vmid, disk[1] ?? '', Number(disk[2])))
  }
  if (!config.has('boot')) config.set('boot', config.has('scsi0') ? 'order=scsi0;net0' : 'order=net0')
  config.set('smbios1', `uuid=${uuid(world.random)}`)
  config.set('vmgenid', uuid(world.random))
  config.set('meta', `creation-qemu=10.0.13,ctime=${Math.floor(world.clock.now() / 1000) - 86_400}`)
  const guest = newGuest(vmid, 'qemu', host.name, config)
  world.guests.set(vmid, guest)
  backdate(world, guest)
  return guest
}

/** As if the status daemon had known it for a long time. */
function backdate(world: World, guest: Guest): void {
  noteSeen(world, guest)
  const entry = guest.seen.pop()
  guest.seen.length = 0
  if (entry !== undefined) guest.seen.push({ ...entry, atMs: 0 })
}

function diskFor(world: World, host: Host, vmid: number, storage: string, gib: number): string {
  const entry = world.storages.get(storage)
  const name = entry?.files ? `${vmid}/vm-${vmid}-disk-0.raw` : `vm-${vmid}-disk-0`
  putVolume(world, host, storage, {
    name,
    content: 'images',
    format: 'raw',
    sizeBytes: gib * GIB,
    usedBytes: 2 * GIB,
    vmid,
    ctimeSeconds: Math.floor(world.clock.now() / 1000) - 86_400,
    system: { agent: true, acpi: true },
  })
  return `${storage}:${name},size=${gib}G`
}

export function putFile(
  world: World,
  host: Host,
  storage: string,
  name: string,
  file: Partial<Volume> & { readonly format: string; readonly sizeBytes: number },
): void {
  putVolume(world, host, storage, {
    name,
    content: name.slice(0, name.indexOf('/')),
    ctimeSeconds: Math.floor(world.clock.now() / 1000) - 1_500,
    ...file,
  })
}

function putVolume(_world: World, host: Host, storage: string, volume: Volume): void {
  volumesOf(host, storage).set(volume.name, volume)
}

export function addUser(world: World, id: string, password: string | undefined): void {
  world.access.users.set(id, { password, enable: true, expireSeconds: 0, tokens: new Map(), details: {} })
}

export function addToken(world: World, user: string, name: string, privsep: boolean): void {
  world.access.users.get(user)?.tokens.set(name, { secret: uuid(world.random), privsep, expireSeconds: 0 })
}

/** The state that the recordings of the real daemon begin with. */
export function fillRecording(world: World): void {
  const host = addHost(world, 'pve1', { address: '192.168.100.11', cpus: 2, memoryBytes: 8 * GIB })
  addStorage(world, { id: 'local', totalBytes: 270_553_174_016, baseUsedBytes: 49_770_508_288 })
  addUser(world, 'root@pam', 'rootpw123')
  addUser(world, 'admin@pve', 'secret123')
  addToken(world, 'admin@pve', 't1', false)
  addToken(world, 'admin@pve', 'tps', true)
  world.access.acl.push({ path: '/', type: 'user', ugid: 'admin@pve', roleid: 'Administrator', propagate: true })
  // The recorded machine had virtual cards in the slots that the recordings name.
  const cards = ['1045 ffff00', '1042 018000', '1041 020000', '1053 ffff00', '1044 ffff00']
  for (const [index, card] of cards.entries()) {
    const [chip, kind] = card.split(' ')
    const id = `1af4:${chip}`
    host.pci.push({ path: `0000:00:0${index + 1}.0`, id, subsystem: id, class: `0x${kind}` })
  }
  const image = { sizeBytes: 196_616, virtualBytes: 64 * MIB }
  putFile(world, host, 'local', 'import/cloud.qcow2', { format: 'qcow2', ...image })
  putFile(world, host, 'local', 'iso/cloud.img', { format: 'iso', ...image })
  putFile(world, host, 'local', 'snippets/u.yaml', { format: 'snippet', sizeBytes: 14, text: '#cloud-config\n' })
  for (const name of ['n', 'm', 'v']) {
    putFile(world, host, 'local', `snippets/${name}.yaml`, {
      format: 'snippet',
      sizeBytes: 14,
      text: '#cloud-config\n',
    })
  }
  for (const [name, exit] of [
    ['hook', 0],
    ['failhook', 7],
    ['noexec', undefined],
  ] as const) {
    putFile(world, host, 'local', `snippets/${name}.sh`, {
      format: 'snippet',
      sizeBytes: 20,
      ...(exit === undefined ? {} : { script: { exit } }),
    })
  }
  const backups = ['100-2026_11_01-01', '100-2026_11_02-01', '100-2026_11_03-01', '100-2026_11_04-01']
  for (const name of [...backups, '100-2026_11_05-01', '101-2026_11_01-02']) {
    const seconds = Date.parse(`${name.slice(4, 14).replaceAll('_', '-')}T${name.slice(15)}:00:00Z`) / 1000
    const file = { format: 'vma.zst', sizeBytes: 1, ctimeSeconds: seconds, vmid: Number(name.slice(0, 3)) }
    putFile(world, host, 's2', `backup/vzdump-qemu-${name}_00_00.vma.zst`, file)
  }
  const sum = 'ba5d2bdef059224e8b1949def8228f5f3e4f66098dffde141623bdecaa310a58'
  world.downloads.set('http://127.0.0.1:18080/ok.iso', {
    sizeBytes: 10_000,
    virtualBytes: 10_000,
    sha256: sum,
    sha512: '',
    mimetype: 'application/x-iso9660-image',
  })
  putFile(world, host, 'local', 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst', { format: 'tzst', sizeBytes: 617 })
}

export function allTokens(world: World): Record<string, string> {
  const tokens: Record<string, string> = {}
  for (const [user, entry] of world.access.users) {
    for (const [name, token] of entry.tokens) tokens[`${user}!${name}`] = token.secret
  }
  return tokens
}
