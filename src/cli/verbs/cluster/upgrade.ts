import { rolloutId } from '../../../plan/clusters/rollout.ts'
import { closing } from '../../closing.ts'
import { changeOrders, withoutOrder } from '../../clusters/orders.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { openState } from '../../state.ts'
import { noteOperation } from '../machine/journal.ts'
import type { ClusterVerb } from './find.ts'

/** Pauses, resumes or aborts the rollout of a cluster. The version itself stands in Git. */
export const upgrade: ClusterVerb = async (runtime, { cluster, state }, options) => {
  const chosen = (['pause', 'resume', 'abort'] as const).filter((one) => options[one] === true)
  const [what, more] = chosen
  if (what === undefined || more !== undefined) {
    throw new UsageError(
      `Say one of --pause, --resume, --abort. To upgrade ${cluster.name}, change spec.version in Git.`,
    )
  }
  await using store = closing(await openState(runtime, state))
  const nowMs = runtime.clock.now()
  await changeOrders(store.it, cluster.name, (orders) => {
    switch (what) {
      case 'pause':
        return { ...orders, rolloutPaused: true }
      case 'resume':
        return { ...withoutOrder(orders, 'rolloutAborted'), rolloutPaused: false, resumedMs: nowMs }
      case 'abort':
        return { ...orders, rolloutAborted: rolloutId(cluster.spec) }
    }
  })
  await noteOperation(runtime, store.it, cluster.key, `upgrade --${what}`, 'done', SAID[what])
  runtime.out.write(`${cluster.key}: ${SAID[what]}\n`)
  return EXIT.ok
}

const SAID = {
  pause: 'the rollout is paused; what has begun is finished, nothing new begins',
  resume: 'the rollout goes on',
  abort: 'the rollout is aborted; every node that croft cordoned for it is given back',
} as const
