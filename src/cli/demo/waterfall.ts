import type { NewEvent } from '../../model/record.ts'
import { showElapsed } from '../render/duration.ts'
import { clean, type Style } from '../render/text.ts'

export interface WaterfallSpan {
  readonly label: string
  readonly fromMs: number
  readonly toMs: number
}

/** Returns the duration of each step of one resource: from its start to its end, and from the last step until Ready. */
export function spansOf(events: readonly NewEvent[], key: string): readonly WaterfallSpan[] {
  const spans: WaterfallSpan[] = []
  const open = new Map<string, number>()
  let lastMs: number | undefined
  for (const event of events) {
    if (event.key !== key) continue
    if (event.reason === 'Started') open.set(event.message, event.atMs)
    else if (event.reason === 'Done') {
      spans.push({ label: event.message, fromMs: open.get(event.message) ?? lastMs ?? event.atMs, toMs: event.atMs })
      open.delete(event.message)
      lastMs = event.atMs
    } else if (event.reason === 'Ready' && lastMs !== undefined) {
      spans.push({ label: 'boot until the agent answers', fromMs: lastMs, toMs: event.atMs })
    }
  }
  return spans
}

/** Renders one bar per span, all on one scale. */
export function renderWaterfall(spans: readonly WaterfallSpan[], style: Style, width = 40): string {
  if (spans.length === 0) return ''
  const beginMs = Math.min(...spans.map((span) => span.fromMs))
  const totalMs = Math.max(1, Math.max(...spans.map((span) => span.toMs)) - beginMs)
  const labels = spans.map((span) => clean(span.label, 60))
  const labelWidth = Math.max(...labels.map((label) => label.length))
  const column = (ms: number) => Math.round(((ms - beginMs) / totalMs) * width)
  const lines = spans.map((span, index) => {
    const from = Math.min(column(span.fromMs), width - 1)
    const length = Math.max(1, column(span.toMs) - from)
    const bar = `${' '.repeat(from)}${style.paint('cyan', '█'.repeat(length))}${' '.repeat(Math.max(0, width - from - length))}`
    return `${(labels[index] ?? '').padEnd(labelWidth)}  ${bar}  ${showElapsed(span.toMs - span.fromMs).padStart(6)}\n`
  })
  return `${lines.join('')}${''.padEnd(labelWidth)}  ${''.padEnd(width)}  ${style.paint('bold', showElapsed(totalMs).padStart(6))}\n`
}
