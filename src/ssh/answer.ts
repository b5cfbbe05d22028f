/** The start and the end of a wrapped program, by its marks. */
export type Marks =
  | { readonly began: false; readonly stderr: string }
  /** `pid`: of the shell that started it, there. */
  | { readonly began: true; readonly pid: number; readonly code?: number; readonly stderr: string }

/** Takes the marks out of the error output. */
export function readMarks(stderr: string, nonce: string): Marks {
  const begin = new RegExp(`began ${nonce} ([0-9]{1,10})\n`).exec(stderr)
  if (begin === null) return { began: false, stderr }
  const before = stderr.slice(0, begin.index)
  const rest = stderr.slice(begin.index + begin[0].length)
  const pid = Number(begin[1])
  const end = new RegExp(`ended ${nonce} ([0-9]{1,3})\n`).exec(rest)
  if (end?.[1] === undefined) return { began: true, pid, stderr: before + rest }
  return {
    began: true,
    pid,
    code: Number(end[1]),
    stderr: before + rest.slice(0, end.index) + rest.slice(end.index + end[0].length),
  }
}

/** Foreign text for a message: one line, nothing that moves a cursor, not without end. */
export function plainText(text: string, length = 400): string {
  const line = text
    .replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g, ' ')
    .replaceAll(/ {2,}/g, ' ')
    .trim()
  return line.length > length ? `${line.slice(0, length)}…` : line
}
