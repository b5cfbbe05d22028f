import type { Change } from '../../../model/resource.ts'
import type { Definition, SettingSpec } from '../../../model/rest.ts'
import type { Step } from '../../../model/step.ts'
import type { VmSpec } from '../../../model/vm.ts'

/** A change outside the fields: secrets must be sent again. */
export const SECRETS = 'secrets'

/** The record's detail with the text of croft.dev/rotate at the last sending. */
const SENT_FOR = 'rotated'

export interface KnownSecrets {
  readonly known: Readonly<Record<string, string>> | undefined
  readonly rotate: string | undefined
}

/**
 * No answer shows a secret, so none can be compared. A person requests that it is sent again by another text in the
 * annotation croft.dev/rotate.
 */
export function rotation(
  definition: Definition,
  setting: SettingSpec,
  { known, rotate }: KnownSecrets,
): readonly Change[] {
  if (rotate === undefined || known?.[SENT_FOR] === rotate || !canRotate(definition, setting)) return []
  return [{ ...AGAIN, path: SECRETS }]
}

const AGAIN = { from: 'as sent before', to: 'sent again', effect: 'live', secret: true, resent: true } as const

/** Adds the password for a machine's first boot to its changes, if it must be sent again. */
export function withPassword(
  vm: VmSpec,
  changes: readonly Change[],
  { known, rotate }: KnownSecrets,
): readonly Change[] {
  const path = 'cloudInit.password'
  if (rotate === undefined || known?.[SENT_FOR] === rotate || vm.cloudInit?.password === undefined) return changes
  return changes.some((change) => change.path === path) ? changes : [...changes, { ...AGAIN, path }]
}

/** Adds the fact that a successful step with secrets teaches. */
export function remembering(step: Step, rotate: string | undefined): Step {
  if (rotate === undefined || step.secretParams === undefined) return step
  return { ...step, learns: { done: { [SENT_FOR]: rotate } } }
}

function canRotate(definition: Definition, setting: SettingSpec): boolean {
  if (definition.update === undefined) return false
  return Object.entries(definition.fields).some(
    ([name, field]) => field.type === 'secret' && field.fixed !== true && setting.fields[name] !== undefined,
  )
}
