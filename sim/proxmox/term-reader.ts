/**
 * Reads what a terminal sends as the real termproxy does: `0:LENGTH:` and so many bytes, `1:COLUMNS:ROWS:`, and every
 * other byte counts for nothing. A head that comes in two parts is lost, as it is there.
 */
export function createTermReader(take: {
  readonly data: (bytes: Buffer) => void
  readonly size: (columns: number, rows: number) => void
}): (chunk: Buffer) => void {
  let left = 0
  return (chunk) => {
    let rest = chunk
    while (rest.length > 0) {
      if (left > 0) {
        const bytes = rest.subarray(0, left)
        left -= bytes.length
        rest = rest.subarray(bytes.length)
        take.data(bytes)
        continue
      }
      const head = /^(?:0:(\d{1,9}):|1:(\d{1,5}):(\d{1,5}):)/.exec(rest.subarray(0, 24).toString('latin1'))
      if (head === null) {
        rest = rest.subarray(1)
        continue
      }
      if (head[1] !== undefined) left = Number(head[1])
      else take.size(Number(head[2]), Number(head[3]))
      rest = rest.subarray(head[0].length)
    }
  }
}
