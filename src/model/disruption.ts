/** What a plan does to one thing that runs. */
export interface Disruption {
  /** Key of a machine, a cluster or a Power. */
  readonly subject: string
  /** outage: it does not serve meanwhile. data-loss: something is gone for good. */
  readonly worst: 'none' | 'restart' | 'outage' | 'data-loss'
  readonly restarts: number
  readonly drains: number
  /** Votes of a cluster that are away at the same time. */
  readonly votesAway: number
  /** Expected, all together. */
  readonly minutesAway: number
  /** Expected until it is done, waits between nodes included. */
  readonly minutes: number
  /** Machines or nodes whose data is gone afterwards. */
  readonly lost: readonly string[]
  /** One line for a person. */
  readonly text: string
}

/** What a plan does to whatever runs. */
export interface PlanDisruption {
  readonly worst: Disruption['worst']
  /** Nodes that lose what they hold, besides machines that are deleted or made anew. */
  readonly destroyed: number
  readonly items: readonly Disruption[]
}
