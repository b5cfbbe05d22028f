import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { RemoteTerminal, TerminalSize } from '../lib/remote-terminal.ts'
import type { Shell } from '../lib/shell.ts'
import type { Wire } from '../lib/wire.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { Connection } from '../model/estate.ts'
import type { Expressions } from '../model/expressions.ts'
import type { Preview } from '../model/plan.ts'
import type {
  AddressUse,
  LoadSample,
  ObservedResource,
  PowerState,
  RemoteTask,
  Resource,
  Survey,
} from '../model/resource.ts'
import type { Rules } from '../model/rules.ts'
import type { Secret, SecretReference, SshTarget } from '../model/secret.ts'
import type { Outcome, Refusal, Step } from '../model/step.ts'
import type { ChartRenderer } from './chart-port.ts'
import type { HelmReleases, KubernetesLogin } from './release-port.ts'

/** The dependencies of a driver. It reads no clock, environment or file itself. */
export interface DriverDeps {
  readonly clock: Clock
  readonly random: Random
  /** Opens the wire to an endpoint. The certificate is checked before the first byte of a request is sent. */
  openWire(connection: Connection): Wire
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** Opens a shell on a computer over SSH, or locally if the target says so. Connects on first use. */
  openShell?(target: SshTarget): Shell
  /** Returns the connection to the API of a managed cluster. Absent: no clusters. */
  kubernetes?(connection: Connection): KubernetesWay
  /** Renders charts for previews. Absent: charts are compared by their values. */
  readonly charts?: ChartRenderer
  /** The local Helm, for charts that it installs. */
  readonly helm?: HelmReleases
  /** Evaluates expressions of declarations. Absent: none of them holds. */
  readonly expressions?: Expressions
  /** Returns the peer's certificate without sending any data. Rejects with a WireFailure. */
  lookAtCertificate?(connection: Connection, signal: AbortSignal): Promise<PeerCertificate>
}

/** How to find the API of a cluster: over its endpoint or any of its servers. */
export interface KubernetesWay {
  /** unformed: the cluster does not exist yet, so it is empty. away: it does not answer now. */
  find(
    signal: AbortSignal,
  ): Promise<
    | { readonly is: 'open'; readonly client: KubernetesClient }
    | { readonly is: 'unformed' }
    | { readonly is: 'away'; readonly message: string }
  >
  /** Absent: croft opens no login for other programs there. */
  readonly others?: LoginOfOthers
  /** The client got no answer: look for another way next time. */
  lost(): void
  close(): Promise<void>
}

/** Lets a person's program log in through croft's connection. */
export interface LoginOfOthers {
  /** Returns the current login. */
  login(signal: AbortSignal): Promise<KubernetesLogin | { readonly problem: string }>
}

/** A certificate as the peer showed it. */
export interface PeerCertificate {
  /** SHA-256, `AA:BB:…`. */
  readonly fingerprint: string
  readonly notAfterMs: number
  /** Why the system's trust store rejects it; undefined if it does not. */
  readonly distrust?: string
}

/** One finding about a connection, for display. Free of secrets and control characters. */
export interface Check {
  readonly about:
    | 'connection'
    | 'certificate'
    | 'clock'
    | 'token'
    | 'version'
    | 'privileges'
    | 'hosts'
    | 'storages'
    | 'networks'
  /** Stable code for programs: `clock-skew`. */
  readonly code: string
  readonly level: 'ok' | 'warning' | 'wrong'
  readonly found: string
  readonly details?: readonly string[]
  /** Commands to run or lines to write, verbatim. */
  readonly fix?: readonly string[]
  /** One side does not accept the other: nothing else can be checked. */
  readonly authentication?: true
}

export function check(
  level: Check['level'],
  about: Check['about'],
  code: string,
  found: string,
  more: Pick<Check, 'details' | 'fix' | 'authentication'> = {},
): Check {
  return { about, code, level, found, ...more }
}

/** Thrown by survey and observe if the outside system could not or would not answer. */
export class ObservationFailed extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.message)
    this.name = 'ObservationFailed'
    this.refusal = refusal
  }
}

