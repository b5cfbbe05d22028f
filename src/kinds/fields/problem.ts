import { defined } from '../../lib/defined.ts'
import type { FieldProblem } from '../kind.ts'

export function fieldProblem(code: string, path: FieldProblem['path'], message: string, hint?: string): FieldProblem {
  return { code, path, message, ...defined({ hint }) }
}

export function badValue(path: FieldProblem['path'], message: string, hint?: string): FieldProblem {
  return fieldProblem('bad-value', path, message, hint)
}

export function missingField(path: FieldProblem['path'], message: string, hint?: string): FieldProblem {
  return fieldProblem('missing-field', path, message, hint)
}
