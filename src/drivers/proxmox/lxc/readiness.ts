import type { ContainerSpec } from '../../../model/container.ts'
import type { Readiness } from '../../../model/rules.ts'
import type { Sighting } from '../../../model/sighting.ts'
import { powerOf } from '../vm/power.ts'

/** Nothing inside a container can be asked, so running is as much as can be known. */
export function containerReadiness(container: ContainerSpec, sighting: Sighting): Readiness {
  const power = powerOf(sighting)
  const { externalId, host, lock } = sighting
  const id = `container ${externalId} on ${host}`
  if (lock !== undefined) {
    const making = lock === 'create' || lock === 'clone'
    const unlock = `if nothing is at work on it any more, run on ${host}: pct unlock ${externalId}`
    return {
      ready: false,
      reason: 'Locked',
      message: `${id} is locked (${lock}); ${unlock}`,
      status: making ? 'Creating' : 'Locked',
    }
  }
  if (container.template === true) {
    return sighting.template === true
      ? { ready: true, reason: 'Template', message: `${id} is a template`, status: 'Template' }
      : { ready: false, reason: 'NotATemplate', message: `${id} is not a template yet`, status: 'Stopped' }
  }
  const status = `${power[0]?.toUpperCase()}${power.slice(1)}`
  const wanted = container.power ?? power
  const ready = power === wanted && power !== 'unknown'
  const reason = ready ? status : wanted === 'stopped' ? 'NotStopped' : 'NotRunning'
  return { ready, reason, message: `${id} is ${power}`, status }
}
