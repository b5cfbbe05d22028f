import type { Duplex } from 'node:stream'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/**
 * A terminal on another computer. Its bytes flow both ways, and a side that does not read is not sent more. The stream
 * ends when the other side ends it; closing it here ends it there.
 */
export interface RemoteTerminal {
  readonly stream: Duplex
  /** Ignored where the terminal has no size: a serial line. */
  resize(size: TerminalSize): void
}

/** Returns a valid terminal size; an impossible one becomes the default. */
export function boundedSize({ columns, rows }: TerminalSize): TerminalSize {
  const within = (value: number, fallback: number) =>
    Number.isInteger(value) && value >= 2 && value <= 1_000 ? value : fallback
  return { columns: within(columns, 80), rows: within(rows, 24) }
}
