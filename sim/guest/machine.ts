import { createHash } from 'node:crypto'
import { guestName } from '../world/guest-config.ts'
import { parseProperties } from '../world/properties.ts'
import type { Guest, Machine, World } from '../world/types.ts'
import { createFiles } from './files.ts'
import type { Trouble } from './types.ts'

const SERVICES = ['ssh', 'cron', 'qemu-guest-agent', 'systemd-journald', 'systemd-networkd', 'systemd-resolved']

/** A system that is nothing but a kernel and a few programs: what `-kernel` and `-initrd` start without a disk. */
export function isBare(guest: Guest): boolean {
  return /(^|\s)-kernel\s/.test(guest.config.get('args') ?? '')
}

/** The machine of a guest that runs. Processes do not outlive a restart; files do, unless there is no disk under them. */
export function machineOf(_world: World, guest: Guest): Machine {
  let machine = guest.machine
  const fresh = machine === undefined || machine.life !== guest.run.life
  if (machine === undefined || (fresh && isBare(guest))) machine = createMachine(isBare(guest), guest.trouble)
  if (fresh) {
    machine.processes.clear()
    machine.addresses.clear()
    machine.logins.length = 0
    machine.nextPid = isBare(guest) ? FIRST_BARE_PID : 900
    machine.life = guest.run.life
    machine.system.bootId = bootId(`${smbiosUuid(guest)}/${guest.run.life}`)
    fillSystemFiles(guest, machine)
  }
  guest.machine = machine
  return machine
}

const IMAGE_NAME = 'ubuntu'

/** Lower pids are the kernel's own threads. */
const FIRST_BARE_PID = 120

/** A system as it comes out of an image: nothing has run on it yet. */
export function createMachine(bare: boolean, trouble: Trouble): Machine {
  const services = bare ? [] : SERVICES
  return {
    files: createFiles(),
    processes: new Map(),
    active: new Set(services),
    enabled: new Set(services),
    addresses: new Map(),
    nextPid: 0,
    life: 0,
    system: {
      machineId: '',
      bootId: '',
      hostname: '',
      wantedHostname: '',
      cloudInit: 'absent',
      cloudInitError: undefined,
      instanceId: undefined,
      agentInstalled: false,
    },
    trouble,
    logins: [],
    journal: [],
  }
}

/** Files that say who the machine is. Written at each start, because the configuration may have changed. */
function fillSystemFiles(guest: Guest, machine: Machine): void {
  const { files } = machine
  const { system } = machine
  // Until cloud-init has got there, a machine has the name of its image.
  const early = guest.inside !== undefined && system.instanceId === undefined
  system.hostname = early ? IMAGE_NAME : hostName(guest)
  system.wantedHostname = hostName(guest)
  files.write('/etc/hostname', `${system.hostname}\n`)
  files.write('/proc/cmdline', `${commandLine(guest)}\n`)
  if (isBare(guest)) return
  files.write('/etc/os-release', 'NAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n')
  // An image that was not cleaned brings its own: all its copies then have the same.
  const fromImage = files.text('/etc/machine-id')?.trim() ?? guest.run.system?.machineId ?? ''
  files.write('/etc/machine-id', `${fromImage || smbiosUuid(guest).replaceAll('-', '')}\n`)
  system.machineId = files.text('/etc/machine-id')?.trim() ?? ''
}

function hostName(guest: Guest): string {
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

/** Changes with every start and with nothing else. It takes nothing from the seed's chance. */
export function bootId(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
