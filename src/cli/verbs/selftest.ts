import { LIMITS } from '../../lib/limits.ts'
import type { ClusterSpec } from '../../model/cluster.ts'
import type { ClusterOperation } from '../../model/observed-cluster.ts'
import { planBackup } from '../../plan/clusters/backup.ts'
import { openState } from '../../state/state-file.ts'
import type { Store } from '../../store/port.ts'
import {
  judgeApi,
  judgeChecks,
  judgeNewestBackup,
  judgeNodes,
  judgeVotes,
  type SelfTestResult,
} from '../clusters/judge-cluster.ts'
import { clusterTools, type OpenedCluster, openCluster } from '../clusters/opened.ts'
import { untilListed } from '../clusters/snapshot-now.ts'
import { closing } from '../load.ts'
import { styleOf, writeData } from '../output.ts'
import { API_VERSION } from '../render/plan-json.ts'
import { clean } from '../render/text.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, signalCode, type Verb } from '../verb.ts'
import { prepareDrill } from './cluster/drill.ts'
import { findCluster } from './cluster/find.ts'
import { messageOf, performOperation } from './cluster/operate.ts'
import { examineNodes } from './doctor.ts'
import { textOf } from './host/find.ts'

interface Tested extends SelfTestResult {
  readonly step: string
  readonly seconds: number
}

/**
 * Checks one cluster on the hardware that it runs on, one line for each step. It changes nothing that runs: without
 * options it only reads, `--snapshot` adds a snapshot, `--drill` uses a host that may be wiped.
 */
export const run: Verb = async (runtime, words, options) => {
  const { cluster, estate, directory, state } = await findCluster(runtime, words, options)
  const tools = await clusterTools(runtime, { directory, state })
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { spec } = cluster
  const report = reportTo(runtime, options)
  const surroundings = await opened.it.surroundings()
  let startedMs = runtime.clock.now()
  for await (const { node, checks } of examineNodes(cluster, surroundings, tools, runtime.signal)) {
    report.add(`machine of ${node}`, judgeChecks(checks), startedMs)
    startedMs = runtime.clock.now()
  }
  const look = await opened.it.look()
  report.add('Kubernetes API', judgeApi(look.observed), startedMs)
  const read = (step: string, verdict: SelfTestResult) => report.add(step, verdict, runtime.clock.now())
  read('nodes', judgeNodes(spec, look.observed))
  read('etcd', judgeVotes(spec, look.observed))
  read('record of the cluster', judgeRecord((await opened.it.secrets()) !== undefined, spec))
  read('newest backup', judgeNewestBackup(look.observed, runtime.clock.now()))

  const host = options.drill === undefined ? undefined : textOf(options.drill)
  const wantsSnapshot = options.snapshot === true || host !== undefined
  const taken = wantsSnapshot
    ? await report.time('snapshot', () => performed(runtime, store.it, opened.it, planBackup(spec, look.observed)))
    : read('snapshot', notTried('--snapshot takes one; nothing removes it by itself'))
  if (host === undefined) read('restore on a spare host', notTried('name one that may be wiped: --drill HOST'))
  else if (taken.result !== 'ok') read(`restore on ${host}`, notTried('there is no new snapshot'))
  else
    await report.time(`restore on ${host}`, async () => {
      const pause = () => runtime.clock.sleep(LIMITS.operationPollMs, runtime.signal)
      // A session that has read the list of snapshots reads it again after a minute only.
      await using anew = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
      const now = await untilListed(look.observed.snapshots, () => anew.it.look(), pause)
      await using drill = closing(await prepareDrill(runtime, anew.it, now, host, directory, options))
      return await performed(runtime, store.it, drill.it.opened, drill.it.operation)
    })
  for (const [step, why] of NEVER_TRIED) read(step, notTried(why))
  return await report.end(cluster.name)
}

/** Steps that would disrupt running nodes. The commands for them have their own safeguards. */
const NEVER_TRIED = [
  ['restart, upgrade, changed flags', 'they take a server down; croft plan shows them before croft apply does them'],
  [
    'restore, rotations',
    'they change the cluster itself; croft cluster restore --plan and rotate --plan list the steps',
  ],
  ['loss of a server, power off and on', 'they need somebody at the switch'],
] as const

function notTried(why: string): SelfTestResult {
  return { result: 'not tried', seen: why }
}

function judgeRecord(kept: boolean, { name, servers }: Pick<ClusterSpec, 'name' | 'servers'>): SelfTestResult {
  return kept
    ? { result: 'ok', seen: `CA and token are kept here; commit what croft cluster escrow ${name} prints` }
    : {
        result: 'failed',
        seen: 'CA and token are not kept here',
        details: [`→ croft cluster recover ${name} --from ${servers[0]?.name ?? 'a server'}`],
      }
}

async function performed(
  runtime: Runtime,
  store: Store,
  opened: OpenedCluster,
  operation: ClusterOperation,
): Promise<SelfTestResult> {
  const [refusal] = operation.refusals
  if (refusal !== undefined) return { result: 'failed', seen: refusal.reason, details: [`→ ${refusal.allow}`] }
  const said: string[] = []
  const result = await performOperation(runtime, store, opened, operation, {
    begun: () => {},
    said: (text) => said.push(text),
  })
  if (result.is === 'failed') return { result: 'failed', seen: messageOf(result) }
  return { result: 'ok', seen: said.at(-1) ?? operation.steps.at(-1)?.summary ?? operation.name }
}

const MARKS = {
  ok: ['ok       ', 'green'],
  warning: ['warning  ', 'yellow'],
  failed: ['FAILED   ', 'red'],
  'not tried': ['not tried', 'dim'],
} as const

function reportTo(runtime: Runtime, { output }: Options) {
  const tested: Tested[] = []
  const style = styleOf(runtime, runtime.out)
  const add = (step: string, verdict: SelfTestResult, startedMs: number): SelfTestResult => {
    const one = { step, ...verdict, seconds: Math.max(0, (runtime.clock.now() - startedMs) / 1000) }
    tested.push(one)
    if (output !== undefined) return verdict
    const [mark, colour] = MARKS[one.result]
    const time = one.result === 'not tried' ? '' : `${one.seconds.toFixed(1)} s`
    runtime.out.write(
      `${style.paint(colour, mark)}  ${clean(step).padEnd(34)} ${time.padStart(8)}  ${clean(one.seen, 400)}\n`,
    )
    for (const line of one.details ?? []) runtime.out.write(`${' '.repeat(11)}${clean(line, 400)}\n`)
    return verdict
  }
  return {
    add,
    /** An unexpected error fails only its step. */
    async time(step: string, deed: () => Promise<SelfTestResult>): Promise<SelfTestResult> {
      const startedMs = runtime.clock.now()
      try {
        return add(step, await deed(), startedMs)
      } catch (error) {
        if (!(error instanceof CliError)) throw error
        return add(step, { result: 'failed', seen: error.message }, startedMs)
      }
    },
    async end(cluster: string): Promise<ExitCode> {
      const count = (result: SelfTestResult['result']) => tested.filter((one) => one.result === result).length
      const failed = count('failed')
      const data = { apiVersion: API_VERSION, kind: 'Selftest', cluster, passed: failed === 0, steps: tested }
      if (!(await writeData(runtime, output, data)))
        runtime.out.write(
          `\n${clean(cluster)}: ${count('ok')} ok, ${count('warning')} with a warning, ${failed} failed, ${count('not tried')} not tried.\n`,
        )
      if (runtime.signal.aborted) return signalCode(runtime.signal)
      return failed === 0 ? EXIT.ok : EXIT.failed
    },
  }
}
