import { type GuestSnapshots, ObservationFailed } from '../../../drivers/port.ts'
import type { Estate } from '../../../model/estate.ts'
import type { ObservedResource, Resource } from '../../../model/resource.ts'
import type { Outcome } from '../../../model/step.ts'

import { ownState } from '../../load.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, type ExitCode, UsageError } from '../../verb.ts'
import { type AskedMachine, noteOperation, withGuest } from './find.ts'
import { confirm, whyNotOff } from './power.ts'

export type SnapshotVerb = 'snapshots' | 'snapshot' | 'revert' | 'drop-snapshot'

/** The messages before and after an operation. */
const WORDS: Readonly<Record<Exclude<SnapshotVerb, 'snapshots'>, readonly [string, string]>> = {
  snapshot: ['takes snapshot', 'taken'],
  revert: ['goes back, and loses everything since, to snapshot', 'back'],
  'drop-snapshot': ['loses snapshot', 'gone'],
}

/** Manages snapshots that a person takes of a machine. Git does not declare them, and plans ignore them. */
export async function snapshots(asked: AskedMachine, what: SnapshotVerb, name: string | undefined): Promise<ExitCode> {
  const { runtime, resource, options } = asked
  if (what === 'revert') await guard(asked)
  return withGuest(asked, async (session, observed, driver) => {
    if (session.snapshots === undefined)
      throw new CliError(`croft takes no snapshots on ${driver.name}. Take them with the tools of the host.`)
    if (what === 'snapshots') return list(runtime, session.snapshots, observed)
    if (name === undefined || !/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(name))
      throw new UsageError(`Name the snapshot: croft machine ${what} ${resource.name} before-upgrade.`)
    const [before, after] = WORDS[what]
    runtime.out.write(`${resource.key} ${before} ${name}\n`)
    await confirm(runtime, options.yes === true)
    const act = { snapshot: 'take', revert: 'revert', 'drop-snapshot': 'remove' } as const
    const outcome = await session.snapshots[act[what]](observed, name, runtime.signal)
    await note(asked, `${what} ${name}`, outcome)
    if (outcome.result !== 'done') throw new CliError(`${resource.key}: ${messageOf(outcome)}`)
    runtime.out.write(`${name} ${after}.\n`)
    // A revert also restores the old configuration; Git has the new one.
    if (what === 'revert') runtime.err.write('What Git declares wins again with the next croft apply.\n')
    return EXIT.ok
  })
}

/** Asks first: a revert loses newer data and stops the machine. */
async function guard(asked: AskedMachine): Promise<void> {
  const { runtime, directory, estate, resource, options } = asked
  await using store = await ownState(runtime, directory, options)
  const refusal =
    (resource.policy.protect ? `It is protected. To allow it: remove protect at ${placeOf(resource)}.` : undefined) ??
    votesIn(estate, resource) ??
    (await whyNotOff(asked, store.it))
  if (refusal === undefined) return
  await noteOperation(runtime, store.it, resource.key, 'revert', 'refused', refusal)
  throw new CliError(`${resource.key}: ${refusal}`)
}

/** Returns the cluster in which a machine votes: a reverted member of etcd would forget its promises. */
function votesIn({ clusters = [] }: Estate, { key, name }: Resource): string | undefined {
  const cluster = clusters.find(({ spec }) =>
    spec.servers.some(({ machine }) => 'key' in machine && machine.key === key),
  )
  if (cluster === undefined) return undefined
  return (
    `It is a server of ${cluster.key}: its etcd would forget what the others know that it agreed to. ` +
    `To rebuild it: croft cluster replace ${cluster.name} ${name}. To take the whole cluster back: croft cluster restore ${cluster.name}.`
  )
}

function placeOf({ origin }: Resource): string {
  return `${origin.file}:${origin.line}`
}

async function list(runtime: Runtime, from: GuestSnapshots, observed: ObservedResource): Promise<ExitCode> {
  try {
    const all = await from.list(observed, runtime.signal)
    for (const { name, createdMs, current } of all) {
      const when = createdMs === undefined ? '' : `  ${new Date(createdMs).toISOString()}`
      runtime.out.write(`${name}${when}${current ? '  current' : ''}\n`)
    }
    return EXIT.ok
  } catch (error) {
    if (error instanceof ObservationFailed) throw new CliError(error.message)
    throw error
  }
}

async function note(
  { runtime, directory, resource: { key }, options }: AskedMachine,
  what: string,
  outcome: Outcome,
): Promise<void> {
  await using store = await ownState(runtime, directory, options)
  const done = outcome.result === 'done'
  await noteOperation(runtime, store.it, key, what, done ? 'done' : 'refused', done ? what : messageOf(outcome))
}

function messageOf(outcome: Outcome): string {
  if (outcome.result === 'refused') return outcome.refusal.message
  return 'message' in outcome ? outcome.message : outcome.result
}
