import type { RemoteTerminal, TerminalSize } from '../lib/remote-terminal.ts'
import type { CommitDiff } from '../model/commit-diff.ts'
import type { ResourceKey } from '../model/declaration.ts'
import type { EstateView } from '../model/estate-view.ts'
import type { PowerPreview } from '../model/observed-power.ts'
import type { Past } from '../model/past.ts'
import type { CroftEvent } from '../model/record.ts'
import type { Workloads } from '../model/workload.ts'

/** The author of a wish, for the audit log. */
export interface Actor {
  /** `page:anna`, `token:ci`, `cli:root`. */
  readonly name: string
  readonly from: 'page' | 'api' | 'cli' | 'git'
}

/** The result of a wish. */
export type Granted =
  | { readonly ok: true; readonly message: string; readonly link?: string }
  | { readonly ok: false; readonly reason: 'not-found' | 'conflict' | 'refused'; readonly message: string }

/** A person's wish to the controller. The API, the page and the CLI have the same list. */
export type Wish =
  | { readonly wish: 'reconcile'; readonly key?: ResourceKey }
  | {
      readonly wish: 'approve'
      readonly keys: readonly ResourceKey[]
      readonly expiresMs: number
      /** The hash of the list that was shown, by key: another one by now is not approved. */
      readonly seen?: Readonly<Record<ResourceKey, string>>
    }
  | { readonly wish: 'suspend' | 'resume'; readonly key: ResourceKey }
  /** Makes Git agree with the world, by a commit on a branch. */
  | { readonly wish: 'adopt-drift'; readonly key: ResourceKey; readonly fields: readonly string[] }
  /** Makes the world agree with Git, overriding the resource's policy. */
  | { readonly wish: 'revert-drift'; readonly key: ResourceKey }
  | {
      readonly wish: 'cluster'
      readonly cluster: string
      readonly order: 'pause' | 'resume' | 'abort' | 'replace' | 'remove-member' | 'snapshot'
      readonly node?: string
      readonly member?: string
    }
  | {
      readonly wish: 'power'
      readonly target: string
      readonly order: 'off' | 'on' | 'hold' | 'release'
      readonly reason?: string
      readonly untilMs?: number
      /** Skips the wait for people, backups and jobs. */
      readonly ignoreHolds?: boolean
    }

export interface HistoryQuery {
  readonly key?: ResourceKey
  readonly commit?: string
  readonly afterSeq?: number
  readonly beforeSeq?: number
  readonly limit: number
}

/** Access to clusters for people. */
export interface Kubeconfigs {
  /** Makes a kubeconfig with this lifetime. Undefined: there is no such cluster, or croft has no CA of it. */
  make(cluster: string, lifeMs: number): Promise<{ readonly yaml: string; readonly untilMs: number } | undefined>
}

/** An opened console, or why there is none now. */
export type OpenedConsole =
  | { readonly ok: true; readonly terminal: RemoteTerminal }
  | { readonly ok: false; readonly reason: 'not-found' | 'refused' | 'away'; readonly message: string }

/** Serial consoles of machines. */
export interface Consoles {
  /** Reports whether the resource is a machine that can have a console. Opening shows whether it has one now. */
  offers(key: ResourceKey): boolean
  /** Destroying the stream of the terminal closes it, and everything that was opened for it. */
  open(key: ResourceKey, size: TerminalSize, signal: AbortSignal): Promise<OpenedConsole>
}

/** The controller as the server sees it: a view that changes, a history, and wishes. */
export interface Controller {
  view(): EstateView
  /** Called after every change of the view, with what happened since. Returns how to stop it. */
  subscribe(listener: (view: EstateView, events: readonly CroftEvent[]) => void): () => void
  /** History over days. Absent: not recorded. */
  readonly past?: Past
  /** Workloads of clusters, read on request. Absent: not available here. */
  readonly workloads?: Workloads
  /** Absent: no CA of a cluster is kept here. */
  readonly kubeconfigs?: Kubeconfigs
  /** Absent: consoles are not available here. */
  readonly consoles?: Consoles
  history(query: HistoryQuery): Promise<readonly CroftEvent[]>
  /** Returns the observed fields of a resource as text, without secrets. Undefined: not observed. */
  observed(key: ResourceKey): Readonly<Record<string, string>> | undefined
  /** The changes of a commit that is or was followed, or waits. Undefined: it is unknown or has no predecessor. */
  commitDiff(source: string, commit: string): Promise<CommitDiff | undefined>
  /** The manifest of a resource as it is in Git, without secrets. Undefined: not declared. */
  manifest(key: ResourceKey): Promise<string | undefined>
  /** Returns what switching a Power now would do. Undefined: unknown name, or not observed yet. */
  powerPreview(target: string, state: 'on' | 'off'): PowerPreview | undefined
  ask(wish: Wish, actor: Actor): Promise<Granted>
  /** A source was pushed to: look now. Unknown names are ignored. */
  poke(source: string): void
  /** Reports whether a complete pass was made and the loop is alive. */
  ready(): boolean
}
