import { z } from 'zod'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import { fieldsOnly } from '../../model/masked/shown-fields.ts'
import { projectExcerpts, projectPlan, projectResource, rowMaker } from './project.ts'
import { Declined, get, type Route, route } from './route.ts'
import * as schemas from './schemas.ts'
import { tellTimeline } from './timeline.ts'
import { addonTree } from './workload-schemas.ts'

const byKey = z.object({ key: schemas.keySchema })
const whole = z.coerce.number().int().nonnegative()

export const READS: readonly Route[] = [
  get('/api/me', 'Who asks, and what he may do', {
    output: schemas.me,
    handle: ({ me }) => me(),
  }),
  get('/api/view', 'The whole estate at one moment, a line for each resource', {
    output: schemas.page,
    handle: ({ stream }) => stream.page(),
  }),
  get('/api/excerpts', 'Lines of manifests in which something is wrong, for who signed in', {
    signedIn: true,
    output: z.object({ excerpts: schemas.list(schemas.excerpt) }),
    handle: ({ controller }) => ({ excerpts: projectExcerpts(controller.view()) }),
  }),
  get('/api/resources', 'Resources, by kind, host, cluster or a word in their name', {
    input: z.object({
      kind: z.string().optional(),
      host: z.string().optional(),
      cluster: z.string().optional(),
      contains: z.string().max(256).optional(),
      offset: whole.default(0),
      limit: whole.max(LIMITS.listPage).default(500),
    }),
    output: z.object({ total: z.number(), rows: schemas.list(schemas.row) }),
    handle({ controller }, { kind, host, cluster, contains, offset, limit }) {
      const view = controller.view()
      const found = view.resources.filter(
        (one) =>
          (kind === undefined || one.kind === kind) &&
          (host === undefined || one.host === host) &&
          (cluster === undefined || one.cluster === cluster) &&
          (contains === undefined || one.key.toLowerCase().includes(contains.toLowerCase())),
      )
      return { total: found.length, rows: found.slice(offset, offset + limit).map(rowMaker(view)) }
    },
  }),
  get('/api/resource', 'Everything about one resource', {
    input: byKey,
    output: schemas.resource,
    handle({ controller }, { key }) {
      const view = controller.view()
      const found = view.resources.find((one) => one.key === key)
      if (found === undefined) throw new Declined(404, 'not-found', `There is no resource ${key}.`)
      const observed = controller.observed(key)
      const detail = projectResource(view, observed === undefined ? found : { ...found, observed })
      return controller.consoles?.offers(key) === true ? { ...detail, console: true as const } : detail
    },
  }),
  get('/api/waiting-plan', 'The plan of a commit that waits for a person, as croft plan prints it', {
    input: z.object({ source: z.string().max(500) }),
    output: z.object({
      source: z.string(),
      commit: z.string().optional(),
      plan: z.string().optional(),
      text: z.string().optional(),
      rows: schemas.list(schemas.waitingRow).optional(),
    }),
    handle({ controller }, { source }) {
      const waiting = controller.view().sources.find(({ name }) => name === source)?.waiting
      if (waiting === undefined) return { source }
      const { commit, plan, text, rows } = waiting
      return { source, commit, text, ...defined({ plan, rows }) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/commit-diff',
    summary: 'What a commit changes in the files of its source; lines of secrets and of encrypted files are not in it',
    // A diff shows comments and other text of a file: more than the declarations that everybody may read.
    scope: 'operate',
    input: z.object({ source: z.string().min(1).max(500), commit: z.string().min(1).max(64) }),
    output: schemas.commitDiff,
    async handle({ controller }, { source, commit }) {
      const diff = await controller.commitDiff(source, commit)
      if (diff === undefined)
        throw new Declined(404, 'not-found', `There is nothing to compare commit ${commit} of ${source} with.`)
      return diff
    },
  }),
  get(
    '/api/manifest',
    'The manifest of a resource as it is in Git, without secrets; its fields alone for who did not sign in',
    {
      input: byKey,
      output: z.object({ key: schemas.shownKey, yaml: z.string().optional() }),
      async handle({ controller, known }, { key }) {
        const yaml = await controller.manifest(key)
        return { key, ...defined({ yaml: yaml === undefined || known ? yaml : fieldsOnly(yaml) }) }
      },
    },
  ),
  get('/api/plan', 'Everything that is not as declared: what will be done, what is held and why', {
    output: z.object({
      version: z.number(),
      entries: schemas.list(schemas.planEntry),
      /** Its disruptions of running things; absent before the first look. */
      disruption: schemas.disruption.optional(),
    }),
    handle({ controller }) {
      const view = controller.view()
      const { version, disruption } = view
      return { version, entries: projectPlan(view), ...defined({ disruption }) }
    },
  }),
  get('/api/addon', 'What an add-on declares and what runs for it: owners, pods, their events', {
    input: z.object({ cluster: z.string().min(1).max(256), addon: z.string().min(1).max(256) }),
    output: addonTree,
    async handle({ controller }, { cluster, addon }) {
      const tree = await controller.workloads?.tree(cluster, addon)
      if (tree === undefined) throw new Declined(404, 'not-found', `There is no Addon ${addon} for cluster ${cluster}.`)
      return { cluster, addon, ...tree }
    },
  }),
  get('/api/drifts', 'Differences that somebody else made: which field, since when, by whom', {
    output: z.object({ drifts: schemas.list(schemas.drift) }),
    handle: ({ controller }) => ({ drifts: controller.view().drifts }),
  }),
  get('/api/power-plan', 'What would be done if a Power were switched off or on now; nothing is requested', {
    input: z.object({ target: z.string().min(1).max(256), state: z.enum(['on', 'off']) }),
    output: schemas.powerPlan,
    handle({ controller }, { target, state }) {
      const plan = controller.powerPreview(target, state)
      if (plan === undefined) throw new Declined(404, 'not-found', `There is no Power ${target}.`)
      return plan
    },
  }),
  get('/api/history', 'What happened, newest last', {
    input: z.object({
      key: schemas.keySchema.optional(),
      commit: z.string().max(64).optional(),
      after: whole.optional(),
      before: whole.optional(),
      limit: whole.min(1).max(LIMITS.historyPage).default(200),
    }),
    output: z.object({ events: schemas.list(schemas.event) }),
    async handle({ controller }, { key, commit, after, before, limit }) {
      const events = await controller.history({
        limit,
        ...defined({ key, commit, afterSeq: after, beforeSeq: before }),
      })
      return { events: events.toSorted((a, b) => a.seq - b.seq) }
    },
  }),
  get('/api/timeline', 'What happened by commit, with where the time went', {
    input: z.object({ limit: whole.min(1).max(LIMITS.historyPage).default(500) }),
    output: z.object({ chapters: schemas.list(schemas.chapter) }),
    async handle({ controller }, { limit }) {
      const { commits, sources } = controller.view()
      return { chapters: tellTimeline(await controller.history({ limit }), commits ?? [], sources) }
    },
  }),
  get('/api/courses', 'How upgrades, restores and power of a cluster or Power went of late, step by step', {
    input: z.object({ key: schemas.keySchema.optional() }),
    output: z.object({ atMs: z.number(), courses: schemas.list(schemas.course) }),
    handle({ controller, clock }, { key }) {
      const all = controller.past?.courses() ?? []
      return { atMs: clock.now(), courses: key === undefined ? all : all.filter((one) => one.key === key) }
    },
  }),
  get('/api/health', 'How well everything was in the last 24 hours, in slots of half an hour', {
    output: z.object({ slotMs: z.number(), atMs: z.number(), strips: schemas.list(schemas.strip) }),
    handle: ({ strips, clock }) => ({
      slotMs: LIMITS.healthSlotMs,
      atMs: clock.now(),
      strips: strips.strips(clock.now()),
    }),
  }),
  get('/api/health-days', 'How well clusters, hosts and checks were by day, in seconds; days in UTC', {
    input: z.object({ days: whole.min(1).max(LIMITS.historyDays).default(LIMITS.historyDays) }),
    output: z.object({ atMs: z.number(), strips: schemas.list(schemas.dayStrip) }),
    handle: ({ controller, clock }, { days }) => ({
      atMs: clock.now(),
      strips: (controller.past?.days(clock.now(), days) ?? []).map(({ what, subject, spans }) => ({
        what,
        subject,
        days: spans.map((one) => one ?? null),
      })),
    }),
  }),
  get(
    '/api/gauges',
    'Load, memory, storage, temperature and etcd over time, as means of quarter hours; null: not known',
    {
      input: z.object({
        what: z.enum(['host', 'storage', 'node', 'cluster']).optional(),
        /** One subject; for storages with the host. */
        subject: z.string().max(LIMITS.foreignNameLength).optional(),
        hours: whole
          .min(1)
          .max(LIMITS.gaugeDays * 24)
          .default(24),
      }),
      output: z.object({ atMs: z.number(), slotMs: z.number(), gauges: schemas.list(schemas.gauge) }),
      handle({ controller, clock }, { what, subject, hours }) {
        const slots = (hours * 3_600_000) / LIMITS.gaugeSlotMs
        const all = controller.past?.gauges(clock.now(), slots) ?? []
        const found = all.filter(
          (one) =>
            (what === undefined || one.what === what) &&
            (subject === undefined || one.subject === subject || one.subject.startsWith(`${subject}/`)),
        )
        return {
          atMs: clock.now(),
          slotMs: LIMITS.gaugeSlotMs,
          gauges: found.map(({ means, ...one }) => ({ ...one, means: means.map((mean) => mean ?? null) })),
        }
      },
    },
  ),
]
