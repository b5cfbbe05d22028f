/**
 * Whose request it is. Behind a proxy all come from one address, and anybody can write any header: only what a proxy that
 * is named in the configuration has added counts, from the last to the first that is no such proxy. Pure.
 */
export function clientAddress(
  remote: string | undefined,
  forwarded: string | readonly string[] | undefined,
  proxies: readonly string[],
): string {
  let address = plain(remote ?? '')
  const hops = (typeof forwarded === 'string' ? forwarded : (forwarded ?? []).join(',')).split(',').map(plain)
  while (proxies.includes(address)) {
    const before = hops.pop()
    if (before === undefined || before === '') break
    address = before
  }
  return address.slice(0, 64)
}

function plain(address: string): string {
  return address.trim().replace(/^::ffff:/, '')
}
