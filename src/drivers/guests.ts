import { cloudInitReadiness } from '../cloudinit/result.ts'
import type { FirstBoot } from '../model/declaration.ts'
import type { ObservedResource, PowerState } from '../model/resource.ts'
import type { Readiness } from '../model/rules.ts'
import type { VmSpec } from '../model/vm.ts'

/** Returns the power that the guest itself reported, else the survey's. */
export function powerOf(observed: ObservedResource): PowerState {
  return observed.close?.power ?? observed.power ?? 'unknown'
}

export function isUp(power: PowerState): boolean {
  return power === 'running' || power === 'paused'
}

/** Returns the power as a status: `Running`. */
export function statusOf(power: PowerState): string {
  return `${power[0]?.toUpperCase()}${power.slice(1)}`
}

export type ReadinessAnswer = (ready: boolean, reason: string, message: string, status?: string) => Readiness

/** Returns a builder of answers about a guest; the default status is its power. */
export function answerAbout(id: string, power: PowerState): ReadinessAnswer {
  return (ready, reason, message, status = statusOf(power)) => ({
    ready,
    reason,
    message: `${id} is ${message}`,
    status,
  })
}

/** Returns the answer about a VM that is off, or must be. Undefined: it runs. */
export function powerReadiness(vm: VmSpec, power: PowerState, answer: ReadinessAnswer): Readiness | undefined {
  if (vm.power === 'stopped')
    return power === 'stopped' ? answer(true, 'Stopped', 'stopped, as declared') : answer(false, 'NotStopped', power)
  if (power === 'running') return undefined
  const ready = vm.power === undefined && power === 'stopped'
  return answer(ready, ready ? 'Present' : 'NotRunning', power)
}

/** Returns a running VM's readiness by its agent. `booted`: ignores the result of its first boot. */
export function agentReadiness(
  { close }: ObservedResource,
  id: string,
  booted: boolean,
  firstBoot: FirstBoot | undefined,
  answer: ReadinessAnswer,
): Readiness {
  if (close?.agent === 'down') return answer(false, 'AgentDown', 'running; its agent does not answer yet', 'Booting')
  if (close?.agent !== 'up') return answer(false, 'AgentNotAsked', 'running; its agent was not asked')
  const first = booted ? undefined : cloudInitReadiness(close.cloudInit, id, firstBoot)
  return first ?? answer(true, 'AgentUp', 'running and its agent answers')
}
