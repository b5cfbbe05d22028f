/** What came of one step. */
export interface Line {
  readonly name: string
  readonly seconds: number
  readonly seen: string
  readonly failed?: string
}

/** Tells each step as it ends: whether it did, how long it took, and what was seen. One that fails ends the story, unless
 * nothing builds on it: a measurement fails alone. */
export interface Story {
  readonly lines: readonly Line[]
  step(name: string, deed: () => Promise<string>): Promise<void>
  measure(name: string, deed: () => Promise<string>): Promise<void>
}

export class Ended extends Error {}

export function tell(print: (line: string) => void): Story {
  const lines: Line[] = []
  print(`\n       ${'step'.padEnd(44)} ${'seconds'.padStart(8)}  seen`)
  const told = async (name: string, deed: () => Promise<string>): Promise<boolean> => {
    const startedMs = Date.now()
    const note = (seen: string, failed?: string) => {
      const seconds = (Date.now() - startedMs) / 1000
      lines.push({ name, seconds, seen, ...(failed === undefined ? {} : { failed }) })
      const mark = failed === undefined ? 'ok    ' : 'FAILED'
      print(`${mark} ${name.padEnd(44)} ${seconds.toFixed(1).padStart(8)}  ${seen}`)
    }
    try {
      note(await deed())
      return true
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      note(why.split('\n')[0] ?? '', why)
      print(why.trimEnd().split('\n').slice(-60).join('\n'))
      return false
    }
  }
  return {
    lines,
    async step(name, deed) {
      if (!(await told(name, deed))) throw new Ended(name)
    },
    async measure(name, deed) {
      await told(name, deed)
    },
  }
}
