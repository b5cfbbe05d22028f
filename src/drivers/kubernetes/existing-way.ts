import { X509Certificate } from 'node:crypto'
import { createKubernetesClient, type KubernetesClient } from '../../kubernetes/client.ts'
import type { Credential } from '../../kubernetes/exec-credential.ts'
import {
  type CredentialProgram,
  filesNamedIn,
  type KubeconfigLogin,
  readLogin,
} from '../../kubernetes/kubeconfig-login.ts'
import type { Clock } from '../../lib/clock.ts'
import { defined } from '../../lib/defined.ts'
import { LIMITS } from '../../lib/limits.ts'
import type { Wire, WireRequest } from '../../lib/wire.ts'
import type { ExistingCluster } from '../../model/estate.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'
import type { KubernetesWay } from '../port.ts'
import type { KubernetesLogin } from '../release-port.ts'

/** The parts of a connection to a cluster that croft does not manage. */
export interface ExistingTools {
  readonly clock: Clock
  resolveSecret(reference: SecretReference): Promise<Secret>
  /** Opens TLS; without a CA the system's trust store decides. */
  openWire(to: {
    readonly endpoint: string
    readonly caPem?: string
    readonly client?: { readonly certificatePem: string; readonly key: Secret }
    readonly proxy?: string
  }): Wire
  /** As croft's own pod. */
  openInside(): Promise<Wire | { readonly problem: string }>
  insideLogin(): Promise<KubernetesLogin | { readonly problem: string }>
  /** Reads a local file that a local kubeconfig names. */
  readFile(name: string, besides: SecretReference): Promise<string | undefined>
  /** Runs a program that the administrator permits. */
  runProgram(program: CredentialProgram, signal: AbortSignal): Promise<Credential | { readonly problem: string }>
}

/** The connection to the API of a cluster that croft does not manage. */
export function existingWay(cluster: ExistingCluster, tools: ExistingTools): KubernetesWay {
  let opened: { readonly client: KubernetesClient; answers: boolean } | undefined
  /** The client certificate of our login; undefined without one. */
  let certificatePem: string | undefined

  async function open(signal: AbortSignal): Promise<Wire | { readonly problem: string }> {
    const { kubeconfig, proxy } = cluster
    if (kubeconfig === undefined) return tools.openInside()
    const found = await readKubeconfig(kubeconfig)
    if ('problem' in found) return found
    certificatePem = found.login.by === 'certificate' ? found.login.certificatePem : undefined
    return loggedIn(found, tools, proxy === undefined ? {} : { proxy }, signal)
  }

  async function readKubeconfig(kubeconfig: SecretReference): Promise<KubeconfigLogin | AccessProblem> {
    const { context } = cluster
    let text: string
    try {
      text = (await tools.resolveSecret(kubeconfig)).reveal()
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error) }
    }
    const local = 'file' in kubeconfig || 'env' in kubeconfig
    const files = new Map<string, string>()
    for (const name of local ? filesNamedIn(text, context) : []) {
      const read = await tools.readFile(name, kubeconfig)
      if (read !== undefined) files.set(name, read)
    }
    const found = readLogin(text, context, { local, file: (name) => files.get(name) })
    return 'problem' in found
      ? { problem: `the kubeconfig of Cluster ${cluster.name} cannot be used: ${found.problem}` }
      : found
  }

  async function login(signal: AbortSignal): Promise<KubernetesLogin | AccessProblem> {
    const { kubeconfig, proxy } = cluster
    if (kubeconfig === undefined) return tools.insideLogin()
    const found = await readKubeconfig(kubeconfig)
    return 'problem' in found ? found : loginNow(found, tools, proxy, signal)
  }

  return {
    async find(signal) {
      if (opened === undefined) {
        const wire = await open(signal)
        if ('problem' in wire) return { is: 'away', message: wire.problem }
        opened = { client: createKubernetesClient(wire), answers: false }
      }
      const { client, answers } = opened
      if (!answers) {
        const asked = await client.get('/api/v1', signal)
        // Even without the right to list kinds, a user may read and write the permitted objects.
        const reached = asked.is === 'answer' || (asked.is === 'error' && asked.status !== 401 && asked.status < 500)
        if (!reached) {
          await forget()
          return {
            is: 'away',
            message: asked.is === 'error' ? unauthorized(asked.status, asked.refusal.message) : asked.message,
          }
        }
        opened.answers = true
      }
      return { is: 'open', client }
    },
    others: { login },
    // A new kubeconfig, token or address may exist: look everything up again.
    lost: () => void forget(),
    close: forget,
  }

  async function forget(): Promise<void> {
    const before = opened
    opened = undefined
    await before?.client.close()
  }

  function unauthorized(status: number, message: string): string {
    if (status !== 401) return message
    const ended = certificatePem === undefined ? undefined : endOf(certificatePem)
    const why =
      ended !== undefined && ended.getTime() < tools.clock.now()
        ? `: the client certificate in it ended on ${ended.toISOString().slice(0, 10)}`
        : ''
    return (
      `the API of Cluster ${cluster.name} does not accept its kubeconfig (401)${why}. ` +
      'Get a new one (on a K3s server: /etc/rancher/k3s/k3s.yaml) and put it where spec.kubeconfig points to'
    )
  }
}

