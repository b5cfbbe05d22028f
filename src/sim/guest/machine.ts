import { guestName } from '../world/guest-config.ts'
import { parseProperties } from '../world/properties.ts'
import type { Guest, World } from '../world/types.ts'
import { createFiles, type Files } from './files.ts'

/** The running system inside a guest, as far as somebody who sends it commands can tell. */
export interface Machine {
  readonly files: Files
  readonly processes: Map<number, Process>
  /** Units that run and units that start by themselves. */
  readonly active: Set<string>
  readonly enabled: Set<string>
  /** Addresses that were added by hand, by card: `192.168.4.9/24`. */
  readonly addresses: Map<string, string[]>
  nextPid: number
  /** Which start of the guest the processes belong to. */
  life: number
}

export interface Process {
  /** Input or much output: the agent is busy with it when it is asked at once, however quick the program was. */
  busy: boolean
  readonly endsAtMs: number
  readonly out: string
  readonly err: string
  readonly exit: number | undefined
  readonly signal: number | undefined
}

const SERVICES = ['ssh', 'cron', 'qemu-guest-agent', 'systemd-journald', 'systemd-networkd', 'systemd-resolved']

/** A system that is nothing but a kernel and a few programs: what `-kernel` and `-initrd` start without a disk. */
export function isBare(guest: Guest): boolean {
  return /(^|\s)-kernel\s/.test(guest.config.get('args') ?? '')
}

/** The machine of a guest that runs. Processes do not outlive a restart; files do, unless there is no disk under them. */
export function machineOf(_world: World, guest: Guest): Machine {
  let machine = guest.machine
  const fresh = machine === undefined || machine.life !== guest.run.life
  if (machine === undefined || (fresh && isBare(guest))) machine = newMachine(guest)
  if (fresh) {
    machine.processes.clear()
    machine.addresses.clear()
    machine.nextPid = isBare(guest) ? FIRST_BARE_PID : 900
    machine.life = guest.run.life
    fillSystemFiles(guest, machine)
  }
  guest.machine = machine
  return machine
}

/** Lower pids are the kernel's own threads. */
const FIRST_BARE_PID = 120

function newMachine(guest: Guest): Machine {
  const services = isBare(guest) ? [] : SERVICES
  return {
    files: createFiles(),
    processes: new Map(),
    active: new Set(services),
    enabled: new Set(services),
    addresses: new Map(),
    nextPid: 0,
    life: 0,
  }
}

/** Files that say who the machine is. Written at each start, because the configuration may have changed. */
function fillSystemFiles(guest: Guest, machine: Machine): void {
  const { files } = machine
  files.write('/etc/hostname', `${hostName(guest)}\n`)
  files.write('/proc/cmdline', `${commandLine(guest)}\n`)
  if (isBare(guest)) return
  files.write('/etc/os-release', 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n')
  files.write('/etc/machine-id', `${smbiosUuid(guest).replaceAll('-', '')}\n`)
  if (guest.inside !== undefined) {
    files.write('/var/lib/cloud/data/instance-id', `${guest.inside.instanceId}\n`)
    files.write('/var/lib/cloud/instance/user-data.txt', guest.inside.userData)
  }
}

export function hostName(guest: Guest): string {
  return guest.inside?.hostname ?? guestName(guest)
}

function commandLine(guest: Guest): string {
  const args = guest.config.get('args') ?? ''
  return /-append\s+"([^"]*)"/.exec(args)?.[1] ?? 'BOOT_IMAGE=/vmlinuz root=LABEL=cloudimg-rootfs ro console=ttyS0'
}

function smbiosUuid(guest: Guest): string {
  return parseProperties(guest.config.get('smbios1') ?? '').named.get('uuid') ?? ''
}

/** Two for every command, the program and the helper that waits for it; the kernel takes one for itself now and then. */
export function takePid(machine: Machine): number {
  if (machine.nextPid % 64 === 0) machine.nextPid += 1
  return machine.nextPid++
}
