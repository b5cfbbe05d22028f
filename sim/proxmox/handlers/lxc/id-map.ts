interface Range {
  readonly start: number
  readonly count: number
  readonly words: string
}

/** What is wrong with `u:0:0:10;g:0:0:10`: an id of one side that two entries map. Users come first, and what the container sees. */
export function idMapProblem(text: string): string | undefined {
  if (text === 'passthrough') return undefined
  const entries = text.split(';').map((entry) => entry.split(':'))
  for (const type of ['u', 'g']) {
    for (const side of ['container', 'host'] as const) {
      const ranges = entries
        .filter(([kind]) => kind === type)
        .map((entry): Range => {
          const [, inside, outside, count] = entry
          return { start: Number(side === 'host' ? outside : inside), count: Number(count), words: entry.join(' ') }
        })
        .sort((a, b) => a.start - b.start)
      const late = ranges.findIndex((range, index) => {
        const before = ranges[index - 1]
        return before !== undefined && before.start + before.count > range.start
      })
      const range = ranges[late]
      if (range !== undefined)
        return `invalid map entry '${range.words}': ${side} ${type}id ${range.start} is also mapped by entry '${ranges[late - 1]?.words}'`
    }
  }
  return undefined
}
