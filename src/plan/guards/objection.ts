import type { Objection, Subject } from './guard.ts'
import { GUARDS } from './registry.ts'

/** The first guard that lets no step be taken with this cluster or Power, by what a person said of it. */
export function objectionTo(subject: Subject): (Objection & { readonly guard: string }) | undefined {
  for (const one of GUARDS) {
    const objection = one.objects?.(subject)
    if (objection !== undefined) return { guard: one.name, ...objection }
  }
  return undefined
}
