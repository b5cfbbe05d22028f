import type { ResourceKey } from './key.ts'

/** What a person allows croft to do with one resource. Read from the manifest by the kind, judged by the guards. */
export interface Policy {
  /** What happens to the thing when its declaration goes away. Orphan: it stays, unmarked work for a person. */
  readonly deletion: 'Delete' | 'Orphan'
  /** Deletion and replacement are refused while this is set, whatever `deletion` says. */
  readonly protect: boolean
  /** Nothing is written while this is set (`crossplane.io/paused`, `croft.dev/paused`). */
  readonly paused: boolean
  /** `observe`: look and report, never write (`managementPolicies: [Observe]`). */
  readonly manage: 'full' | 'observe'
  /** May the thing be destroyed and created again when a field cannot be changed in place? */
  readonly replace: 'refused' | 'allowed'
  /** An existing thing, not made by us, that a person asked us to take over (`crossplane.io/external-name`). */
  readonly adopt?: string
  /**
   * What is taken over keeps its own looks: an object of a cluster says whose it is, so no mark is written on it. Only of
   * declarations that are such objects.
   */
  readonly unmarked?: true
  /** Secrets that no answer shows are sent again when this text changes (`croft.dev/rotate`). */
  readonly rotate?: string
  /** The cluster whose memory it holds as a server: it goes by that cluster's doing, and not because the cluster is gone. */
  readonly serverOf?: ResourceKey
  /**
   * What happens when the world moves and Git does not (`croft.dev/drift`). correct: it is put back. report: it is shown
   * and held until a person decides. ignore: it is left alone. Absent: correct.
   */
  readonly drift?: 'correct' | 'report' | 'ignore'
  /** A person said `protect: false`: what is on its data disks may go with it. */
  readonly dataMayGo?: true
  /**
   * What comes of a first boot that went wrong (`croft.dev/cloud-init`). require: the machine is not Ready before
   * cloud-init has ended well. report: it is Ready when it answers, and what went wrong is only said. Absent: require.
   */
  readonly firstBoot?: FirstBoot
  /** Declarations that are Ready before it is made (`dependsOn`). It leaves before them. */
  readonly after?: readonly ResourceKey[]
  /** CEL expressions about itself that hold before it counts as Ready (`readyWhen`). */
  readonly readyWhen?: readonly string[]
}

/** What a failed cloud-init means for a machine that croft made. */
export type FirstBoot = 'require' | 'report'

export const DEFAULT_POLICY: Policy = {
  deletion: 'Delete',
  protect: false,
  paused: false,
  manage: 'full',
  replace: 'refused',
}