/** Returns the observation, or undefined if it failed: then nothing is known and nothing follows. */
export async function ifObserved<T>(observe: () => Promise<T>): Promise<T | undefined> {
  try {
    return await observe()
  } catch (error) {
    if (error instanceof ObservationFailed) return undefined
    throw error
  }
}

/** A hypervisor's control over hosts and over the HA of its guests. */
export interface SitePower {
  /** none: it manages no guest, or cannot be stopped. */
  highAvailability(signal: AbortSignal): Promise<'armed' | 'disarming' | 'disarmed' | 'none' | 'unknown'>
  switchHighAvailability(armed: boolean, signal: AbortSignal): Promise<Outcome>
  /** An orderly shutdown; the guests that still run go down with it. */
  shutDownHost(host: string, signal: AbortSignal): Promise<Outcome>
}

/** A snapshot of a guest. */
export interface GuestSnapshot {
  readonly name: string
  readonly createdMs?: number
  /** The snapshot that the guest's current state is based on. */
  readonly current: boolean
}

/** Only a person uses these: no plan takes, reverts or deletes a snapshot. Reads throw ObservationFailed. */
export interface GuestSnapshots {
  list(observed: ObservedResource, signal: AbortSignal): Promise<readonly GuestSnapshot[]>
  take(observed: ObservedResource, name: string, signal: AbortSignal): Promise<Outcome>
  /** All changes since then are lost. */
  revert(observed: ObservedResource, name: string, signal: AbortSignal): Promise<Outcome>
  remove(observed: ObservedResource, name: string, signal: AbortSignal): Promise<Outcome>
}

/** Reads about a host in one call, instead of one per guest. Reads throw ObservationFailed. */
export interface HostReads {
  /** Returns the current power of all its guests, by external id. */
  powers(host: string, signal: AbortSignal): Promise<ReadonlyMap<string, PowerState>>
  /** Results of tasks that started since then. Missing ones are read singly. */
  endedTasks(host: string, sinceMs: number, signal: AbortSignal): Promise<readonly RemoteTask[]>
  /** Recent tasks of a guest, newest first: more than a survey shows. Read when a drift is first seen. */
  recentTasks(observed: ObservedResource, sinceMs: number, signal: AbortSignal): Promise<readonly RemoteTask[]>
  /** Load samples of the last hour, oldest first. Read only before a placement. */
  load(host: string, signal: AbortSignal): Promise<readonly LoadSample[]>
}

/** Reads addresses in use, by any user. */
export interface AddressReads {
  /** Returns who uses these addresses: hosts, or devices on this host's networks. Throws ObservationFailed. */
  inUse(host: string, addresses: readonly string[], signal: AbortSignal): Promise<readonly AddressUse[]>
}

/** Reads existing settings as manifests. */
export interface SettingImport {
  /** Returns the lists that may hold settings of these kinds; called again with the first lists' results. */
  lists(
    survey: Survey,
    kinds: readonly string[] | undefined,
    seen: readonly ObservedResource[],
  ): Promise<readonly string[]>
  /** Returns the manifest of a listed setting, or undefined if it needs none. */
  manifest(observed: ObservedResource): Promise<ImportedSetting | undefined>
}

/** Returns the effect of a step without performing it. */
export interface DryRun {
  /** Returns undefined if the effect is unknown. */
  preview(step: Step, observed: ObservedResource | undefined, signal: AbortSignal): Promise<Preview | undefined>
}

/** The console of a guest: the output of its serial line, and a person's input. */
export interface GuestConsole {
  /** Commands or addresses that open it without croft, one per line. */
  lines(observed: ObservedResource): readonly string[]
  /** Throws ObservationFailed if the guest is off, has no serial line, or access is denied. */
  open(observed: ObservedResource, size: TerminalSize, signal: AbortSignal): Promise<RemoteTerminal>
}

/** A file that this computer can read, and its destination. */
export interface FileToUpload {
  readonly host: string
  readonly storage: string
  readonly content: string
  readonly fileName: string
  readonly sha256: string
  readonly length: number
  readonly chunks: AsyncIterable<Uint8Array>
}

/** Uploads files to a storage over the API. */
export interface FileUploads {
  /** Replaces a file of that name. Never throws. */
  put(file: FileToUpload, signal: AbortSignal): Promise<Outcome>
}

