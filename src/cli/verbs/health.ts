import { createChecks } from '../../controller/checks/checks.ts'
import { driftsOf } from '../../controller/view/drifts.ts'
import { viewOf } from '../../controller/view/view.ts'
import { defined } from '../../lib/defined.ts'
import { atOnce } from '../../lib/in-turns.ts'
import type { Estate } from '../../model/estate.ts'
import { statusIn } from '../../model/estate-status.ts'
import type { CheckView, EstateView } from '../../model/estate-view.ts'
import type { HealthCheckSpec } from '../../model/health-check.ts'
import type { PowerPlan } from '../../model/observed-power.ts'
import type { Plan } from '../../model/plan.ts'
import type { ResourceRecord } from '../../model/record.ts'
import { troublesOf as judge } from '../../model/trouble.ts'
import { realDirectory } from '../../state/state-file.ts'
import { closing, existingState, inWords, nothingIn } from '../load.ts'
import { note, styleOf, writeData } from '../output.ts'
import { showAge } from '../render/duration.ts'
import { asSeenNow, groupedByCause, renderTrouble, troublesOf, votesOf, withJudged } from '../render/health.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { blindExit } from '../render/plan-summary.ts'
import { many } from '../render/problems.ts'
import { clean } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { EXIT, type ExitCode, type Options, type Verb } from '../verb.ts'

/**
 * Checks everything once: connections, manifests, clusters, resources, drift, checks. Prints each problem with since
 * when, why, and what to do. Exits with 0 only if all is well.
 */
export const run: Verb = async (runtime, words, options) => {
  if (options.watch !== true) return look(runtime, words, options)
  let before = ''
  while (!runtime.signal.aborted) {
    const lines: string[] = []
    await look({ ...runtime, out: { ...runtime.out, write: (text) => lines.push(text) } }, words, options)
    const text = lines.join('')
    if (text !== before) runtime.out.write(`${before === '' ? '' : '\n'}${text}`)
    before = text
    await runtime.clock.sleep(WATCH_MS, runtime.signal)
  }
  return 'stopped'
}

const WATCH_MS = 5000

