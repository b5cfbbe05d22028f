import { z } from 'zod'
import { ROLES, SCOPES } from '../auth/roles.ts'
import { cluster } from './cluster-schema.ts'
import { power, powerPlan } from './power-schemas.ts'
import { check, shownKey as key, keySchema, list, ms } from './schema-parts.ts'

// What leaves the server. Every answer is read through one of these, and fields that are not named here are dropped:
// a new field of the model is private until it is added to this file.

export const condition = z.object({
  type: z.enum(['Synced', 'Ready', 'Stalled', 'BackedUp']),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  sinceMs: ms,
})

export const change = z.object({
  path: z.string(),
  from: z.string(),
  to: z.string(),
  effect: z.enum(['live', 'restart', 'replace']),
  secret: z.boolean(),
  blocked: z.object({ message: z.string(), allow: z.string() }).optional(),
})

export const step = z.object({
  verb: z.string(),
  summary: z.string(),
  lane: z.string(),
  host: z.string(),
  method: z.string(),
  path: z.string(),
  params: z.record(z.string(), z.string()),
  disruption: z.enum(['none', 'restart', 'data-loss']),
})

const DOINGS = ['create', 'update', 'adopt', 'replace', 'delete'] as const

export const action = z.object({
  do: z.enum(['nothing', 'wait', ...DOINGS, 'forget', 'hold', 'refuse']),
  /** The action that is held, or follows a wait. */
  next: z.enum(DOINGS).optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
  guard: z.string().optional(),
  allow: z.string().optional(),
  /** The changes that a consent to the held action covers, line by line, and the short name of that list. */
  shows: list(z.string()).optional(),
  shown: z.string().optional(),
  externalId: z.string().optional(),
  changes: list(change),
  steps: list(step),
})

/** One line of a plan that waits for approval. */
export const waitingRow = z.object({
  key,
  do: action.shape.do,
  next: action.shape.do.optional(),
  text: z.string(),
  file: z.string().optional(),
})

export const commitDiff = z.object({
  source: z.string(),
  commit: z.string(),
  before: z.string(),
  more: z.number(),
  files: list(
    z.object({
      path: z.string(),
      change: z.enum(['added', 'changed', 'removed']),
      note: z.string().optional(),
      keys: list(key),
      lines: list(z.object({ sign: z.enum(['+', '-', ' ', '…']), text: z.string(), line: z.number().optional() })),
    }),
  ),
})

/** One line of a list: enough to show, sort and filter a thousand of them. */
export const row = z.object({
  key,
  kind: z.string(),
  name: z.string(),
  connection: z.string(),
  host: z.string().optional(),
  externalId: z.string().optional(),
  cluster: z.string().optional(),
  status: z.string(),
  synced: condition.shape.status,
  ready: condition.shape.status,
  stalled: z.boolean(),
  sinceMs: ms.optional(),
  /** Of the most telling condition: why it is not healthy, or since when it is. */
  reason: z.string(),
  message: z.string(),
  do: action.shape.do,
  next: action.shape.next,
  guard: z.string().optional(),
  power: z.string().optional(),
  address: z.string().optional(),
  paused: z.boolean(),
  drifted: z.boolean(),
})

const origin = z.object({ file: z.string(), line: z.number(), commit: z.string().optional() })

export const resource = row.extend({
  addresses: list(z.string()),
  conditions: list(condition),
  action,
  origin: origin.optional(),
  observed: z.record(z.string(), z.string()),
  /** The equivalent command. */
  command: z.string(),
  /** Set for a machine with a console. */
  console: z.literal(true).optional(),
})

const source = z.object({
  name: z.string(),
  remote: z.string(),
  ref: z.string(),
  commit: z.string().optional(),
  subject: z.string().optional(),
  author: z.string().optional(),
  committedMs: ms.optional(),
  lookedMs: ms.optional(),
  trouble: z.string().optional(),
  unreachable: z.literal(true).optional(),
  waiting: z
    .object({
      commit: z.string(),
      subject: z.string().optional(),
      author: z.string().optional(),
      plan: z.string().optional(),
      summary: z.string(),
      sinceMs: ms,
    })
    .optional(),
})

