import type { PassReport } from '../../engine/engine.ts'
import { renderPlan } from '../render/plan.ts'
import { advance, beginProgress, heartbeat, type ProgressLine, renderLine } from '../render/progress.ts'
import type { Stage, SyncListener } from './scene.ts'

export interface Narration extends SyncListener {
  tell(message: string): void
  /** Prints a sign of life after a long silence. */
  beat(): void
}

/** Tells a sync as it happens, with simulated time since the push was seen. */
export function narrate(stage: Stage): Narration {
  let progress = beginProgress(stage.clock.now())
  const show = (line: ProgressLine) => stage.runtime.out.write(renderLine(line, progress.startedMs, stage.style))
  return {
    revision(revision) {
      progress = beginProgress(stage.clock.now())
      show({ atMs: stage.clock.now(), tone: 'normal', reason: 'push seen', message: revision.slice(0, 7) })
    },
    plan: (plan) => stage.runtime.out.write(`\n${renderPlan(plan, stage.style)}\n`),
    pass(report: PassReport) {
      const step = advance(progress, report, stage.clock.now())
      progress = step.progress
      // Skip messages between two steps: they repeat the steps.
      for (const line of step.lines) {
        if (line.tone !== 'normal' || STEPS.has(line.reason) || line.key?.startsWith('Cluster/') === true) show(line)
      }
    },
    tell: (message) => show({ atMs: stage.clock.now(), tone: 'heartbeat', reason: '', message }),
    beat() {
      const beat = heartbeat(progress, stage.clock.now())
      progress = beat.progress
      for (const line of beat.lines) show(line)
    },
  }
}

const STEPS: ReadonlySet<string> = new Set(['Started', 'Done'])
