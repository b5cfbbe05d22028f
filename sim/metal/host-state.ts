import type { Box } from '../world/types.ts'
import { REVERTS, runRevert } from './host-revert.ts'

/** State of a box other than files and services, as far as its configuration shows it. */
export interface HostState {
  /** The start of the box for which what happens at every start has happened. */
  life: number
  readonly rights: Map<string, Rights>
  /** Links and where they lead. */
  readonly links: Map<string, string>
  /** Installed packages with their versions. */
  readonly packages: Map<string, string>
  readonly users: Map<string, User>
  readonly sysctl: Map<string, string>
  readonly modules: Set<string>
  /** By their ids: `/dev/disk/by-id/…`. */
  readonly disks: Map<string, Disk>
  /** What is mounted where. */
  readonly mounts: Map<string, { readonly device: string; readonly fs: string }>
  readonly pools: Map<string, Pool>
  /** ZFS datasets with the properties that were set. */
  readonly datasets: Map<string, Map<string, string>>
  /** Cards: a line each, as the kernel shows them: slot, vendor:device, class, IOMMU group. */
  readonly cards: string[]
  /** Changes that were armed: the deadline of each. */
  readonly armed: Map<string, number>
  /** A program that fails the next time that it is run, with its arguments. */
  breaksOnce?: string | undefined
  /** So many commands from now the box loses its power, and comes back by itself. */
  cutAfter?: number | undefined
  /** Copies of files as they were before a change, by the folder that croft keeps them in. */
  readonly copies: Map<string, ReadonlyMap<string, Uint8Array | undefined>>
  /** Everything that was done to it, a line each: what a test counts. */
  readonly deeds: string[]
}

export interface Rights {
  readonly mode: string
  readonly owner: string
  readonly group: string
}

export interface User {
  readonly uid: number
  home: string
  shell: string
  readonly groups: Set<string>
}

export interface Disk {
  readonly serial: string
  /** `ext4`, `btrfs`; empty: nothing is on it. */
  content: string
  label: string
  readonly subvolumes: Set<string>
}

/** A pool as its host knows it. */
export interface Pool {
  readonly devices: string[]
  readonly properties: Map<string, string>
}

const STATES = new WeakMap<Box, HostState>()

/** The state of a box, with what its last start brought into force. */
export function hostStateOf(box: Box): HostState {
  let state = STATES.get(box)
  if (state === undefined) {
    state = {
      life: box.life,
      rights: new Map(),
      links: new Map([['/etc/localtime', '/usr/share/zoneinfo/Etc/UTC']]),
      packages: new Map([...SYSTEM_PACKAGES].map((name) => [name, '1.0-1'])),
      users: new Map([
        ['root', { uid: 0, home: '/root', shell: '/bin/bash', groups: new Set(['root']) }],
        ['k3s', { uid: 1000, home: '/home/k3s', shell: '/bin/bash', groups: new Set(['k3s', 'sudo']) }],
      ]),
      sysctl: new Map(),
      modules: new Set(),
      disks: new Map(),
      mounts: new Map(),
      pools: new Map(),
      datasets: new Map(),
      cards: [],
      armed: new Map(),
      copies: new Map(),
      deeds: [],
    }
    STATES.set(box, state)
  }
  if (state.life !== box.life) {
    state.life = box.life
    state.deeds.push('boot')
    startsAnew(box, state)
  }
  return state
}

/** Its system disk is empty again; what lies on other disks stays there. */
export function forgetHost(box: Box): void {
  const disks = STATES.get(box)?.disks ?? new Map<string, Disk>()
  STATES.delete(box)
  for (const [id, disk] of disks) hostStateOf(box).disks.set(id, disk)
}

export function addDisk(box: Box, id: string, serial: string, content = ''): void {
  hostStateOf(box).disks.set(`/dev/disk/by-id/${id}`, { serial, content, label: '', subvolumes: new Set() })
}

/** How it starts its kernel: as a Raspberry Pi does, or with grub. */
export function addBoot(box: Box, how: 'raspberry-pi' | 'grub'): void {
  const { files } = box.machine
  if (how === 'raspberry-pi') files.write('/boot/firmware/cmdline.txt', 'console=tty1 root=PARTUUID=1 rootwait\n')
  else files.write('/etc/default/grub', 'GRUB_DEFAULT=0\nGRUB_CMDLINE_LINUX_DEFAULT="quiet"\n')
  files.write('/proc/cmdline', `${commandLine(box)}\n`)
}

/** What modprobe was told when the kernel started. */
export const BOUND_AT_START = '/proc/croft/modprobe'

const SYSTEM_PACKAGES = ['openssh-server', 'sudo', 'procps', 'kmod', 'iproute2', 'python3']

/** What the kernel and systemd do at every start: from files alone, so that what was only done by hand is gone. */
function startsAnew(box: Box, state: HostState): void {
  const { files, active, enabled } = box.machine
  for (const name of files.list(REVERTS))
    if (runRevert(box, `${REVERTS}${name}`, state.copies)) state.deeds.push(`revert ${name}`)
  state.armed.clear()
  files.write('/proc/cmdline', `${commandLine(box)}\n`)
  files.write(BOUND_AT_START, textAt(box, '/etc/modprobe.d/croft-vfio.conf'))
  const linesIn = (folder: string) => files.list(folder).flatMap((name) => textAt(box, `${folder}/${name}`).split('\n'))
  state.modules.clear()
  for (const line of linesIn('/etc/modules-load.d')) if (/^[a-z]/.test(line)) state.modules.add(line.trim())
  state.sysctl.clear()
  for (const line of linesIn('/etc/sysctl.d')) {
    const [key = '', value = ''] = line.split('=')
    if (value !== '') state.sysctl.set(key.trim(), value.trim())
  }
  state.mounts.clear()
  for (const line of textAt(box, '/etc/fstab').split('\n')) mountLine(state, line)
  active.clear()
  for (const unit of enabled) if (unit !== 'k3s' && unit !== 'k3s-agent') active.add(unit)
}

export function textAt(box: Box, path: string): string {
  return Buffer.from(box.machine.files.read(path) ?? []).toString('utf8')
}

/** The disk of this name or label. */
export function deviceOf({ disks }: HostState, name: string): string | undefined {
  return [...disks].find(([one, { label }]) => one === name || (label !== '' && `LABEL=${label}` === name))?.[0]
}

/** Mounts what a line of fstab says, when its disk is there. */
export function mountLine(state: HostState, line: string): boolean {
  const [device = '', path = '', fs = ''] = line.trim().split(/\s+/)
  if (device === '' || device.startsWith('#') || path === '') return false
  const id = deviceOf(state, device)
  if (id === undefined) return false
  state.mounts.set(path, { device: id, fs })
  return true
}

function commandLine(box: Box): string {
  const pi = textAt(box, '/boot/firmware/cmdline.txt').trim()
  if (pi !== '') return pi
  const grub = /^GRUB_CMDLINE_LINUX_DEFAULT="([^"]*)"$/m.exec(textAt(box, '/etc/default/grub'))?.[1]
  return `BOOT_IMAGE=/boot/vmlinuz root=/dev/sda1 ro${grub === undefined ? '' : ` ${grub}`}`
}
