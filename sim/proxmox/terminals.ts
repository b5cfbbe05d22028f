import type { Guest, World } from '../world/types.ts'

/** A program of the host that waits at a port for one person, who must bring its ticket. */
export interface TermProxy {
  readonly port: number
  readonly ticket: string
  readonly user: string
  /** What the ticket is for: `/vms/100`. */
  readonly path: string
  readonly atMs: number
  readonly guest: Guest | undefined
  readonly serial: string | undefined
  /** A client connected: further clients are refused. */
  taken: boolean
}

/** How long the port waits for a client. */
const PATIENCE_MS = 10_000
/** How long a ticket is valid. */
const TICKET_MS = 40_000
const FIRST_PORT = 5900
const PORTS = 100

const ofWorlds = new WeakMap<World, Map<number, TermProxy>>()

function proxiesOf(world: World): Map<number, TermProxy> {
  const known = ofWorlds.get(world) ?? new Map<number, TermProxy>()
  ofWorlds.set(world, known)
  return known
}

/** Returns the real time: a client's socket does not follow the simulated clock. */
function outside({ clock }: World): number {
  return clock.outsideMs?.() ?? clock.now()
}

function waits(world: World, { taken, atMs }: TermProxy): boolean {
  return taken || outside(world) - atMs < PATIENCE_MS
}

/** Returns the first free port. Undefined: all are taken. */
export function freePort(world: World): number | undefined {
  const proxies = proxiesOf(world)
  for (const [port, proxy] of proxies)
    if (!waits(world, proxy) && outside(world) - proxy.atMs > TICKET_MS) proxies.delete(port)
  return Array.from({ length: PORTS }, (_, at) => FIRST_PORT + at).find((port) => {
    const there = proxies.get(port)
    return there === undefined || !waits(world, there)
  })
}

export function listen(world: World, proxy: Omit<TermProxy, 'atMs' | 'taken'>): void {
  proxiesOf(world).set(proxy.port, { ...proxy, atMs: outside(world), taken: false })
}

/** The ticket is signed for one user, one path and one port, and says when it was made. */
export function ticketIsGood(world: World, ticket: string, user: string, path: string, port: number): boolean {
  const proxy = proxiesOf(world).get(port)
  return (
    proxy?.ticket === ticket && proxy.user === user && proxy.path === path && outside(world) - proxy.atMs <= TICKET_MS
  )
}

/** Connects to a port. Undefined: nothing listens there any more. */
export function come(world: World, port: number): TermProxy | undefined {
  const proxy = proxiesOf(world).get(port)
  if (proxy === undefined || proxy.taken || !waits(world, proxy)) return undefined
  proxy.taken = true
  return proxy
}

export function leave(world: World, proxy: TermProxy): void {
  const proxies = proxiesOf(world)
  if (proxies.get(proxy.port) === proxy) proxies.delete(proxy.port)
}
