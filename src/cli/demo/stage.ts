import type { Engine, PassReport } from '../../engine/engine.ts'
import type { NewEvent } from '../../model/record.ts'
import { styleOf } from '../output.ts'
import { countProblems, hasErrors } from '../render/problems.ts'
import type { FollowedRepository, LoadedEstate, RunningSimulator, Runtime } from '../runtime.ts'
import type { Repository } from './repository.ts'
import { type LaterManifest, SCENE_MS, SceneFailed, type Stage } from './scene.ts'

const LOOK_MS = 2_000

export interface Props {
  readonly simulator: RunningSimulator
  readonly repository: Repository
  readonly followed: FollowedRepository
  readonly engine: Engine
  /** Shows on the page which commit is in force. */
  readonly inForce: (commit: string, subject: string) => void
  /** Address of the page. */
  readonly page: string
  /** A file to be read by a shell: by it another terminal is where the tour is. */
  readonly environment: string
  readonly speed: number
  readonly later: LaterManifest
}

/** What the scenes play on: a small controller between the repository and the simulated datacentre. */
export function createStage(runtime: Runtime, props: Props): Stage {
  const { clock } = props.simulator
  const story: NewEvent[] = []

  const nextRevision = async (): Promise<LoadedEstate> => {
    for (;;) {
      if (runtime.signal.aborted) throw new SceneFailed('interrupted')
      const loaded = await props.followed.look(runtime.signal)
      if (loaded !== undefined) return loaded
      await clock.sleep(LOOK_MS, runtime.signal)
    }
  }
  return {
    ...props,
    runtime,
    clock,
    story,
    before: props.simulator.guests(),
    style: styleOf(runtime, runtime.out),
    async sync(on) {
      const loaded = await nextRevision()
      const { estate } = loaded
      props.inForce(estate.revision, await props.repository.subjectOf(estate.revision))
      on.revision?.(estate.revision)
      if (hasErrors(estate.problems)) {
        const first = estate.problems.find((problem) => problem.severity === 'error')
        throw new SceneFailed(`${countProblems(estate.problems)} in the manifests; the first: ${first?.message ?? ''}`)
      }
      const plan = await props.engine.plan(estate, runtime.signal)
      on.plan?.(plan)
      const onPass = (report: PassReport) => {
        story.push(...report.events)
        on.pass?.(report)
      }
      const options = { signal: runtime.signal, deadlineMs: SCENE_MS, onPass }
      const settlement = await props.engine.settle(estate, options)
      if (settlement.outcome !== 'settled')
        throw new SceneFailed(`the controller did not settle (${settlement.outcome})`)
      return { loaded, plan, settlement }
    },
    say: (text) => runtime.out.write(`${text}\n`),
  }
}
