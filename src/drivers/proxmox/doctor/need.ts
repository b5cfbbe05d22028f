/** Privileges on one path that suffice together. */
export interface PrivilegeSet {
  readonly path: string
  readonly privileges: readonly string[]
  /** Must also apply to everything below the path. */
  readonly below?: true
  /** The parent path for the right, if it is not the path itself. */
  readonly place?: string
}

/** One right that a token needs. Any of the ways suffices; the first needs the fewest privileges. */
export interface Need {
  /** Without any way only root@pam itself may do it, never a token. */
  readonly ways: readonly PrivilegeSet[]
  /** The operation that needs it: `create VM 114 (web-1) on fun-bedbug`. */
  readonly why: string
  /** blind: an apply works without it, but croft sees less, or a person can do less. */
  readonly without: 'refused' | 'blind'
}

/** Parses `/vms/114 VM.Allocate` and `/ Sys.Audit+Sys.Modify`. */
export function way(text: string): PrivilegeSet {
  const [path = '', privileges = ''] = text.split(' ')
  return { path, privileges: privileges.split('+') }
}

/** Merges equal needs of several resources; the first gives the reason. */
export function distinct(needs: readonly Need[]): readonly Need[] {
  const seen = new Map<string, Need>()
  for (const need of needs) {
    const name = JSON.stringify([need.ways, need.ways.length === 0 ? need.why : ''])
    const known = seen.get(name)
    if (known === undefined || (known.without === 'blind' && need.without === 'refused')) seen.set(name, need)
  }
  return [...seen.values()]
}
