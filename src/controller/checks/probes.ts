import { Resolver } from 'node:dns/promises'
import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { LIMITS } from '../../lib/limits.ts'
import type { Probe, ProbeAnswer, ProbeFunction } from '../../model/health-check.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'

/** Probes over this computer's network, which need no shell. */
export function networkProbes(resolveSecret: (reference: SecretReference) => Promise<Secret>): ProbeFunction {
  return async (probe, signal) => {
    switch (probe.ask) {
      case 'tcp':
        return tcp(probe.host, probe.port, signal)
      case 'http': {
        const token = probe.token === undefined ? undefined : await resolveSecret(probe.token)
        return http(probe, token, signal)
      }
      case 'dns':
        return dns(probe, signal)
      case 'cluster':
      case 'command':
        return { passed: 'unknown', output: 'this controller has no way to reach it' }
    }
  }
}

function tcp(host: string, port: number, signal: AbortSignal): Promise<ProbeAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, signal })
    socket.once('connect', () => {
      socket.destroy()
      resolve({ passed: 'yes', output: `${host}:${port} is open` })
    })
    socket.once('error', reject)
  })
}

function http(
  probe: Extract<Probe, { ask: 'http' }>,
  token: Secret | undefined,
  signal: AbortSignal,
): Promise<ProbeAnswer> {
  const { url, status, contains, fingerprint } = probe
  const secure = url.startsWith('https:')
  return new Promise((resolve, reject) => {
    const options = {
      signal,
      headers: { 'user-agent': 'croft', ...(token === undefined ? {} : { authorization: `Bearer ${token.word()}` }) },
      // A pinned certificate is compared below, before the answer is believed.
      ...(secure && fingerprint !== undefined ? { rejectUnauthorized: false } : {}),
    }
    const sent = (secure ? httpsRequest : httpRequest)(url, { ...options, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        if (text.length < LIMITS.probeBodyLength) text += chunk
      })
      response.once('error', reject)
      response.once('end', () => {
        const code = response.statusCode ?? 0
        if (!status.includes(code)) resolve({ passed: 'no', output: `answered ${code}` })
        else if (contains !== undefined && !text.includes(contains))
          resolve({ passed: 'no', output: `answered ${code}, without the expected text` })
        else resolve({ passed: 'yes', output: `answered ${code}` })
      })
    })
    sent.once('error', reject)
    if (secure && fingerprint !== undefined) {
      // The request, and the token with it, is held back until the other side has shown who it is.
      sent.once('socket', (socket) => {
        socket.cork()
        socket.once('secureConnect', () => {
          const shown = (
            socket as unknown as { getPeerCertificate(): { fingerprint256?: string } }
          ).getPeerCertificate()
          if (shown.fingerprint256?.toUpperCase() === fingerprint.toUpperCase()) socket.uncork()
          else sent.destroy(new Error('the certificate is not the pinned one'))
        })
      })
    }
    sent.end()
  })
}

async function dns(probe: Extract<Probe, { ask: 'dns' }>, signal: AbortSignal): Promise<ProbeAnswer> {
  const { name, type, server, expect } = probe
  const resolver = new Resolver()
  if (server !== undefined) resolver.setServers([server])
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const answers = (await resolver.resolve(name, type)) as readonly (string | readonly string[])[]
  const texts = answers.map((answer) => (typeof answer === 'string' ? answer : answer.join('')))
  if (expect !== undefined && !texts.includes(expect))
    return { passed: 'no', output: `answered ${texts.join(', ').slice(0, 200)}` }
  return { passed: 'yes', output: texts.join(', ').slice(0, 200) }
}
