import { createHash } from 'node:crypto'
import type { Service } from '../k3s/service.ts'
import { guestName } from '../world/guest-config.ts'
import { parseProperties } from '../world/properties.ts'
import type { Guest, World } from '../world/types.ts'
import { createFiles, type Files } from './files.ts'
import type { Login } from './logins.ts'
import type { UnitLine } from './units.ts'

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
  readonly system: SystemState
  /** What was made to go wrong on it. */
  readonly trouble: Trouble
  /** K3s as systemd keeps it, once there has been one. */
  k3s?: Service
  job?: Job
  /** Who is logged in. Nobody outlives a restart. */
  readonly logins: Login[]
  /** What units that ran once have written. */
  readonly journal: UnitLine[]
}

/** What the system says about itself. */
export interface SystemState {
  machineId: string
  bootId: string
  /** The name in force, and the one it was told to take. */
  hostname: string
  wantedHostname: string
  cloudInit: 'absent' | 'running' | 'done' | 'error'
  cloudInitError: string | undefined
  /** The instance that cloud-init last worked for. */
  instanceId: string | undefined
  /** The guest agent was brought by cloud-init: the image had none. */
  agentInstalled: boolean
}

/** Work that the node program began and that goes on without it. */
export interface Job {
  readonly name: string
  state: 'running' | 'done' | 'failed'
  readonly sinceMs: number
  message?: string
}

/** Troubles that a test or a person at the door makes. All of them are absent on a healthy machine. */
export interface Trouble {
  noNetwork?: boolean
  noDns?: boolean
  wrongClock?: boolean
  /** cloud-init cannot write its files. */
  diskFull?: boolean
  /** The packages cannot be fetched. */
  noPackages?: boolean
  /** Neither curl nor wget is installed. */
  noCurl?: boolean
  /** Whoever logs in is not root, and may not become it. */
  notRoot?: boolean
  /** Something else listens where K3s does. */
  portTaken?: boolean
  /** Its agent does not answer, whatever it does. */
  agentSilent?: boolean
  /** Its etcd never catches up. */
  learnerStuck?: boolean
  /** Under load: a joining server waits this much longer for the CA of the cluster. */
  slowJoinMs?: number
  /** K3s dies at every start, as after a bad upgrade. */
  neverStarts?: boolean
  /** Its name comes in force this much later. */
  slowNameMs?: number
  /** It takes this much longer to boot. */
  slowBootMs?: number
  /** It never comes up again. */
  neverBoots?: boolean
  /** Its system does not go down when it is asked to. */
  neverStops?: boolean
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