async function look(runtime: Runtime, [directory = '.']: readonly string[], options: Options): Promise<ExitCode> {
  const real = realDirectory(runtime, directory)
  const loaded = await runtime.load(real)
  if (loaded.files === 0) note(runtime, nothingIn(inWords(directory, real)))
  await using store = await existingState(runtime, real, options)
  await using engine = closing(await runtime.openEngine(store.it, { directory: real }))
  const { judgeable, undecided } = ofReadable(loaded.estate, await engine.it.plan(loaded.estate, runtime.signal))
  const resting = atRest(judgeable, await store.it.records(), runtime.clock.now())
  const { plan } = resting
  const records = asSeenNow(resting.records, plan.clusters ?? [])
  const checks = createChecks(runtime.clock, engine.it.askCheck, { atOnce: true })
  await checks.look({ estate: loaded.estate, clusters: plan.clusters ?? [], surveys: [] }, runtime.signal)
  const asked = new Set(
    [...(loaded.estate.checks ?? [])].flatMap(([name, { probe }]) => (resting.isAskedOf(probe) ? [name] : [])),
  )
  const notReady = records.filter((record) =>
    record.conditions.some((one) => one.type === 'Ready' && one.status !== 'True'),
  )
  const pending = plan.entries.filter(({ action }) => action.do !== 'nothing')
  // These were not read, so the absence of errors does not prove that they work.
  const unseen = new Set(
    (plan.clusters ?? []).flatMap(({ declaration, observed }) =>
      observed.requests.hold?.guard === 'not-seen' ? [`cluster/${declaration.name}`] : [],
    ),
  )
  const report = {
    apiVersion: API_VERSION,
    kind: 'Health',
    connections: loaded.estate.connections.map(({ name }) => ({
      name,
      state: plan.notes.find((note) => note.connection === name)?.code ?? (unseen.has(name) ? 'unknown' : 'ok'),
    })),
    resources: {
      total: plan.entries.length,
      asDeclared: plan.entries.length - pending.length,
      notReady: notReady.map(({ key, status }) => ({ key, status })),
    },
    drifts: driftsOf({ plan, records }).map(({ key, field, declared, observed }) => ({
      key,
      field,
      declared,
      observed,
    })),
    problems: loaded.estate.problems.filter(({ severity }) => severity === 'error').length,
    undecided,
    checks: checks.views().flatMap(({ name, passed, output }) => (asked.has(name) ? [] : [{ name, passed, output }])),
    resting: resting.lines,
  }
  const well =
    blindExit(plan) === undefined &&
    report.problems === 0 &&
    pending.length === 0 &&
    notReady.length === 0 &&
    report.checks.every(({ passed }) => passed === 'yes')
  const troubled = new Set([...pending.map(({ key }) => key), ...notReady.map(({ key }) => key)])
  const events = (
    await Promise.all([...troubled].slice(0, LOOKED_INTO).map((key) => store.it.events({ key, limit: 200 })))
  ).flat()
  const judged = judge(statusIn(seenNow(loaded.estate, plan, records, checks.views())), runtime.clock.now())
  const troubles = withJudged(judged, troublesOf({ plan, records, events }), TOLD_ABOVE)
  const healthy = well && troubles.length === 0 && judged.length === 0
  const output = options.json === true ? 'json' : options.output
  if (await writeData(runtime, output, { ...report, troubles, healthy })) return healthy ? EXIT.ok : EXIT.failed
  const style = styleOf(runtime, runtime.out)
  const line = (good: boolean, text: string) =>
    runtime.out.write(`${style.paint(good ? 'green' : 'red', good ? 'ok  ' : 'bad ')} ${clean(text)}\n`)
  for (const text of resting.lines) line(true, text)
  for (const { name, state } of report.connections) {
    const note = plan.notes.find((one) => one.connection === name)
    if (resting.connections.has(name) || (note === undefined && state === 'unknown')) continue
    line(note === undefined, `connection ${name}: ${note === undefined ? 'ok' : `${state}: ${note.message}`}`)
    if (note !== undefined) runtime.out.write(`       → croft doctor ${directory}\n`)
  }
  if (report.problems > 0) {
    line(false, `manifests: ${many(report.problems, 'error')}`)
    if (undecided.length > 0) {
      const more = undecided.length - NAMED
      const names = `${undecided.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
      runtime.out.write(clean(`       no valid manifest declares ${names}; one with an error may`, 400))
      runtime.out.write('\n')
    }
    runtime.out.write(`       → croft validate ${directory}\n`)
  }
  for (const look of plan.clusters ?? [])
    if (!troubles.some(({ key }) => key === look.declaration.key))
      line(true, `${look.declaration.key}: ${look.decision.phase}, ${votesOf(look)}`)
  line(pending.length === 0, `resources: ${report.resources.asDeclared} of ${report.resources.total} as declared`)
  const blind = new Set(plan.notes.map(({ connection }) => connection))
  const hidden = new Set(plan.entries.filter(({ connection }) => blind.has(connection)).map(({ key }) => String(key)))
  for (const { name, passed, output } of report.checks) line(passed === 'yes', `check ${name}: ${output}`)
  // Last: each ends with what to do about it.
  for (const trouble of groupedByCause(troubles.filter(({ key }) => !hidden.has(key))))
    runtime.out.write(renderTrouble(trouble, runtime.clock.now(), style))
  return healthy ? EXIT.ok : EXIT.failed
}

/** Beyond this number of troubled things, events are not read. */
const LOOKED_INTO = 50

/** Beyond this number of undecided resources, the rest is counted. */
const NAMED = 5

/** Connections and checks have lines of their own. */
const TOLD_ABOVE = new Set(['connection', 'check'] as const)

/**
 * Splits off entries that only a manifest with an error may declare. They are named and not judged: neither their
 * deletion nor the guard that holds it needs a correction. Pure.
 */
function ofReadable(estate: Estate, plan: Plan): { readonly judgeable: Plan; readonly undecided: readonly string[] } {
  if (estate.problems.every(({ severity }) => severity !== 'error')) return { judgeable: plan, undecided: [] }
  const declared = new Set<string>(estate.resources.map(({ key }) => key))
  const entries = plan.entries.filter(({ key }) => declared.has(key))
  const undecided = plan.entries.filter(({ key }) => !declared.has(key)).map(({ key }) => key)
  return { judgeable: { ...plan, entries }, undecided }
}

/** Returns the view of one look, as the controller would show it. */
function seenNow(
  estate: Estate,
  plan: Plan,
  records: readonly ResourceRecord[],
  checks: readonly CheckView[],
): Omit<EstateView, 'version' | 'atMs'> {
  const { powers, hosts = [] } = plan
  const report = defined({ plan, records, events: [], effects: 0, settled: true, lookAgainMs: 0, powers })
  const drifts = driftsOf({ plan, records })
  return { ...atOnce(viewOf({ sources: [], estate, report, drifts, checks })), hosts }
}

/** Things that are off on request, and the rest to judge. */
interface Resting {
  /** One line per Power that is off. */
  readonly lines: readonly string[]
  readonly connections: ReadonlySet<string>
  /** The plan and the records without what rests. */
  readonly plan: Plan
  readonly records: readonly ResourceRecord[]
  /** Reports whether a probe targets a thing that is off. */
  readonly isAskedOf: (probe: HealthCheckSpec['probe']) => boolean
}

/** A cluster that is off on request is healthy: its unreadable objects are no trouble. Pure. */
function atRest(plan: Plan, records: readonly ResourceRecord[], nowMs: number): Resting {
  const off = (plan.powers ?? []).filter(({ decision }) => decision.phase === 'Off')
  const connections = new Set(off.flatMap(connectionsOf))
  const machines = new Set(
    off.flatMap(({ decision }) => Object.keys(decision.machines).filter((key) => decision.machines[key] === 'off')),
  )
  const clusters = new Set(off.flatMap(({ declaration }) => declaration.spec.cluster ?? []))
  const rests = ({ key, connection }: { readonly key: string; readonly connection: string }) =>
    connections.has(connection) || machines.has(key)
  const resting = plan.entries.filter(rests)
  const lines = off.map(({ declaration, decision: { wanted } }) => {
    const since = wanted.sinceMs === 0 ? '' : `, since ${showAge(nowMs - wanted.sinceMs)}`
    const what = declaration.spec.cluster === undefined ? '' : ` cluster ${declaration.spec.cluster} is`
    return `${declaration.key}:${what} off on request (${wanted.why})${since}; ${many(resting.length, 'thing')} rest with it → croft power on ${declaration.name}`
  })
  const hidden = new Set(resting.map(({ key }) => String(key)))
  return {
    lines,
    connections,
    plan: {
      ...plan,
      entries: plan.entries.filter((entry) => !rests(entry)),
      notes: plan.notes.filter(({ connection }) => !connections.has(connection)),
    },
    records: records.filter((record) => !rests(record) && !hidden.has(String(record.key))),
    isAskedOf: (probe) =>
      (probe.ask === 'cluster' && clusters.has(probe.cluster)) ||
      (probe.ask === 'command' && machines.has(`Machine/${probe.on}`)),
  }
}

/** Returns the API of the cluster, and each hypervisor with all declared hosts off. */
function connectionsOf({ declaration: { spec }, observed }: PowerPlan): readonly string[] {
  const hosts = Map.groupBy(spec.hosts, ({ connection }) => connection ?? '')
  const dark = [...hosts].flatMap(([connection, own]) =>
    connection !== '' && own.every(({ name }) => observed.hosts.find((host) => host.name === name)?.power === 'off')
      ? [connection]
      : [],
  )
  return [...(spec.cluster === undefined ? [] : [`cluster/${spec.cluster}`]), ...dark]
}
