/** Privileges that together are enough, all of them on one path. */
export interface PrivilegeSet {
  readonly path: string
  readonly privileges: readonly string[]
  /** Must hold for everything below the path too. */
  readonly below?: true
  /** The path above it on which the right is best given, when that is not the path itself. */
  readonly place?: string
}

/** One thing that a token must be allowed. Any of the ways will do; the first asks for the least. */
export interface Need {
  /** Without any way only root@pam itself may do it, and no token ever. */
  readonly ways: readonly PrivilegeSet[]
  /** What it is needed for: `create VM 114 (web-1) on fun-bedbug`. */
  readonly why: string
  /** blind: an apply works without it; croft sees less, or a person can do less with it. */
  readonly without: 'refused' | 'blind'
}

/** `/vms/114 VM.Allocate`, `/ Sys.Audit+Sys.Modify`. */
export function way(text: string): PrivilegeSet {
  const [path = '', privileges = ''] = text.split(' ')
  return { path, privileges: privileges.split('+') }
}

/** The same need for many resources is one: the first tells why. */
export function distinct(needs: readonly Need[]): readonly Need[] {
  const seen = new Map<string, Need>()
  for (const need of needs) {
    const name = JSON.stringify([need.ways, need.ways.length === 0 ? need.why : ''])
    const known = seen.get(name)
    if (known === undefined || (known.without === 'blind' && need.without === 'refused')) seen.set(name, need)
  }
  return [...seen.values()]
}
