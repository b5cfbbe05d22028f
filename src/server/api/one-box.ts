import type { EstateView, HostView } from '../../model/estate-view.ts'

/**
 * Hosts as people count them. A box that a hypervisor shows and that is also looked at over SSH is one: the hypervisor
 * says what runs on it, its own sensors say how warm it is and what it draws. Two hypervisors may each have a host of the
 * same name; those stay two.
 */
export function asBoxes({ hosts, connections }: Pick<EstateView, 'hosts' | 'connections'>): readonly HostView[] {
  const overSsh = new Set(connections.filter(({ driver }) => driver === 'ssh').map(({ name }) => name))
  const believed = hosts.map(withoutLies)
  const boxes = believed.filter(({ connection }) => overSsh.has(connection))
  const others = believed.filter(({ connection }) => !overSsh.has(connection))
  const named = new Map<string, number>()
  for (const { name } of others) named.set(name, (named.get(name) ?? 0) + 1)
  const merged = others.map((host) => {
    const box = named.get(host.name) === 1 ? boxes.find(({ name }) => name === host.name) : undefined
    return box === undefined ? host : { ...box, ...host }
  })
  return [...merged, ...boxes.filter(({ name }) => named.get(name) !== 1)]
}

/** A host may say anything of itself. What is no number, or less than nothing, is left out. */
function withoutLies(host: HostView): HostView {
  const { connection, name, online, ...numbers } = host
  const kept = Object.entries(numbers).filter(
    ([, value]) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
  )
  return { connection, name, online, ...Object.fromEntries(kept) }
}
