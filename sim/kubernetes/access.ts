import type { WireRequest } from '../../src/lib/wire.ts'
import { certificatesIn, isTrusted } from '../k3s/authorities.ts'
import type { K3sProcess } from '../world/types.ts'
import type { Caller, Peer } from './call.ts'
import { text, tree } from './object.ts'
import { all } from './store.ts'

/** Authenticates by client certificate or bearer token. Undefined: an unknown caller. */
export function authenticate(process: K3sProcess, request: WireRequest, peer: Peer): Caller | undefined {
  if (peer.certificatePem !== undefined) {
    const caller = byCertificate(process, peer.certificatePem)
    if (caller !== undefined) return caller
  }
  const header = request.headers.authorization ?? request.headers.Authorization ?? ''
  const token = /^Bearer (.+)$/.exec(header)?.[1]
  return token === undefined ? undefined : byToken(process, token)
}

/** Proving a signature costs as much as many calls, and the same certificate comes with each of them. */
const proved = new Map<string, { readonly caller: Caller | undefined; readonly untilMs: number }>()

function byCertificate(process: K3sProcess, pem: string): Caller | undefined {
  const nowMs = process.computer.world.clock.now()
  const authority = process.files.get('client-ca.crt') ?? ''
  const key = `${authority}\n${pem}`
  const known = proved.get(key)
  if (known !== undefined && nowMs < known.untilMs) return known.caller
  let caller: Caller | undefined
  let untilMs = nowMs + 60_000
  try {
    const chain = certificatesIn(pem)
    const [leaf] = chain
    if (leaf !== undefined && isTrusted(chain, certificatesIn(authority), nowMs)) {
      const parts = leaf.subject.split('\n').map((line) => line.split('='))
      const user = parts.find(([name]) => name === 'CN')?.[1] ?? ''
      const groups = parts.filter(([name]) => name === 'O').map(([, value]) => value ?? '')
      caller = { user, groups: [...groups, 'system:authenticated'] }
      untilMs = leaf.validToDate.getTime()
    }
  } catch {
    caller = undefined
  }
  if (proved.size > 200) proved.clear()
  proved.set(key, { caller, untilMs })
  return caller
}

/** Tokens of service accounts are Secrets; those that exist for a person to use are bound to a role by name. */
function byToken(process: K3sProcess, token: string): Caller | undefined {
  const store = process.cluster?.store
  if (store === undefined) return undefined
  for (const secret of all(store, '/secrets')) {
    if (secret.type !== 'kubernetes.io/service-account-token') continue
    if (Buffer.from(text(tree(secret.data).token), 'base64').toString('utf8') !== token) continue
    const account = secret.metadata.annotations?.['kubernetes.io/service-account.name'] ?? 'default'
    const admin = all(store, 'rbac.authorization.k8s.io/clusterrolebindings').some(
      (binding) =>
        text(tree(binding.roleRef).name) === 'cluster-admin' &&
        JSON.stringify(binding.subjects ?? []).includes(`"${account}"`),
    )
    const user = `system:serviceaccount:${secret.metadata.namespace}:${account}`
    return { user, groups: [...(admin ? ['system:masters'] : []), 'system:authenticated'] }
  }
  return undefined
}
