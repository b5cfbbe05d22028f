/** What the system says about itself. */
export interface SystemState {
  machineId: string
  bootId: string
  /** The current name, and the one it was told to take. */
  hostname: string
  wantedHostname: string
  cloudInit: 'absent' | 'running' | 'done' | 'error'
  cloudInitError: string | undefined
  /** The instance that cloud-init last worked for. */
  instanceId: string | undefined
  /** The guest agent was brought by cloud-init: the image had none. */
  agentInstalled: boolean
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

/** Work that the node program began and that goes on without it. */
export interface Job {
  readonly name: string
  state: 'running' | 'done' | 'failed'
  readonly sinceMs: number
  message?: string
}

/** A session of a user. */
export interface Login {
  readonly user: string
  readonly tty: string
  readonly from: string
  readonly sinceMs: number
  /** When a key was last pressed. */
  keyMs: number
}

/** A line that a unit wrote, and in which life of the computer. */
export interface UnitLine {
  readonly unit: string
  readonly life: number
  readonly atMs: number
  readonly text: string
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
  /** The login is not root, and sudo is refused. */
  notRoot?: boolean
  /** Something else listens where K3s does. */
  portTaken?: boolean
  /** Its agent never answers. */
  agentSilent?: boolean
  /** Its etcd never catches up. */
  learnerStuck?: boolean
  /** Under load: a joining server waits this much longer for the CA of the cluster. */
  slowJoinMs?: number
  /** K3s dies at every start, as after a bad upgrade. */
  neverStarts?: boolean
  /** Its name takes effect this much later. */
  slowNameMs?: number
  /** It takes this much longer to boot. */
  slowBootMs?: number
  /** It never comes up again. */
  neverBoots?: boolean
  /** Its system does not go down when it is asked to. */
  neverStops?: boolean
}
