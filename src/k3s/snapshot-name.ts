/** Returns the name of a snapshot requested now. K3s appends the node and its own time. */
export function snapshotName(nowMs: number): string {
  return `croft-${Math.floor(nowMs / 1000)}`
}

/** Returns when croft asked for a snapshot, by its clock. Undefined: a person or the schedule of K3s made it. */
export function askedForMs(name: string): number | undefined {
  const seconds = /^croft-(\d{9,11})(?:-|$)/.exec(name)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
