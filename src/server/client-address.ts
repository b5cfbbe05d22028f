/**
 * Returns the client's address. Behind a proxy all requests share one address, and clients can forge headers: so it
 * counts only entries that configured proxies added, from the last to the first one that is no such proxy. Pure.
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
