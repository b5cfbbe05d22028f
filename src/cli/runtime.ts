import type { ControllerConfig } from '../controller/config.ts'
import type { RunningController } from '../controller/controller.ts'
import type { Rehearsed } from '../controller/previews/rehearse.ts'
import type { ClusterVault } from '../drivers/cluster-port.ts'
import type { Driver, DriverDeps } from '../drivers/port.ts'
import type { ClusterTools } from '../engine/clusters/sessions.ts'
import type { Engine } from '../engine/engine.ts'
import type { Kind } from '../kinds/kind.ts'
import type { KubernetesClient } from '../kubernetes/client.ts'
import type { Wait } from '../kubernetes/patience.ts'
import type { Clock } from '../lib/clock.ts'
import type { Random } from '../lib/random.ts'
import type { RemoteTerminal, TerminalSize } from '../lib/remote-terminal.ts'
import type { Wire } from '../lib/wire.ts'
import type { Declaration } from '../model/declaration.ts'
import type { Estate } from '../model/estate.ts'
import type { ClusterPlan } from '../model/observed-cluster.ts'
import type { ResourceRecord } from '../model/record.ts'
import type { ObservedResource, Survey } from '../model/resource.ts'
import type { Secret, ServerReference, SshTarget } from '../model/secret.ts'
import type { Site } from '../model/site.ts'
import type { Composer } from '../source/compose/in-cluster.ts'
import type { VaultReference } from '../source/secrets/secret-vault.ts'
import type { Environment, StateAccess } from '../state/state-file.ts'
import type { ClosableStore, Store } from '../store/port.ts'

export type { Environment }

/** One end of the terminal. Foreign text is cleaned before it gets here. */
export interface Terminal {
  write(text: string): void
  readonly isTty: boolean
  readonly columns: number
}

/** This terminal's keyboard, attached to a remote terminal. */
export interface Keyboard {
  size(): TerminalSize
  /** Attaches until the person presses Ctrl-], the remote side ends it, or input without a terminal ends. */
  attach(terminal: RemoteTerminal, signal: AbortSignal): Promise<'left' | 'ended'>
}

/** A document that croft read and that is not its own. */
export interface LeftAloneDocument {
  readonly file: string
  readonly line: number
  readonly apiVersion: string
  readonly kind: string
  readonly note?: string
}

/** A directory of manifests, read and linked. */
export interface LoadedEstate {
  readonly declarations: readonly Declaration[]
  readonly estate: Estate
  /** Numbers of manifest files read, and of foreign documents in them. */
  readonly files: number
  readonly ignored: number
  /** The skipped documents, for verbs that list them with the reason. */
  readonly leftAlone?: readonly LeftAloneDocument[]
  /** Documents that define APIs, and instances of these. */
  readonly expanded?: readonly LeftAloneDocument[]
  /** Kinds that the manifests define themselves. */
  readonly apis?: readonly DefinedKind[]
}

/** A kind that a graph or a composition defines, with the schema of its manifests. */
export type DefinedKind = Pick<Kind, 'kind' | 'apiVersion' | 'summary' | 'plural' | 'shortNames'> & {
  readonly schema: unknown
}

/** A repository that is followed: each new commit of its branch is given once. */
export interface FollowedRepository {
  /** Undefined: nothing new, or nothing that may be followed. */
  look(signal: AbortSignal): Promise<LoadedEstate | undefined>
}

export interface SimulatorOptions {
  readonly hosts?: number
  readonly port: number
  readonly preset?: 'hosts' | 'homelab' | 'recording' | 'empty'
  readonly vms?: number
  /** Instead of a preset. */
  readonly site?: Site
  readonly seed?: number
  readonly speed?: number
  readonly proxy?: boolean
}

