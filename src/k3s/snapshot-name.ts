/** What a snapshot is called that croft asks for at this moment. K3s puts the node and its own time behind it. */
export function snapshotName(nowMs: number): string {
  return `croft-${Math.floor(nowMs / 1000)}`
}

/** When croft asked for a snapshot, by its own clock. Undefined: somebody else asked for it, or K3s took it by schedule. */
export function askedForMs(name: string): number | undefined {
  const seconds = /^croft-(\d{9,11})(?:-|$)/.exec(name)?.[1]
  return seconds === undefined ? undefined : Number(seconds) * 1000
}
