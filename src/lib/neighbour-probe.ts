/**
 * Returns a program that shows which of these addresses exist on a host's networks. One packet makes the kernel resolve
 * the hardware address (ARP or neighbour discovery), which works through firewalls. It changes nothing.
 */
export function neighbourProbe(addresses: readonly string[]): readonly string[] {
  return ['sh', '-c', SCRIPT, 'croft-neighbours', ...addresses]
}

const SCRIPT = `export LC_ALL=C
for a in "$@"; do
  if command -v ping >/dev/null; then
    { ping -n -q -c 1 -W 1 "$a" >/dev/null 2>&1 && echo "answers $a"; } &
  else
    { bash -c 'echo >"/dev/udp/$1/9"' croft "$a" 2>/dev/null; sleep 1; } &
  fi
done
wait
ip -o addr show
ip neigh show`

/** One of the requested addresses, with the host's knowledge of it. */
export interface Neighbour {
  readonly address: string
  readonly hardware?: string
  /** The host itself has it. */
  readonly own: boolean
}

/** Reads the answer. An entry that is only cached (STALE, DELAY) proves nothing: its owner may be gone. Pure. */
export function readNeighbours(text: string, asked: readonly string[]): readonly Neighbour[] {
  const wanted = new Set(asked)
  const own = new Set<string>()
  const answering = new Set<string>()
  const hardware = new Map<string, string>()
  for (const line of text.split('\n')) {
    const [, here] = /^\d+:\s+\S+\s+inet6?\s+([0-9a-fA-F.:]+)/.exec(line) ?? []
    if (here !== undefined) own.add(here)
    const [, echo] = /^answers (\S+)$/.exec(line) ?? []
    if (echo !== undefined) answering.add(echo)
    const [, there = '', mac, state] =
      /^(\S+) dev \S+ .*?lladdr ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\b.*\b([A-Z]+)\s*$/.exec(line) ?? []
    if (mac === undefined) continue
    hardware.set(there, mac)
    if (state === 'REACHABLE') answering.add(there)
  }
  return [...wanted].flatMap((address): Neighbour[] => {
    if (own.has(address)) return [{ address, own: true }]
    if (!answering.has(address)) return []
    const mac = hardware.get(address)
    return [{ address, own: false, ...(mac === undefined ? {} : { hardware: mac }) }]
  })
}