/** A simulated datacentre that answers over HTTPS. `announcement` is what `croft sim` prints for programs. */
export interface RunningSimulator {
  readonly endpoint: string
  readonly fingerprint: string
  readonly token: string
  readonly announcement: Readonly<Record<string, unknown>>
  /** For HTTPS_PROXY, if asked for: a proxy to the Kubernetes APIs of simulated clusters. */
  readonly proxy?: string
  /** The simulator's clock: simulated time runs faster than the wall clock if asked for. */
  readonly clock: Clock
  /** Number of calls so far. */
  stats(): { readonly calls: number; readonly writes: number }
  /** The simulated state itself, not read through an API: it checks the tour's claims. */
  hosts(): readonly string[]
  guests(): readonly SimulatedGuest[]
  /** Nodes of simulated clusters, past every API. */
  nodes(): readonly { readonly name: string; readonly ready: boolean; readonly votes: boolean }[]
  /** Returns the simulated checksum of a K3s release. */
  releaseChecksum(version: string): string
  /** Simulates changes by a person: a guest's configuration or state, a host's power. */
  patchGuest(vmid: number, patch: Readonly<Record<string, unknown>>): void
  hostPower(name: string, power: 'on' | 'off'): void
  close(): Promise<void>
}

export interface SimulatedGuest {
  readonly vmid: number
  readonly host: string
  readonly name: string
  readonly running: boolean
  /** The system on its disk has booted, and its agent answers. */
  readonly booted: boolean
  readonly agent: boolean
  readonly startedAtMs: number
  /** The configuration as the host holds it: `scsi0`, `ide2`, `memory`. */
  readonly config: Readonly<Record<string, string>>
  /** The disks as `storage:name`, with their sizes. */
  readonly disks: readonly { readonly volume: string; readonly bytes: number }[]
}

export interface EngineOptions {
  /** Base of relative paths to secret files. */
  readonly directory: string
  /** The database, if one was named. The vault is in the same folder. */
  readonly state?: string
  readonly clock?: Clock
  /** Retries stalled resources, on a person's request. */
  readonly retryStalled?: boolean
  /** The epoch of the process that shares its store with the engine. */
  readonly epoch?: number
  /** Set if another writer of the store may have a different clock. */
  readonly otherClocks?: boolean
  /**
   * Renders charts for the reader of the plan. `from-anywhere`: the plan's author is trusted. `known`: only charts that
   * a cluster uses already, because untrusted people may have proposed the plan. Absent: not rendered.
   */
  readonly charts?: 'from-anywhere' | 'known'
  /** The vault of CAs and tokens, if it is not in the folder of the database. */
  readonly clusterVault?: ClusterVault
  /** Secrets in encrypted files, where they come from elsewhere than the directory. */
  readonly vault?: (reference: VaultReference) => Promise<Secret | ServerReference | undefined>
  /** A file of the estate by its path, where the estate is elsewhere than in the directory. */
  readonly fileOfEstate?: (file: string) => Promise<string | undefined>
  /** Environment in which `{env: NAME}` references are looked up. */
  readonly env?: Environment
}

/** A cluster's API. Without a kubeconfig: that of the surrounding pod. */
export interface ClusterPlace {
  readonly kubeconfig?: string
  readonly context?: string
}

export type ClusterAccess =
  | { readonly wire: Wire; readonly namespace?: string; readonly problem?: undefined }
  | { readonly problem: string }

export interface KubernetesStorePlace {
  readonly client: KubernetesClient
  readonly namespace: string
  readonly name: string
  readonly random: Random
  readonly wait?: Wait
  readonly epoch?: number
  /** The move that opens it. */
  readonly mover?: string
}

/** An observed connection, with the close reads by external id. */
export interface ObservedConnection {
  readonly connection: string
  readonly survey: Survey
  readonly close: ReadonlyMap<string, ObservedResource>
}

/** The first visit to a host that knows only passwords. Rejects with a ShellFailure. */
export interface Enrolment {
  /** For a person to compare; showing a key does not make it trusted. */
  shownHostKeys(
    address: string,
    port: number,
  ): Promise<readonly { readonly key: string; readonly fingerprint: string }[]>
  /** The public line of a key, which is made when it is not there. */
  ensureKey(path: string, comment: string): string
  installKey(target: SshTarget, publicKey: string, password: Secret): Promise<void>
}

/** The input of a controller. */
export interface ControllerPlace {
  readonly config: ControllerConfig
  /** The database of the store: the secrets of clusters are in the same folder. */
  readonly file: string
  readonly store: Store
}

/** A controller that is not running yet. Close it after use. */
export interface OpenedController extends AsyncDisposable {
  readonly controller: RunningController
  servePage(): Promise<ServedPage>
}

