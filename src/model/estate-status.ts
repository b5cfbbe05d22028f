import { defined } from '../lib/defined.ts'
import type { ClusterView, EstateView } from './estate-view.ts'
import type { PowerView } from './observed-power.ts'
import { asBoxes } from './one-box.ts'

/** The input of the judgement: the whole state at one moment, in the page's terms. */
export interface EstateStatus {
  readonly sources: readonly {
    readonly name: string
    readonly trouble?: string | undefined
    readonly unreachable?: boolean | undefined
    /** A commit that is applied once a person approves its plan. */
    readonly waiting?:
      | { readonly plan?: string | undefined; readonly summary: string; readonly sinceMs: number }
      | undefined
  }[]
  readonly problems: readonly {
    readonly severity: 'error' | 'warning'
    readonly code?: string | undefined
    readonly file: string
    readonly line: number
    readonly message: string
    readonly hint?: string | undefined
  }[]
  readonly connections: readonly {
    readonly name: string
    readonly endpoint: string
    readonly state: string
    readonly message?: string | undefined
    readonly allow?: string | undefined
  }[]
  readonly hosts: readonly StatusHost[]
  readonly rows: readonly StatusRow[]
  readonly clusters: readonly StatusCluster[]
  readonly power?: readonly StatusPower[] | undefined
  readonly drifts: readonly StatusDrift[]
  readonly checks: readonly {
    readonly name: string
    readonly passed: 'yes' | 'no' | 'unknown'
    readonly output: string
  }[]
}

export interface StatusHost {
  readonly name: string
  readonly online: boolean
  readonly temperatureC?: number | undefined
  readonly alsoCalled?: string | undefined
}

export interface StatusRow {
  readonly key: string
  readonly ready: 'True' | 'False' | 'Unknown'
  readonly stalled: boolean
  readonly paused: boolean
  readonly do: string
  readonly next?: string | undefined
  readonly reason: string
  readonly message: string
  readonly sinceMs?: number | undefined
}

export interface StatusCluster {
  readonly name: string
  readonly phase: string
  readonly quorumMargin: number | 'unknown'
  readonly faultTolerance: string
  /** Since when the API of a formed cluster has not answered. */
  readonly unseenSinceMs?: number | undefined
  /** A restore or rotation that a command started, and its current step. */
  readonly operation?: ClusterView['operation'] | undefined
  readonly nodes: readonly {
    readonly name: string
    readonly role: string
    readonly phase: string
    readonly readySinceMs?: number | undefined
  }[]
  readonly holds: readonly StatusObjection[]
  readonly refusals: readonly StatusObjection[]
}

export interface StatusObjection {
  readonly guard?: string | undefined
  readonly reason: string
  readonly allow: string
}

export interface StatusPower {
  readonly name: string
  readonly cluster?: string | undefined
  readonly phase: string
  readonly wanted: { readonly state: 'on' | 'off' }
  readonly hosts: readonly { readonly name: string; readonly power: string }[]
  readonly holds: readonly StatusObjection[]
  readonly refusals: readonly StatusObjection[]
  readonly ups?:
    | {
        readonly state: NonNullable<PowerView['ups']>['state']
        readonly charge?: number | undefined
        readonly low?: boolean | undefined
      }
    | undefined
}

interface StatusDrift {
  readonly key: string
  readonly field: string
  readonly declared: string
  readonly observed: string
  readonly sinceMs: number
  readonly policy: 'correct' | 'report' | 'ignore'
  readonly by?: { readonly user: string; readonly task: string } | undefined
}

/** Returns the status of a resource, for a row of the page. */
export function rowStatus({ conditions, action, ...one }: EstateView['resources'][number]): StatusRow {
  const of = (type: 'Synced' | 'Ready' | 'Stalled') => conditions.find((condition) => condition.type === type)
  const [synced, ready, stalled] = [of('Synced'), of('Ready'), of('Stalled')]
  // The most telling condition: why it is unhealthy, or since when it is healthy.
  const telling = stalled?.status === 'True' ? stalled : synced?.status === 'True' ? ready : synced
  const next = action.do === 'hold' ? action.held.do : action.do === 'wait' ? action.next?.do : undefined
  return {
    key: one.key,
    paused: one.paused,
    ready: ready?.status ?? 'Unknown',
    stalled: stalled?.status === 'True',
    do: action.do,
    reason: telling?.reason ?? '',
    message: (telling?.message ?? '').slice(0, 300),
    ...defined({ next, sinceMs: telling?.sinceMs }),
  }
}

/** Returns the status that the controller, or one look from the command line, has observed. Pure. */
export function statusIn(view: Omit<EstateView, 'version' | 'atMs'>): EstateStatus {
  return {
    sources: view.sources,
    problems: view.problems.map(({ code, origin: { file, line }, severity, message, hint }) => ({
      code,
      file,
      line,
      severity,
      message,
      hint,
    })),
    connections: view.connections,
    hosts: asBoxes(view),
    rows: view.resources.map(rowStatus),
    clusters: view.clusters.map(({ name, quorumMargin, decision, observed, unseenSinceMs, operation }) => {
      const phases = new Map(decision.nodes.map((node) => [node.name, node.phase]))
      return {
        name,
        quorumMargin,
        phase: decision.phase,
        faultTolerance: decision.faultTolerance,
        unseenSinceMs,
        operation,
        holds: decision.holds,
        refusals: decision.refusals,
        nodes: observed.nodes.map((node) => ({
          name: node.name,
          role: node.role,
          phase: phases.get(node.name) ?? 'Unknown',
          readySinceMs: typeof node.kube === 'string' ? undefined : node.kube.readySinceMs,
        })),
      }
    }),
    power: view.power,
    drifts: view.drifts,
    checks: view.checks,
  }
}
