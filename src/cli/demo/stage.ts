import type { Engine, PassReport } from '../../engine/engine.ts'
import type { NewEvent } from '../../model/event.ts'
import { styleOf } from '../output.ts'
import { countProblems, hasErrors } from '../render/problems.ts'
import type { RunningSimulator, Runtime } from '../runtime.ts'
import type { LaterManifest } from './example.ts'
import type { Repository } from './repository.ts'
import { SceneFailed, type Stage } from './scene.ts'

const SYNC_DEADLINE_MS = 10 * 60_000
const HEAD_POLL_MS = 1_000

export interface Props {
  readonly simulator: RunningSimulator
  readonly repository: Repository
  readonly engine: Engine
  readonly database: string
  readonly speed: number
  readonly later: LaterManifest
}

/** What the scenes play on: a small controller between the repository and the simulated datacentre. */
export function createStage(runtime: Runtime, props: Props): Stage {
  const { clock } = props.simulator
  const story: NewEvent[] = []
  let synced = ''

  const newRevision = async (): Promise<string> => {
    for (;;) {
      const head = await props.repository.head()
      if (head !== synced) return head
      if (runtime.signal.aborted) throw new SceneFailed('interrupted')
      await clock.sleep(HEAD_POLL_MS, runtime.signal)
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
      const revision = await newRevision()
      on.revision?.(revision)
      const { estate } = await runtime.load(props.repository.directory)
      if (hasErrors(estate.problems)) {
        throw new SceneFailed(`the example has ${countProblems(estate.problems)}: ${estate.problems[0]?.message}`)
      }
      const plan = await props.engine.plan(estate, runtime.signal)
      on.plan?.(plan)
      const onPass = (report: PassReport) => {
        story.push(...report.events)
        on.pass?.(report)
      }
      const settlement = await props.engine.settle(estate, {
        signal: runtime.signal,
        deadlineMs: SYNC_DEADLINE_MS,
        onPass,
      })
      if (settlement.outcome !== 'settled')
        throw new SceneFailed(`the controller did not settle (${settlement.outcome})`)
      synced = revision
      return { revision, estate, plan, settlement }
    },
    say: (text) => runtime.out.write(`${text}\n`),
  }
}
