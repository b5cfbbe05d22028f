import type { ClusterTools } from '../../engine/clusters/sessions.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Estate } from '../../model/estate.ts'
import type { Store } from '../../store/port.ts'
import { type FoundMarks, type LeaveTools, type MarkedThing, takeMarksOff } from './look.ts'
import type { LeaveScope } from './scope.ts'

interface LeaveWork {
  readonly estate: Estate
  readonly scope: LeaveScope
  readonly look: FoundMarks
  readonly tools: LeaveTools
  /** Absent where no cluster is left. */
  readonly clusters: ClusterTools | undefined
  readonly engine: Pick<Engine, 'surroundings'>
  readonly store: Store
  readonly signal: AbortSignal
}

/**
 * Takes croft off the scope and returns what remains, by name. Objects come first, while the cluster is known; then
 * nodes, while their machines are; then the machines.
 */
export async function takeCroftOff(leaving: LeaveWork): Promise<ReadonlyMap<string, string>> {
  const { estate, scope, look, tools, clusters, engine, signal } = leaving
  const problems = new Map(look.unread.map(({ connection, message }) => [connection, message]))
  const add = (more: ReadonlyMap<string, string>) => {
    for (const [what, why] of more) problems.set(what, why)
  }
  add(await takeMarksOff(look.marked.filter(isObject), tools, signal))
  const marked = new Set(look.marked.map(({ key }) => key))
  const kept = new Set<string>()
  for (const cluster of scope.clusters) {
    const surroundings = await engine.surroundings(estate, cluster.name, signal)
    if (surroundings === undefined || clusters === undefined) continue
    const nodes = [...cluster.spec.servers, ...cluster.spec.agents]
    // A machine without a mark was left before: its mark goes last.
    const disks = nodes.filter(({ machine }) => 'host' in machine || marked.has(machine.key)).map(({ name }) => name)
    const operator = clusters.driver.operate(cluster, clusters.deps)
    const unfinished = await operator.leave(surroundings, new Set(disks), signal)
    add(new Map([...unfinished].map(([node, why]) => [`node ${node}`, why])))
    // Without its mark, croft cannot find the machine's shell: an unfinished node keeps it until the next run.
    for (const { name, machine } of nodes) if ('key' in machine && unfinished.has(name)) kept.add(machine.key)
  }
  const rest = look.marked.filter((one) => !isObject(one) && !kept.has(one.key))
  add(await takeMarksOff(rest, tools, signal))
  await forget(leaving, new Set([...problems.keys(), ...kept]))
  return problems
}

function isObject({ connection }: MarkedThing): boolean {
  return connection.cluster !== undefined || connection.existing !== undefined
}

/**
 * Removes the records of released things before their marks: a record with a deletion policy would delete the thing.
 * Other records stay as orphans, so that a declaration still in Git is not created twice.
 */
async function forget({ store, scope }: LeaveWork, still: ReadonlySet<string>): Promise<void> {
  const epoch = await store.beginEpoch()
  for (const record of await store.records()) {
    if (still.has(record.key) || !(scope.clusters.some(({ key }) => key === record.key) || scope.covers(record.key)))
      continue
    if (record.type === 'cluster') await store.dropRecord(epoch, record.key)
    else
      await store.putRecords(epoch, [
        { ...record, made: false, status: 'Orphaned', policy: { ...record.policy, deletion: 'Orphan' } },
      ])
  }
}
