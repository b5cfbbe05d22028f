import { votes, type World } from './world.ts'

/** What goes wrong in one pass of croft: it dies after so many effects, or the answer of one of them is lost. */
export type PassFault = { readonly crashAfter: number } | { readonly loses: number }

/** croft has crashed: later calls have no effect. */
export class Crashed extends Error {}

/** One thing that croft did to the world, and what it broke. */
export interface Effect {
  readonly text: string
  readonly breaches: readonly string[]
}

export interface Effects {
  readonly done: readonly Effect[]
  /** Aborted when croft dies. */
  readonly death: AbortSignal
  /** Carries out one effect. Reports whether its answer arrives. */
  carry(text: string, change: () => void, forbids?: () => string | undefined): boolean
}

/** Counts the effects of one pass, so that a fault can fall between any two of them. */
export function createEffects(world: World, fault: PassFault | undefined): Effects {
  const done: Effect[] = []
  const death = new AbortController()
  return {
    done,
    death: death.signal,
    carry(text, change, forbids) {
      if (fault !== undefined && 'crashAfter' in fault && done.length >= fault.crashAfter) {
        death.abort()
        throw new Crashed('croft died')
      }
      const broken = forbids?.()
      const before = votes(world)
      change()
      const after = votes(world)
      const lowered =
        before.held && !after.held && (world.datastore === 'etcd' || before.voters > 1)
          ? `majority lowered from ${before.up} to ${after.up} of ${after.voters} voters`
          : undefined
      done.push({ text, breaches: [broken, lowered].filter((one) => one !== undefined) })
      return fault === undefined || !('loses' in fault) || fault.loses !== done.length
    },
  }
}