/** Returns when a certificate expires; undefined for other text. */
function endOf(certificatePem: string): Date | undefined {
  try {
    return new Date(new X509Certificate(certificatePem).validTo)
  } catch {
    return undefined
  }
}

type AccessProblem = { readonly problem: string }

async function loggedIn(
  { endpoint, caPem, login }: KubeconfigLogin,
  tools: ExistingTools,
  more: { readonly proxy?: string },
  signal: AbortSignal,
): Promise<Wire | AccessProblem> {
  const to = { endpoint, ...(caPem === undefined ? {} : { caPem }), ...more }
  switch (login.by) {
    case 'certificate':
      return tools.openWire({ ...to, client: login })
    case 'token':
      return withBearer(tools.openWire(to), async () => login.token)
    case 'program': {
      const first = await tools.runProgram(login.program, signal)
      if ('problem' in first) return first
      if (first.client !== undefined) return tools.openWire({ ...to, client: first.client })
      return withBearer(
        tools.openWire(to),
        renewing(first, () => tools.runProgram(login.program, new AbortController().signal), tools.clock),
      )
    }
  }
}

/** The same for another program: asks a credential program once, for a token that outlives one run. */
async function loginNow(
  { endpoint, caPem, login }: KubeconfigLogin,
  tools: ExistingTools,
  proxy: string | undefined,
  signal: AbortSignal,
): Promise<KubernetesLogin | AccessProblem> {
  const to = { endpoint, ...defined({ caPem, proxy }) }
  if (login.by === 'certificate') return { ...to, client: login }
  if (login.by === 'token') return { ...to, token: login.token }
  const given = await tools.runProgram(login.program, signal)
  return 'problem' in given ? given : { ...to, ...defined({ token: given.token, client: given.client }) }
}

/** Returns the current token, renewed before it expires and when the API rejects it. */
function renewing(
  first: Credential,
  again: () => Promise<Credential | AccessProblem>,
  clock: Clock,
): (refused: boolean) => Promise<Secret | undefined> {
  let held = first
  return async (refused) => {
    const over = held.untilMs !== undefined && held.untilMs - clock.now() < LIMITS.credentialRenewMs
    if (refused || over) {
      const next = await again()
      if (!('problem' in next)) held = next
    }
    return held.token
  }
}

function withBearer(wire: Wire, token: (refused: boolean) => Promise<Secret | undefined>): Wire {
  const authorized = async (request: WireRequest, refused: boolean): Promise<WireRequest> => {
    const held = await token(refused)
    if (held === undefined) return request
    return { ...request, headers: { ...request.headers, authorization: `Bearer ${held.reveal()}` } }
  }
  const { stream } = wire
  return {
    async send(request, signal) {
      const sent = await authorized(request, false)
      const answer = await wire.send(sent, signal)
      if (answer.status !== 401) return answer
      const renewed = await authorized(request, true)
      return renewed.headers.authorization === sent.headers.authorization ? answer : wire.send(renewed, signal)
    },
    ...(stream === undefined
      ? {}
      : {
          stream: async (request, onText, signal) =>
            stream.call(wire, await authorized(request, false), onText, signal),
        }),
    close: () => wire.close(),
  }
}
