import type { Objection, Subject } from './guard.ts'
import { GUARDS } from './registry.ts'

/** Returns the first policy guard that stops this cluster or Power. */
export function objectionTo(subject: Subject): (Objection & { readonly guard: string }) | undefined {
  for (const one of GUARDS) {
    const objection = one.objects?.(subject)
    if (objection !== undefined) return { guard: one.name, ...objection }
  }
  return undefined
}
