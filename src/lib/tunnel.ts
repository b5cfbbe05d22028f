import { BlockList, isIP, type Socket } from 'node:net'
import { WireFailure } from './wire.ts'

const HEAD_BYTES = 16 * 1024

/** Returns the proxy's address to connect to. Rejects a forbidden one. */
export type ProxyAddress = (host: string, port: number) => Promise<string>

/** Asks an HTTP proxy to pass a connection on (CONNECT). Resolves when everything written goes to the other end. */
export function openTunnel(
  socket: Socket,
  proxy: string,
  host: string,
  port: number,
  connectMs: number,
  addressOf: ProxyAddress = async (name) => name,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const url = URL.canParse(proxy) ? new URL(proxy) : undefined
    if (url?.protocol !== 'http:') return reject(failure('ERR_PROXY', 'the proxy is not an http:// address'))
    const target = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
    let head = ''
    const end = (error?: Error) => {
      clearTimeout(late)
      socket.off('error', onError).off('close', onClose).off('data', onData)
      if (error === undefined) return resolve(socket)
      // Ignore errors after the end: they must not end the process.
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const late = setTimeout(() => end(failure('ETIMEDOUT', `no answer from the proxy ${url.host}`)), connectMs)
    const onError = (error: NodeJS.ErrnoException) =>
      end(failure(error.code ?? 'ERR_PROXY', `the proxy ${url.host}: ${error.message}`))
    const onClose = () => end(failure('ERR_PROXY', `the proxy ${url.host} closed the connection`))
    const onData = (chunk: Buffer) => {
      head += chunk.toString('latin1')
      const over = head.indexOf('\r\n\r\n')
      if (over === -1) {
        if (head.length > HEAD_BYTES) end(failure('ERR_PROXY', `the proxy ${url.host} answers something else`))
        return
      }
      const status = /^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1]
      if (status === undefined || !status.startsWith('2')) {
        return end(failure('ERR_PROXY', `the proxy ${url.host} refused the way to ${target} (${status ?? 'no HTTP'})`))
      }
      // The target does not speak first: more bytes than the head mean that something in between does.
      if (head.length > over + 4) return end(failure('ERR_PROXY', `the proxy ${url.host} said more than it should`))
      end()
    }
    socket.on('error', onError).on('close', onClose).on('data', onData)
    const at = Number(url.port === '' ? '80' : url.port)
    addressOf(url.hostname.replace(/^\[|\]$/g, ''), at).then((address) => {
      if (socket.destroyed) return
      socket.connect(at, address, () => {
        socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n${authorization(url)}\r\n`)
      })
    }, end)
  })
}

/**
 * The environment in which this proxy is used for everything. Both spellings: the lower one wins, and the person may have
 * set it.
 */
export function proxyEnvironment(proxy: string): Readonly<Record<string, string>> {
  return { HTTPS_PROXY: proxy, https_proxy: proxy, NO_PROXY: '', no_proxy: '' }
}

/**
 * The proxy that the environment names for an address: HTTPS_PROXY, unless NO_PROXY has its name, a domain above it, or
 * everything, or a range that its address is in.
 */
export function proxyFor(endpoint: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const proxy = env.https_proxy ?? env.HTTPS_PROXY
  if (proxy === undefined || proxy === '' || !URL.canParse(endpoint)) return undefined
  const url = new URL(endpoint)
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port === '' ? '443' : url.port
  const exempt = (env.no_proxy ?? env.NO_PROXY ?? '').split(',').map((entry) => entry.trim().toLowerCase())
  const matches = (entry: string) => {
    if (entry === '') return false
    if (entry === '*') return true
    if (entry.includes('/')) return isInRange(host, entry)
    const [name = '', only] = isIP(entry) === 6 ? [entry] : entry.split(':')
    if (only !== undefined && only !== port) return false
    const domain = name.replace(/^\*?\./, '')
    return host === domain || host.endsWith(`.${domain}`)
  }
  if (host === 'localhost' || host === '127.0.0.1' || host === '::1') return undefined
  return exempt.some(matches) ? undefined : proxy
}

function isInRange(host: string, range: string): boolean {
  const [base = '', prefix = ''] = range.split('/')
  const kind = isIP(base)
  if (kind === 0 || kind !== isIP(host) || !/^\d{1,3}$/.test(prefix) || Number(prefix) > (kind === 4 ? 32 : 128))
    return false
  const list = new BlockList()
  const family = kind === 4 ? 'ipv4' : 'ipv6'
  list.addSubnet(base, Number(prefix), family)
  return list.check(host, family)
}

function authorization({ username, password }: URL): string {
  if (username === '') return ''
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return `proxy-authorization: Basic ${Buffer.from(pair).toString('base64')}\r\n`
}

function failure(code: string, message: string): WireFailure {
  return new WireFailure('no', code, message)
}