export interface ServedPage extends AsyncDisposable {
  /** Undefined where the configuration turns the page off. */
  readonly url?: string
}

/**
 * Everything that verbs need from outside. main.ts builds the real one; tests build their own. What is heavy is behind
 * a function, so that `croft --help` pays for nothing it does not use.
 */
export interface Runtime extends StateAccess {
  readonly version: string
  readonly out: Terminal
  readonly err: Terminal
  readonly env: Environment
  /** Reports whether a person can answer a question. */
  readonly interactive: boolean
  readonly random: Random
  ask(question: string): Promise<string | undefined>
  /** Asks without echo. */
  askSecret?(question: string): Promise<string | undefined>
  readonly keyboard?: Keyboard
  /** Sends one UDP packet. */
  sendDatagram?(address: string, port: number, bytes: Uint8Array): Promise<void>
  /** Starts the notices to systemd that this process is alive, if systemd wants them. */
  startWatchdog?(): Promise<{ stop(): void }>
  /** Gives croft its first access to a host. */
  enrolment?(): Promise<Enrolment>
  kinds(): Promise<readonly Kind[]>
  /** JSON Schema of one kind, or of every manifest. */
  jsonSchema(kind: string | undefined): Promise<unknown>
  /** croft's kinds as CustomResourceDefinitions. */
  definitions?(): Promise<readonly unknown[]>
  load(directory: string): Promise<LoadedEstate>
  /** Loads the directory at a branch, tag or commit of its repository; or as merged `onto` one. */
  loadAt(directory: string, ref: string, onto?: string): Promise<LoadedEstate>
  /** Follows the branch main of a repository, through a mirror in a directory of ours. */
  follow(remote: string, mirror: string): Promise<FollowedRepository>
  /** Writes a file of the estate, with its folders; without `replace` only a new one. Reports whether it did. */
  writeFile?(file: string, text: string, options?: { readonly replace?: boolean }): Promise<boolean>
  /** Takes a database back by one version of its schema; answers the version it has then. */
  takeSchemaBack(file: string): Promise<number>
  parseYaml(text: string): Promise<unknown>
  openEngine(store: Store, options: EngineOptions): Promise<Engine>
  /** Assembles the controller of `croft run` without starting it. */
  openController(runtime: Runtime, place: ControllerPlace): Promise<OpenedController>
  /** Opens a database to move its estate, even one that has already moved elsewhere. */
  openMovedStore?(file: string): Promise<Store>
  /** The API of a cluster whose objects are to be followed. */
  openCluster?(place: ClusterPlace): Promise<ClusterAccess>
  /** A store in that cluster. */
  openKubernetesStore?(place: KubernetesStorePlace): Promise<ClosableStore>
  /** Opens the identities of clusters, in Secrets of that cluster. */
  openKubernetesVault?(place: Pick<KubernetesStorePlace, 'client' | 'namespace' | 'wait'>): Promise<ClusterVault>
  /** Frees memory after work, in a process that runs for months. */
  giveMemoryBack?(): void
  /** Reads definitions of a cluster and expands instances, where that can be ended. */
  openComposer?(): Promise<Composer>
  /** Opens the clients and secrets of clusters, for operations by command. */
  openClusters?(options: EngineOptions): Promise<ClusterTools>
  /** Opens the drivers, to examine connections rather than their content. */
  openDrivers(options: EngineOptions): Promise<{ readonly drivers: readonly Driver[]; readonly deps: DriverDeps }>
  /** Performs the plan on a twin of what was observed, in its own accelerated time. */
  rehearse(
    estate: Estate,
    observed: readonly ObservedConnection[],
    records: readonly ResourceRecord[],
    /** Clusters as they were seen, and decided about. */
    looks?: readonly ClusterPlan[],
    /** Called every few seconds with what it is at, since so long of the twin's time, and the processor time so far. */
    tell?: (doing: string, twinMs: number, spentMs: number) => void,
  ): Promise<Rehearsed>
  startSimulator(options: SimulatorOptions): Promise<RunningSimulator>
  /** Directory of the example that the tour uses. */
  readonly example: string
  /** How this terminal calls the program: `croft`, or a path. */
  readonly program: string
}
