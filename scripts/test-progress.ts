/** Where lines are written. A terminal also gets a last line that says how far the run is. */
export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

export interface Progress {
  /** Lines that stay. */
  print(text: string): void
  begin(file: string): void
  end(file: string, ok: boolean): void
  close(): void
}

/** `weights`: how long each file is expected to take, in seconds of any processor: only their proportions count. */
export function createProgress(
  screen: Screen,
  weights: ReadonlyMap<string, number>,
  now: () => number = () => performance.now(),
): Progress {
  const all = [...weights.values()].reduce((sum, one) => sum + one, 0)
  const running = new Set<string>()
  const startedMs = now()
  let done = 0
  let weight = 0
  let broken = 0
  let shown = false

  const wipe = () => {
    if (shown) screen.write('\r\x1b[2K')
    shown = false
  }
  const show = () => {
    if (screen.isTTY !== true || weights.size === 0) return
    wipe()
    const left = weight === 0 ? '' : `, ${rest(((now() - startedMs) * (all - weight)) / weight)}`
    const failed = broken === 0 ? '' : `, ${broken} failed`
    const line = `${done} of ${weights.size} files${failed}${left}: ${[...running].join(' ')}`
    screen.write(line.slice(0, (screen.columns ?? 80) - 1))
    shown = true
  }
  const timer = screen.isTTY === true ? setInterval(show, 1000) : undefined
  timer?.unref()
  return {
    print(text) {
      wipe()
      screen.write(text)
      show()
    },
    begin(file) {
      running.add(file)
      show()
    },
    end(file, ok) {
      running.delete(file)
      done += 1
      weight += weights.get(file) ?? 0
      if (!ok) broken += 1
      show()
    },
    close() {
      clearInterval(timer)
      wipe()
    },
  }
}

function rest(ms: number): string {
  return ms < 60_000 ? 'less than a minute left' : `about ${Math.round(ms / 60_000)} min left`
}
