import type { Engine, PassReport } from '../../engine/engine.ts'
import type { NewEvent } from '../../model/record.ts'
import { styleOf } from '../output.ts'
import { countProblems, hasErrors } from '../render/problems.ts'
import type { FollowedRepository, LoadedEstate, RunningSimulator, Runtime } from '../runtime.ts'
import { CliError } from '../verb.ts'
import type { Repository } from './repository.ts'
import { type LaterManifest, SCENE_MS, SceneFailed, type Stage } from './scene.ts'

const LOOK_MS = 2_000
/** After this long a silence, a person believes that it hangs. Real time. */
const SILENT_MS = 10_000

export interface Props {
  readonly simulator: RunningSimulator
  readonly repository: Repository
  readonly followed: FollowedRepository
  readonly engine: Engine
  /** Shows on the page which commit is followed. */
  readonly inForce: (commit: string, subject: string) => void
  /** Address of the page. */
  readonly page: string
  /** A shell file that points another terminal to the tour. */
  readonly environment: string
  readonly speed: number
  readonly later: LaterManifest
}

/** Makes the stage: a small controller between the repository and the simulated datacentre. */
export function createStage(given: Runtime, props: Props): Stage {
  const { runtime, patiently } = breakingSilence(given)
  const { clock } = props.simulator
  const story: NewEvent[] = []
  let toldWhy: string | undefined

  const nextRevision = async (): Promise<LoadedEstate> => {
    for (;;) {
      if (runtime.signal.aborted) throw new SceneFailed('interrupted')
      const loaded = await props.followed.look(runtime.signal).catch((error: unknown) => {
        if (!(error instanceof CliError)) throw error
        // Fail once per message: a person who explores may push a correction later.
        if (error.message === toldWhy) return undefined
        toldWhy = error.message
        throw new SceneFailed(error.message)
      })
      if (loaded !== undefined) {
        toldWhy = undefined
        return loaded
      }
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
      const loaded = await patiently('the commit is fetched and read', nextRevision())
      const { estate } = loaded
      props.inForce(estate.revision, await props.repository.subjectOf(estate.revision))
      on.revision?.(estate.revision)
      if (hasErrors(estate.problems)) {
        const first = estate.problems.find((problem) => problem.severity === 'error')
        throw new SceneFailed(`${countProblems(estate.problems)} in the manifests; the first: ${first?.message ?? ''}`)
      }
      const plan = await patiently('croft looks at everything and plans', props.engine.plan(estate, runtime.signal))
      on.plan?.(plan)
      const onPass = (report: PassReport) => {
        story.push(...report.events)
        on.pass?.(report)
      }
      const options = { signal: runtime.signal, deadlineMs: SCENE_MS, onPass }
      const work = props.engine.settle(estate, options)
      const settlement = await patiently('machines and cluster become what Git says', work)
      if (settlement.outcome !== 'settled')
        throw new SceneFailed(`the controller did not settle (${settlement.outcome})`)
      return { loaded, plan, settlement }
    },
    say: (text) => runtime.out.write(`${text}\n`),
  }
}

/** Wraps a runtime: during a long silence, it prints what the tour waits for. */
export function breakingSilence(given: Runtime) {
  let toldMs = given.clock.monotonicMs()
  const write = (text: string) => {
    toldMs = given.clock.monotonicMs()
    given.out.write(text)
  }
  const runtime: Runtime = { ...given, out: { ...given.out, write } }
  const speak = async (what: string, over: AbortSignal) => {
    const sinceMs = given.clock.monotonicMs()
    while (!over.aborted) {
      await given.clock.sleep(toldMs + SILENT_MS - given.clock.monotonicMs(), over)
      const nowMs = given.clock.monotonicMs()
      if (over.aborted || nowMs - toldMs < SILENT_MS) continue
      write(`  … ${what}: still at it after ${Math.round((nowMs - sinceMs) / 1000)} s of your time\n`)
    }
  }
  const patiently = async <T>(what: string, work: Promise<T>): Promise<T> => {
    const over = new AbortController()
    void speak(what, over.signal)
    try {
      return await work
    } finally {
      over.abort()
    }
  }
  return { runtime, patiently }
}
