/** A size in characters. */
interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

interface TerminalHooks {
  /** The label for screen readers. */
  readonly label: string
  typed(bytes: Uint8Array): void
  resized(size: ScreenSize): void
  /** The person wants to leave it by the keyboard. */
  leave(): void
}

/** A terminal on the page. */
export interface PageTerminal {
  size(): ScreenSize
  /** Calls back when it is drawn. */
  write(bytes: Uint8Array, drawn: () => void): void
  paste(text: string): void
  selection(): string
  focus(): void
  close(): void
}

export type OpenTerminal = (box: HTMLElement, hooks: TerminalHooks) => PageTerminal
