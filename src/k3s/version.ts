/** A K3s release in parts: `v1.33.7+k3s3`. */
export interface K3sVersion {
  readonly major: number
  readonly minor: number
  readonly patch: number
  readonly build: number
}

const PATTERN = /^v(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})\.(0|[1-9]\d{0,3})\+k3s([1-9]\d{0,3})$/

/** Undefined for everything but an exact release: no channel, no range, no candidate, no leading zero. */
export function parseVersion(text: string): K3sVersion | undefined {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const [major = 0, minor = 0, patch = 0, build = 0] = match.slice(1).map(Number)
  return { major, minor, patch, build }
}

/** Negative when `a` is older. Text that is no release is older than every release. */
export function compareVersions(a: string, b: string): number {
  if (a === b) return 0
  const [left, right] = [parseVersion(a), parseVersion(b)]
  if (left === undefined || right === undefined) return Number(left !== undefined) - Number(right !== undefined)
  return left.major - right.major || left.minor - right.minor || left.patch - right.patch || left.build - right.build
}

/** `3.5.26` against `3.6.7`: number by number, never as text. */
export function compareEtcd(a: string, b: string): number {
  const [left, right] = [numbers(a), numbers(b)]
  return (left[0] ?? 0) - (right[0] ?? 0) || (left[1] ?? 0) - (right[1] ?? 0) || (left[2] ?? 0) - (right[2] ?? 0)
}

function numbers(text: string): readonly number[] {
  return text.split('.').map((part) => Number.parseInt(part, 10) || 0)
}

/** `34` of `v1.34.3+k3s1`. */
export function minorOf(text: string): number | undefined {
  return parseVersion(text)?.minor
}
