import type { Engine, PassReport, Settlement } from '../../engine/engine.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Plan } from '../../model/plan.ts'
import type { NewEvent } from '../../model/record.ts'
import type { Style } from '../render/text.ts'
import type { LoadedEstate, RunningSimulator, Runtime, SimulatedGuest } from '../runtime.ts'
import type { Repository } from './repository.ts'

/** One part of the tour. Scenes play in order on one stage; to add one, append it to the list in tour.ts. */
export interface Scene {
  readonly title: string
  play(stage: Stage): Promise<void>
}

/** One pass for one revision: the declarations, the plan, and its result. */
export interface Sync {
  readonly loaded: LoadedEstate
  readonly plan: Plan
  readonly settlement: Settlement
}

export interface SyncListener {
  readonly revision?: (revision: string) => void
  readonly plan?: (plan: Plan) => void
  readonly pass?: (report: PassReport) => void
}

/** Timeout of a scene in simulated time, which does not depend on the computer's speed. */
export const SCENE_MS = 60 * 60_000

/** The environment that all scenes share. */
export interface Stage {
  readonly runtime: Runtime
  readonly style: Style
  readonly simulator: RunningSimulator
  /** Simulated time: every duration that the tour shows is in it. */
  readonly clock: Clock
  readonly speed: number
  readonly repository: Repository
  readonly engine: Engine
  /** Address of the page. */
  readonly page: string
  /** A shell file that points another terminal to the tour. */
  readonly environment: string
  /** The machines as they were before the tour touched anything. */
  readonly before: readonly SimulatedGuest[]
  /** The manifest that is committed in the middle of the tour. */
  readonly later: LaterManifest
  /** Everything that the engine reported, for the waterfall at the end. */
  readonly story: readonly NewEvent[]
  /** Waits for a revision that has not been synced yet, and syncs it. */
  sync(on: SyncListener): Promise<Sync>
  say(text: string): void
}

/** Thrown if a scene does not reach its end. */
export class SceneFailed extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SceneFailed'
  }
}

/** The file of the example that declares the third node, and its text. It is committed later than the rest. */
export interface LaterManifest {
  readonly file: string
  readonly text: string
}
