import type { PassReport } from '../../engine/engine.ts'
import { advance, beginProgress, renderLine } from '../render/progress.ts'
import type { Stage } from './scene.ts'

/** Tells each pass as it happens, with simulated time. */
export function narrate(stage: Stage): (report: PassReport) => void {
  let progress = beginProgress(stage.clock.now())
  return (report) => {
    const step = advance(progress, report, stage.clock.now())
    progress = step.progress
    for (const line of step.lines) stage.runtime.out.write(renderLine(line, progress.startedMs, stage.style))
  }
}
