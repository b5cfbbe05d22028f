import { isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { WireFailure } from './wire.ts'

export interface ShownCertificate {
  /** SHA-256, `AA:BB:…`. */
  readonly fingerprint: string
  readonly notAfterMs: number
  /** Why the system's trust store refuses it; undefined if it accepts it. */
  readonly distrust?: string
}

/** Returns the certificate of an address. Closes the connection after the handshake: no request is sent. */
export function lookAtCertificate(
  endpoint: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<ShownCertificate> {
  const origin = new URL(endpoint)
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host,
      port: Number(origin.port === '' ? '443' : origin.port),
      // Reads the certificate and sends nothing, so an untrusted one does no harm.
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
      timeout: options.timeoutMs,
      ...(isIP(host) === 0 ? { servername: host } : {}),
    })
    const fail = (code: string, message: string) => socket.destroy(new WireFailure('no', code, message))
    const abort = () => fail('ABORTED', 'given up')
    if (options.signal?.aborted) abort()
    options.signal?.addEventListener('abort', abort, { once: true })
    socket.once('timeout', () => fail('ETIMEDOUT', `no answer within ${options.timeoutMs} ms`))
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()
      if (certificate === undefined) {
        fail('ERR_CERT_NONE', 'no certificate was shown')
        return
      }
      const distrust = socket.authorized ? {} : { distrust: String(socket.authorizationError ?? 'not verified') }
      resolve({ fingerprint: certificate.fingerprint256, notAfterMs: Date.parse(certificate.validTo), ...distrust })
      socket.destroy()
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      reject(error instanceof WireFailure ? error : new WireFailure('no', error.code ?? 'ECONNRESET', error.message))
    })
    socket.once('close', () => {
      options.signal?.removeEventListener('abort', abort)
      reject(new WireFailure('no', 'ECONNRESET', 'the connection was closed'))
    })
  })
}