const problem = z.object({
  code: z.string(),
  severity: z.enum(['error', 'warning']),
  file: z.string(),
  line: z.number(),
  column: z.number(),
  object: z.string().optional(),
  field: z.string().optional(),
  message: z.string(),
  hint: z.string().optional(),
})

export const excerpt = z.object({ file: z.string(), line: z.number(), column: z.number(), excerpt: z.string() })
export type ExcerptOnPage = z.output<typeof excerpt>

const connection = z.object({
  name: z.string(),
  driver: z.string(),
  endpoint: z.string(),
  state: z.enum(['ok', 'unreachable', 'refused', 'suspect', 'incomplete']),
  message: z.string().optional(),
  allow: z.string().optional(),
})

const host = z.object({
  connection: z.string(),
  name: z.string(),
  online: z.boolean(),
  cpus: z.number().optional(),
  load: z.number().optional(),
  memoryBytes: z.number().optional(),
  memoryUsedBytes: z.number().optional(),
  temperatureC: z.number().optional(),
  watts: z.number().optional(),
  /** The name in Git, if the hypervisor uses another. */
  alsoCalled: z.string().optional(),
  /** Why a host of the same name is a different one. */
  apart: z.string().optional(),
})

export const drift = z.object({
  key,
  field: z.string(),
  declared: z.string(),
  observed: z.string(),
  sinceMs: ms,
  by: z.object({ user: z.string(), task: z.string(), atMs: ms }).optional(),
  policy: z.enum(['correct', 'report', 'ignore']),
})

export const pass = z.object({ endedMs: ms, tookMs: ms, effects: z.number(), nextMs: ms })

/** The initial state of the page; later it gets only changes. */
export const page = z.object({
  version: z.number(),
  atMs: ms,
  /** Hand it to /api/events?after= and miss nothing. */
  cursor: z.string(),
  sources: list(source),
  problems: list(problem),
  connections: list(connection),
  hosts: list(host),
  rows: list(row),
  clusters: list(cluster),
  power: list(power).optional(),
  drifts: list(drift),
  checks: list(check),
  pass: pass.optional(),
  ready: z.boolean(),
})

export const event = z.object({
  seq: z.number(),
  atMs: ms,
  key: key.optional(),
  type: z.enum(['Normal', 'Warning']),
  reason: z.string(),
  message: z.string(),
  commit: z.string().optional(),
})

export const disruption = z.object({
  worst: z.enum(['none', 'restart', 'outage', 'data-loss']),
  destroyed: z.number(),
  items: list(
    z.object({
      subject: z.string(),
      worst: z.enum(['none', 'restart', 'outage', 'data-loss']),
      restarts: z.number(),
      drains: z.number(),
      votesAway: z.number(),
      minutesAway: z.number(),
      minutes: z.number(),
      lost: list(z.string()),
      text: z.string(),
    }),
  ),
})

export const planEntry = z.object({
  key,
  connection: z.string(),
  host: z.string().optional(),
  externalId: z.string().optional(),
  origin: origin.optional(),
  action,
})

export const span = z.object({
  key,
  label: z.string(),
  fromMs: ms,
  /** Absent: still under way. */
  toMs: ms.optional(),
  kind: z.enum(['seen', 'step', 'settle']),
  failed: z.boolean(),
})

export const chapter = z.object({
  commit: z.string().optional(),
  subject: z.string().optional(),
  author: z.string().optional(),
  source: z.string().optional(),
  committedMs: ms.optional(),
  firstMs: ms,
  lastMs: ms,
  warnings: z.number(),
  /** The plan waits for approval, which explains the pause. */
  waits: z.literal(true).optional(),
  spans: list(span),
  events: list(event),
})

export const strip = z.object({
  subject: z.string(),
  what: z.enum(['cluster', 'host', 'check', 'resource']),
  /** One letter per slot, oldest first: `o` healthy, `x` not, `?` unknown, `-` off on request, `.` not observed. */
  slots: z.string(),
  /** Share of the looked-at slots that were well, 0 to 1. */
  share: z.number().optional(),
})

const seconds = z.number().int().nonnegative()

export const dayStrip = z.object({
  subject: z.string(),
  what: z.enum(['cluster', 'host', 'check']),
  /** One per day, oldest first; null: not observed, or off on request. */
  days: list(z.object({ up: seconds, down: seconds, unknown: seconds }).nullable()),
})