/** The hypervisor's agent inside a guest. */
export interface GuestAgent {
  /** A shell that needs no network. Connects on first use. */
  shell(observed: ObservedResource): Shell
}

/** An open connection to one outside system. Reads throw ObservationFailed; `perform` never throws. */
export interface Session {
  /**
   * Returns all guests, hosts, storages and tasks, in a constant number of calls. All else is in lists. A driver that
   * can only read named things (items of a host) reads the wanted ones; for planned guests it may occasionally ask
   * their hosts for further facts.
   */
  survey(signal: AbortSignal, wanted?: readonly Resource[]): Promise<Survey>
  /** Reads one list of `Rules.listOf` in one call; each entry as after a close look. */
  list(list: string, signal: AbortSignal): Promise<readonly ObservedResource[]>
  /** Reads one thing closely before a write: configuration with digest, and power if requested. */
  observe(
    observed: ObservedResource,
    ask: { readonly power?: boolean; readonly agent?: boolean },
    signal: AbortSignal,
  ): Promise<ObservedResource | undefined>
  /**
   * Reports whether this id is free for a new thing, even if croft may not see its holder. Absence from a survey is no
   * proof: a lost permission looks exactly like an empty datacentre.
   */
  idIsFree(externalId: string, signal: AbortSignal): Promise<boolean>
  /** Reports whether a survey shows every guest: then a missing one does not exist, and no id need be checked. */
  seesEverything(signal: AbortSignal): Promise<boolean>
  /** Returns how a task that has left the running set ended. Undefined: the system no longer knows it. */
  taskOutcome(taskId: string, signal: AbortSignal): Promise<RemoteTask | undefined>
  /** Reads from its hosts, if it has any. */
  readonly hosts?: HostReads
  /** Makes the step's one call. Never waits for the work behind it. */
  perform(step: Step, signal: AbortSignal): Promise<Outcome>
  readonly dryRun?: DryRun
  /** Controls the power of the system beyond single guests, if it can. */
  readonly site?: SitePower
  /** The console of its guests, if it has one. */
  readonly console?: GuestConsole
  /** Snapshots of a guest for a person. */
  readonly snapshots?: GuestSnapshots
  readonly addresses?: AddressReads
  readonly agent?: GuestAgent
  readonly uploads?: FileUploads
  close(): Promise<void>
}

/** An existing guest as a manifest. Every setting of its configuration is in one of the three fields. */
export interface ImportedGuest {
  readonly kind: string
  /** Values that differ from the system's defaults: `spec.forProvider`. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Settings without a field; they stay as they are. */
  readonly unmanaged: readonly string[]
  readonly notes: readonly string[]
}

/** An existing setting as a manifest of its kind. */
export interface ImportedSetting {
  readonly kind: string
  /** A possible name for it. */
  readonly name: string
  readonly spec: Readonly<Record<string, unknown>>
}

/** Code for one outside system: pure rules and a thin session. */
export interface Driver {
  readonly name: string
  readonly rules: Rules
  connect(connection: Connection, deps: DriverDeps): Session
  readonly doctor?: Doctor
  readonly roles?: RoleWriter
  readonly importGuests?: GuestImport
  readonly importSettings?: SettingImport
}

/** Checks what a connection needs before its first use. */
export interface Doctor {
  /** Checks all that these resources need. Never throws, and writes nothing. */
  examine(
    connection: Connection,
    resources: readonly Resource[],
    deps: DriverDeps,
    signal: AbortSignal,
    /** Machines whose agent runs programs for croft. */
    entered?: ReadonlySet<ResourceKey>,
  ): Promise<readonly Check[]>
}

/** Writes roles, for systems that limit what a token may do. */
export interface RoleWriter {
  /** Returns the commands that create a token with only the rights that these resources need. Calls no API. */
  least(
    connection: Connection,
    resources: readonly Resource[],
    options: { readonly nowMs: number; readonly major?: number; readonly entered?: ReadonlySet<ResourceKey> },
  ): Promise<readonly string[]>
}

/** Reads existing guests as manifests. */
export interface GuestImport {
  /** Returns the manifest of a guest after a close look. Undefined: no kind declares such a guest. */
  manifest(observed: ObservedResource): Promise<ImportedGuest | undefined>
}
