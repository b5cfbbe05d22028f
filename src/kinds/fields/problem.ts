import { defined } from '../../lib/defined.ts'
import type { FieldProblem } from '../kind.ts'

export function fieldProblem(code: string, path: FieldProblem['path'], message: string, hint?: string): FieldProblem {
  return { code, path, message, ...defined({ hint }) }
}

/** The place of a field as a person reads it: `spec.disks[0].size`. */
export function fieldPath(path: FieldProblem['path']): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index === 0 ? step : `.${step}`)).join('')
}

export function badValue(path: FieldProblem['path'], message: string, hint?: string): FieldProblem {
  return fieldProblem('bad-value', path, message, hint)
}

export function missingField(path: FieldProblem['path'], message: string, hint?: string): FieldProblem {
  return fieldProblem('missing-field', path, message, hint)
}