export const gauge = z.object({
  what: z.enum(['host', 'storage', 'node', 'cluster']),
  subject: z.string(),
  /** `cpu`, `memory` and `storage` are shares of 1. */
  gauge: z.enum(['cpu', 'memory', 'storage', 'temperature', 'watts', 'etcdBytes', 'etcdMs']),
  means: list(z.number().nullable()),
})

const bar = z.object({
  step: z.string(),
  sort: z.enum(['move', 'change', 'down', 'wait', 'off']),
  says: z.string(),
  fromMs: ms,
  /** Absent: it goes on. */
  toMs: ms.optional(),
})

/** The course of an upgrade, restore, power-off or other change: steps by node, and etcd's votes over time. */
export const course = z.object({
  key,
  purpose: z.enum(['upgrade', 'operation', 'change', 'power-off', 'power-on']),
  title: z.string(),
  fromMs: ms,
  seenMs: ms,
  over: z.boolean(),
  tracks: list(
    z.object({
      name: z.string(),
      sort: z.enum(['workloads', 'server', 'agent', 'machine', 'host']),
      bars: list(bar),
    }),
  ),
  votes: list(
    z.object({
      atMs: ms,
      up: z.union([z.number(), z.literal('unknown')]),
      voters: z.number(),
      needed: z.number(),
    }),
  ),
})

export const me = z.object({
  name: z.string().optional(),
  role: z.enum(ROLES).optional(),
  scopes: list(z.enum(SCOPES)),
  /** Goes into the header X-Croft-Csrf of every request that changes something. */
  csrf: z.string().optional(),
  signIn: z.object({ local: z.boolean(), oidc: z.boolean() }),
  version: z.string(),
})

export const session = z.object({
  id: z.string(),
  user: z.string(),
  role: z.enum(ROLES),
  source: z.enum(['local', 'oidc']),
  address: z.string(),
  openedMs: z.number(),
  /** The one that asks. */
  own: z.boolean(),
})
export type SessionOnPage = z.output<typeof session>

/** One of the caller's keys. Its public half stays on the server. */
export const securityKey = z.object({
  id: z.string(),
  name: z.string(),
  rpId: z.string(),
  addedMs: z.number(),
  usedMs: z.number().optional(),
})
export type SecurityKeyOnPage = z.output<typeof securityKey>

const ids = list(z.string())
/** The second factors that a user can show, and the challenge for the user's keys on this page. */
export const factorsToShow = z.object({
  code: z.boolean(),
  key: z.object({ challenge: z.string(), rpId: z.string(), ids }).optional(),
  elsewhere: list(z.string()),
})
export type FactorsToShow = z.output<typeof factorsToShow>

/** The input of a browser for creating a key. */
export const keyToMake = z.object({
  challenge: z.string(),
  rpId: z.string(),
  user: z.object({ id: z.string(), name: z.string() }),
  algorithms: list(z.number()),
  ids,
})
export type KeyToMake = z.output<typeof keyToMake>

export const granted = z.object({ ok: z.literal(true), message: z.string(), link: z.string().optional() })
export const trouble = z.object({ error: z.string(), message: z.string() })

export type Row = z.output<typeof row>
export type ResourceDetail = z.output<typeof resource>
export type Page = z.output<typeof page>
export type PowerOnPage = z.output<typeof power>
export type PowerPlanOnPage = z.output<typeof powerPlan>
export type ClusterOnPage = z.output<typeof cluster>
export type ActionOnPage = z.output<typeof action>
export type DisruptionOnPage = z.output<typeof disruption>
export type PlanEntryOnPage = z.output<typeof planEntry>
export type Chapter = z.output<typeof chapter>
export type Span = z.output<typeof span>
export type Strip = z.output<typeof strip>
export type DayStrip = z.output<typeof dayStrip>
export type Gauge = z.output<typeof gauge>
export type CourseOnPage = z.output<typeof course>
export type Me = z.output<typeof me>
export type EventOnPage = z.output<typeof event>
export type CommitDiffOnPage = z.output<typeof commitDiff>
export type WaitingRowOnPage = z.output<typeof waitingRow>
export type DriftOnPage = z.output<typeof drift>
export type HostOnPage = z.output<typeof host>
export { cluster, key as shownKey, keySchema, list, powerPlan }
