import type { PassReport } from '../engine/engine.ts'
import type { Clock } from '../lib/clock.ts'
import {
  advance,
  beginProgress,
  heartbeat,
  liveLines,
  type Progress,
  type ProgressLine,
  renderLine,
} from './render/progress.ts'
import type { Style } from './render/text.ts'
import type { Terminal } from './runtime.ts'

export type ProgressMode = 'tty' | 'plain' | 'json' | 'quiet'

/** Prints the progress of a run. Thin: render/progress.ts decides what to print. */
export interface LiveProgress {
  onPass(report: PassReport): void
  /** A line that belongs to the story but to no pass. */
  say(line: ProgressLine): void
  /** Stops ticking, removes the live lines, and answers what happened. */
  end(): Promise<Progress>
}

const TICK_MS = { tty: 250, plain: 1000, json: 1000, quiet: 60_000 } as const

export function startProgress(out: Terminal, style: Style, clock: Clock, mode: ProgressMode): LiveProgress {
  let progress = beginProgress(clock.now())
  let drawn = 0
  const stop = new AbortController()

  const erase = () => {
    if (drawn > 0) out.write(`\x1b[${drawn}A\x1b[0J`)
    drawn = 0
  }
  const show = (lines: readonly ProgressLine[]) => {
    if (mode === 'quiet') return
    if (mode === 'json') {
      for (const { short: _, ...line } of lines)
        out.write(`${JSON.stringify({ ...line, time: new Date(line.atMs).toISOString() })}\n`)
      return
    }
    // On a terminal the live lines are the sign of life, so the heartbeat would only repeat them.
    const shown = mode === 'tty' ? lines.filter((line) => line.tone !== 'heartbeat') : lines
    erase()
    for (const line of shown) out.write(renderLine(line, progress.startedMs, style))
    if (mode !== 'tty') return
    const live = liveLines(progress, clock.now(), style).map((line) => cut(line, out.columns))
    if (live.length > 0) out.write(`${live.join('\n')}\n`)
    drawn = live.length
  }
  const ticking = (async () => {
    while (!stop.signal.aborted) {
      await clock.sleep(TICK_MS[mode], stop.signal)
      if (stop.signal.aborted) return
      const beat = heartbeat(progress, clock.now())
      progress = beat.progress
      if (mode === 'tty' || beat.lines.length > 0) show(beat.lines)
    }
  })()

  return {
    onPass(report) {
      const step = advance(progress, report, clock.now())
      progress = step.progress
      show(step.lines)
    },
    say: (line) => show([line]),
    async end() {
      stop.abort()
      await ticking
      if (mode === 'tty') erase()
      return progress
    },
  }
}

/** `auto` shows live lines on a terminal, and plain lines otherwise. */
export function progressMode(
  asked: string,
  isTty: boolean,
  env: Readonly<Record<string, string | undefined>>,
): ProgressMode {
  if (asked === 'tty' || asked === 'plain' || asked === 'json' || asked === 'quiet') return asked
  return isTty && env.CI === undefined && env.TERM !== 'dumb' ? 'tty' : 'plain'
}

// A live line that wraps takes two rows and the next redraw would leave one of them behind.
function cut(line: string, columns: number): string {
  const visible = line.replace(/\x1b\[[0-9;]*m/g, '')
  if (visible.length <= columns) return line
  return `${visible.slice(0, Math.max(0, columns - 1))}…`
}
