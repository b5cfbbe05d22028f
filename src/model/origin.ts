/** Where a thing was written down: the file, the position in it, and the commit when it came from Git. */
export interface Origin {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly commit?: string
}

/** `machines/web.yaml:12:3`, or with the commit `machines/web.yaml:12:3@a1b2c3d`. */
export function showOrigin(origin: Origin): string {
  const at = origin.commit === undefined ? '' : `@${origin.commit.slice(0, 7)}`
  return `${origin.file}:${origin.line}:${origin.column}${at}`
}
