import type { Step } from '../../model/step.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import type { DriverDeps } from '../port.ts'
import type { Places } from './places.ts'
import type { Virsh } from './virsh.ts'

/** What every step is performed with. */
export interface Performing {
  readonly virsh: Virsh
  readonly uri: string
  readonly places: Places
  readonly deps: DriverDeps
}

export function cannotWrite(step: Step, path: string): Outcome {
  const message = `could not ${step.summary}: ${path} cannot be written here; is its pool there, and active?`
  return refused({ reason: 'NotPossible', meaning: 'backoff', message })
}

export function refused(refusal: Refusal): Outcome {
  return { result: 'refused', refusal }
}
