import { isIP } from 'node:net'
import { type Wire, WireFailure, type WireRequest, type WireResponse } from '../../src/lib/wire.ts'
import type { Secret } from '../../src/model/secret.ts'
import { certificatesIn, isTrusted, keyFits } from '../k3s/authorities.ts'
import { flagList } from '../k3s/config-file.ts'
import { hostOf, serverAt } from '../k3s/network.ts'
import type { K3sProcess, World } from '../world/types.ts'
import { callServer } from './api.ts'
import { json } from './status.ts'

export interface KubernetesAddress {
  /** `https://192.168.4.79:6443`. */
  readonly endpoint: string
  readonly caPem: string
  readonly certificatePem?: string
  readonly key?: Secret
}

/** The way to a simulated Kubernetes API without sockets. What TLS would refuse is refused here, before a byte is sent. */
export function kubernetesWire(world: World, target: KubernetesAddress): Wire {
  const host = hostOf(target.endpoint)
  let closed = false
  return {
    async send(request, signal) {
      if (closed || signal?.aborted) throw new WireFailure('no', 'ABORTED', 'the request was called off')
      const process = serverAt(world, host)
      if (process === undefined) throw new WireFailure('no', 'ECONNREFUSED', `connect ECONNREFUSED ${host}:6443`)
      judge(world, process, host, target)
      return orAborted(exchange(world, process, request, target), signal)
    },
    async stream(request, onText, signal) {
      if (closed || signal.aborted) throw new WireFailure('no', 'ABORTED', 'the request was called off')
      const process = serverAt(world, host)
      if (process === undefined) throw new WireFailure('no', 'ECONNREFUSED', `connect ECONNREFUSED ${host}:6443`)
      judge(world, process, host, target)
      return exchange(world, process, request, target, { onText, signal })
    },
    close() {
      closed = true
      return Promise.resolve()
    },
  }
}

const judged = new Map<string, string>()

/** Both sides of the handshake: is it the right server, and does the client's key belong to its certificate? */
function judge(world: World, process: K3sProcess, host: string, target: KubernetesAddress): void {
  if (!servedNames(process).includes(host))
    throw new WireFailure('no', 'ERR_TLS_CERT_ALTNAME_INVALID', `the certificate of ${host} is not made out to it`)
  const own = process.files.get('server-ca.crt') ?? ''
  const key = `${own}${target.caPem}${target.certificatePem ?? ''}`
  let problem = judged.get(key)
  if (problem === undefined) {
    // The leaf is made by the first certificate of the file; the rest of the file comes along as its chain.
    const trusted = isTrusted(certificatesIn(own), certificatesIn(target.caPem), world.clock.now())
    const fits =
      target.certificatePem === undefined ||
      target.key === undefined ||
      keyFits(target.certificatePem, target.key.reveal())
    problem = trusted ? (fits ? '' : 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') : 'ERR_CERT_UNTRUSTED'
    if (judged.size > 500) judged.clear()
    judged.set(key, problem)
  }
  if (problem !== '') throw new WireFailure('no', problem, `the certificate of ${host} is not trusted`)
}

const SERVICE_NAMES = [
  '10.43.0.1',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
]

/** Returns the names in the certificate on 6443. A client that dials another name fails. */
export function servedNames(process: K3sProcess): readonly string[] {
  const { flags, nodeName } = process
  const own = ['127.0.0.1', '::1', 'localhost', nodeName]
  const declared = ['node-external-ip', 'advertise-address', 'tls-san'].flatMap((flag) => flagList(flags, flag))
  return [...own, ...process.nodeIps, ...declared, ...SERVICE_NAMES].filter(
    (name, index, all) => all.indexOf(name) === index && (isIP(name) !== 0 || /^[a-z0-9.-]+$/i.test(name)),
  )
}

async function exchange(
  world: World,
  process: K3sProcess,
  request: WireRequest,
  target: KubernetesAddress,
  reader?: { readonly onText: (text: string) => void; readonly signal: AbortSignal },
): Promise<WireResponse> {
  const lower: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) lower[name.toLowerCase()] = value
  const peer = target.certificatePem === undefined ? {} : { certificatePem: target.certificatePem }
  const answer = await callServer(process, { ...request, headers: lower }, peer)
  if (answer === undefined) return hang(process)
  if ('response' in answer) {
    if (!process.alive) throw new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
    return answer.response
  }
  const { watch } = answer
  return new Promise((resolve, reject) => {
    let body = ''
    const over = () => {
      stop()
      timer.cancel()
      process.ends.delete(reset)
      reader?.signal.removeEventListener('abort', abort)
    }
    const end = () => {
      over()
      resolve(json(200, body, watch.type))
    }
    const fail = (code: string, message: string) => {
      over()
      reject(new WireFailure('maybe', code, message))
    }
    const reset = () => fail('ECONNRESET', 'connection reset by peer')
    const abort = () => fail('ABORTED', 'the request was called off')
    const timer = world.clock.schedule(world.clock.now() + watch.timeoutMs, end)
    const stop = watch.start((line) => {
      if (reader === undefined) body += line
      else reader.onText(line)
    }, end)
    process.ends.add(reset)
    reader?.signal.addEventListener('abort', abort, { once: true })
  })
}

/** Nothing comes until the process ends: then the connection is reset. */
function hang(process: K3sProcess): Promise<never> {
  return new Promise((_, reject) => {
    const reset = () => reject(new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer'))
    if (process.alive) process.ends.add(reset)
    else reset()
  })
}

function orAborted(answer: Promise<WireResponse>, signal: AbortSignal | undefined): Promise<WireResponse> {
  if (signal === undefined) return answer
  return new Promise((resolve, reject) => {
    const abort = () => reject(new WireFailure('maybe', 'ABORTED', 'the request was called off'))
    signal.addEventListener('abort', abort, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
