import { at, type Foreign, nameOf, numberOf, recordsOf, textOf } from './objects.ts'

/** One container of a pod, as its kubelet reports it. */
export interface PodContainer {
  readonly name: string
  readonly image: string
  readonly init: boolean
  readonly ready: boolean
  readonly restarts: number
  /** `Running`, or why it does not run: `CrashLoopBackOff`, `Completed`, `OOMKilled`. */
  readonly state: string
  /** An earlier instance ran and ended. */
  readonly previous: boolean
}

export function containersOf(pod: Foreign): readonly PodContainer[] {
  const of = (spec: string, status: string, init: boolean): readonly PodContainer[] => {
    const told = recordsOf(at(pod, 'status', status))
    return recordsOf(at(pod, 'spec', spec)).flatMap((one) => {
      const name = nameOf(one.name)
      if (name === undefined) return []
      const said = told.find((other) => other.name === name) ?? {}
      return {
        name,
        image: textOf(one.image) ?? '',
        init,
        ready: said.ready === true,
        restarts: numberOf(said.restartCount) ?? 0,
        state: stateOf(said),
        previous: at(said, 'lastState', 'terminated') !== undefined,
      }
    })
  }
  return [...of('initContainers', 'initContainerStatuses', true), ...of('containers', 'containerStatuses', false)]
}

/** The word that kubectl shows under STATUS. */
export function podStatus(pod: Foreign, containers: readonly PodContainer[] = containersOf(pod)): string {
  if (at(pod, 'metadata', 'deletionTimestamp') !== undefined) return 'Terminating'
  const phase = textOf(at(pod, 'status', 'phase')) ?? 'Unknown'
  const reason = textOf(at(pod, 'status', 'reason'))
  if (reason !== undefined) return reason
  const initial = containers.filter(({ init }) => init)
  const done = initial.filter(({ state }) => state === 'Completed').length
  const stuck = initial.find(({ state, ready }) => state !== 'Completed' && !(state === 'Running' && ready))
  if (stuck !== undefined && phase === 'Pending')
    return `Init:${['Running', 'Waiting', 'PodInitializing'].includes(stuck.state) ? `${done}/${initial.length}` : stuck.state}`
  const wrong = containers.find(({ init, state }) => !init && state !== 'Running' && state !== 'Waiting')
  if (wrong !== undefined && !(wrong.state === 'Completed' && phase === 'Running')) return wrong.state
  return phase
}

function stateOf(status: Foreign): string {
  const { state } = status
  if (at(state, 'running') !== undefined) return 'Running'
  const ended = at(state, 'terminated')
  if (ended !== undefined) {
    const code = numberOf(at(ended, 'exitCode'))
    return textOf(at(ended, 'reason')) ?? (code === 0 ? 'Completed' : `ExitCode:${code ?? '?'}`)
  }
  return textOf(at(state, 'waiting', 'reason')) ?? 'Waiting'
}
