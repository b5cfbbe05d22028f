import { isIP } from 'node:net'

export interface Names {
  /** Address that the server listens on. */
  readonly host: string
  readonly port: number
  readonly names: readonly string[]
  readonly publicUrl?: string
}

/**
 * Reports whether the Host header is one of the server's own names. A foreign page can make a browser call 127.0.0.1
 * under its name (DNS rebinding), which then counts as the same origin; it cannot forge the Host header.
 */
export function isOwnHost(header: string | undefined, names: Names): boolean {
  const asked = splitHost(header)
  if (asked === undefined) return false
  const own = ownHosts(names)
  return own.some((one) => one.name === asked.name && (one.port === undefined || one.port === asked.port))
}

/** Reports whether the request is from our page. Browsers send Origin with all that can change something. */
export function isOwnOrigin(origin: string | undefined, host: string | undefined, names: Names): boolean {
  if (origin === undefined || origin === 'null') return false
  let url: URL
  try {
    url = new URL(origin)
  } catch {
    return false
  }
  if (names.publicUrl !== undefined && url.origin === new URL(names.publicUrl).origin) return true
  return url.protocol === 'http:' && url.host === host?.toLowerCase() && isOwnHost(host, names)
}

function ownHosts({ host, port, names, publicUrl }: Names): { readonly name: string; readonly port?: number }[] {
  const own: { name: string; port?: number }[] = ['localhost', '127.0.0.1', '[::1]'].map((name) => ({ name, port }))
  if (!['0.0.0.0', '::', ''].includes(host))
    own.push({ name: isIP(host) === 6 ? `[${host}]` : host.toLowerCase(), port })
  for (const name of names) {
    const split = splitHost(name)
    if (split === undefined) continue
    own.push({ name: split.name, port: split.port ?? port })
    // Behind a proxy the name comes without a port.
    own.push({ name: split.name })
  }
  if (publicUrl !== undefined) own.push({ name: new URL(publicUrl).hostname })
  return own
}

function splitHost(header: string | undefined): { readonly name: string; readonly port?: number } | undefined {
  const [, name, port] = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(?::(\d{1,5}))?$/.exec(header ?? '') ?? []
  if (name === undefined) return undefined
  return { name: name.toLowerCase().replace(/\.$/, ''), ...(port === undefined ? {} : { port: Number(port) }) }
}
