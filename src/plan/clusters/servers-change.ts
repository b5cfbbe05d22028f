import { majority } from '../../lib/majority.ts'
import type { ClusterHold } from '../../model/observed-cluster.ts'

/** Returns how many servers may fail without losing the API. */
export function tolerance(servers: number): number {
  return servers === 0 ? 0 : servers - majority(servers)
}

/** Returns one sentence for a declaration: the failures that this number of servers survives. */
export function toleranceSentence(servers: number): string {
  const lost = tolerance(servers)
  const begin = `${servers} server${servers === 1 ? '' : 's'}, fault tolerance ${lost}:`
  if (servers === 0) return `${begin} there is no API`
  if (servers === 1) return `${begin} if it is lost, the API is gone until a backup is restored`
  if (servers === 2) return `${begin} the API stops when either is lost, so two are worse than one`
  const survives = `the API survives the loss of ${lost === 1 ? 'one' : lost}`
  if (servers % 2 === 1) return `${begin} ${survives}`
  return `${begin} ${survives}, just as with ${servers - 1}; the last one only adds another that can fail`
}

export interface ServersChange {
  readonly refusal?: ClusterHold
  /** The number of voters up to which servers may join. */
  readonly joinUpTo: number
}

/**
 * Judges the change from the current voters to the declared servers. An even number costs a server without benefit; a
 * number that survives no failure needs a person's permission.
 */
export function serversChange(declared: number, voters: number, degradedAllowed: boolean): ServersChange {
  const even = declared % 2 === 0
  const givesUp = tolerance(declared) === 0 && tolerance(voters) > 0
  if (degradedAllowed || declared === voters || (!even && !givesUp)) return { joinUpTo: declared }
  const from = voters === 0 ? '' : `, now ${toleranceSentence(voters)}`
  return {
    refusal: {
      guard: 'fault-tolerance',
      reason: `${toleranceSentence(declared)}${from}`,
      allow: 'declare an odd number of at least three servers, or set spec.allow.degraded: true of the Cluster',
    },
    // A new cluster forms up to an odd number; nothing joins beyond it, and nothing is removed.
    joinUpTo: even ? declared - 1 : declared,
  }
}
