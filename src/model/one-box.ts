import type { ConnectionView, EstateView, HostView } from './estate-view.ts'

export interface Box extends HostView {
  /** Its name in Git, if the hypervisor's differs. */
  readonly alsoCalled?: string
  /** Why a host of the same name is another one. */
  readonly apart?: string
}

type HostsAndConnections = Pick<EstateView, 'hosts' | 'connections'>

/**
 * Returns hosts as people count them. A box that a hypervisor shows and that croft also reads over SSH is one: the
 * hypervisor reports its guests, its own sensors report temperature and power draw.
 */
export function asBoxes({ hosts, connections }: HostsAndConnections): readonly Box[] {
  const believed = { hosts: hosts.map(withoutLies), connections }
  const overSsh = new Set(connections.filter(({ driver }) => driver === 'ssh').map(({ name }) => name))
  const boxes = believed.hosts.filter(({ connection }) => overSsh.has(connection))
  const others = believed.hosts.filter(({ connection }) => !overSsh.has(connection))
  const merged = new Map<HostView, HostView>()
  const alone: Box[] = []
  for (const box of boxes) {
    const found = sameBox(box, others, connections)
    if (typeof found === 'object' && !merged.has(found)) merged.set(found, box)
    else alone.push(typeof found === 'string' ? { ...box, apart: found } : box)
  }
  return [
    ...others.map((host) => {
      const box = merged.get(host)
      if (box === undefined) return host
      return { ...box, ...host, ...(box.name === host.name ? {} : { alsoCalled: box.name }) }
    }),
    ...alone,
  ]
}

/**
 * Returns the hypervisor's host that a box is, or why its namesake is another one, or nothing if none is near. Git's
 * statement about the computer of a host decides first, then the address of a single hypervisor, then the name.
 */
export function sameBox(
  box: HostView,
  others: readonly HostView[],
  connections: readonly ConnectionView[],
): HostView | string | undefined {
  const of = (host: HostView) => connections.find(({ name }) => name === host.connection)
  const declared = (host: HostView) => of(host)?.computers?.[host.name] ?? of(host)?.computers?.['']
  const place = declared(box)
  if (place !== undefined) {
    const [first, ...more] = others.filter((host) => declared(host) === place)
    if (first !== undefined) return more.length === 0 ? first : `${listed([first, ...more])} say that they are it`
    const address = addressOf(`ssh://${place}`)
    const alone = others.find(
      (host) =>
        declared(host) === undefined &&
        others.filter(({ connection }) => connection === host.connection).length === 1 &&
        address !== undefined &&
        addressOf(of(host)?.endpoint) === address,
    )
    if (alone !== undefined) return alone
  }
  const named = others.filter(({ name }) => name === box.name)
  const [only] = named
  if (only === undefined) return undefined
  if (named.length > 1) return `${listed(named)} both have a host of this name; the Host can name its connection`
  const elsewhere = declared(only)
  return elsewhere === undefined || place === undefined
    ? only
    : `the one of connection ${only.connection} is at ${elsewhere}, this one at ${place}`
}

function listed(hosts: readonly HostView[]): string {
  return hosts.map(({ connection, name }) => `${connection}/${name}`).join(' and ')
}

function addressOf(endpoint: string | undefined): string | undefined {
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined
  const { hostname } = new URL(endpoint)
  return hostname === '' ? undefined : hostname
}

/** A host may report anything: values that are no numbers, or negative, are dropped. */
function withoutLies(host: HostView): HostView {
  const { connection, name, online, ...numbers } = host
  const kept = Object.entries(numbers).filter(
    ([, value]) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  )
  return { connection, name, online, ...Object.fromEntries(kept) }
}
