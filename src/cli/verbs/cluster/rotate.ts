import { planRotation, type Rotation } from '../../../plan/clusters/rotate.ts'
import { closing } from '../../closing.ts'
import { openCluster } from '../../clusters/opened.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { note } from '../../output.ts'
import { openState } from '../../state.ts'
import type { ClusterVerb } from './find.ts'
import { operate } from './operate.ts'

const ROTATIONS: readonly Rotation[] = ['token', 'ca', 'certificates', 'encryption-keys']

export const rotate: ClusterVerb = async (runtime, { cluster, estate, directory, state, words }, options) => {
  const what = ROTATIONS.find((one) => one === words[0])
  if (what === undefined) throw new UsageError(`Say what to rotate: ${ROTATIONS.join(', ')}.`)
  await using store = closing(await openState(runtime, state))
  await using opened = closing(await openCluster(runtime, store.it, { directory, state }, estate, cluster))
  const { observed } = await opened.it.look()
  const operation = planRotation(what, cluster.spec, observed, runtime.clock.now())
  const code = await operate(runtime, store.it, opened.it, operation, options)
  if (code === EXIT.ok && options.plan !== true && (what === 'token' || what === 'ca'))
    note(runtime, `What is kept of it in Git is old now: commit what croft cluster escrow ${cluster.name} prints.`)
  return code
}
