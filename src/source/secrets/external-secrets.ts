import { z } from 'zod'
import type { ServerReference } from '../../model/secret.ts'
import { objectsOf, readDocuments } from '../manifest.ts'
import { SopsFailed } from './sops.ts'

/** Names a key of a Kubernetes Secret. */
interface WantedKey {
  readonly name: string
  readonly namespace?: string
  readonly key: string
}

const text = z.string().max(1000)
const remote = z.looseObject({ key: text, property: text.nullish() })
const externalSecretSchema = z.looseObject({
  metadata: z.looseObject({ name: text, namespace: text.nullish() }),
  spec: z.looseObject({
    secretStoreRef: z.looseObject({ name: text, kind: text.nullish() }).nullish(),
    target: z.looseObject({ name: text.nullish(), template: z.unknown().optional() }).nullish(),
    data: z.array(z.looseObject({ secretKey: text, remoteRef: remote })).nullish(),
    dataFrom: z.array(z.looseObject({ extract: remote.nullish() })).nullish(),
  }),
})
const storeSchema = z.looseObject({
  kind: z.enum(['SecretStore', 'ClusterSecretStore']),
  metadata: z.looseObject({ name: text }),
  spec: z.looseObject({
    provider: z.looseObject({
      vault: z.looseObject({ path: text.nullish(), version: text.nullish() }).nullish(),
      onepassword: z.looseObject({ vaults: z.record(text, z.unknown()) }).nullish(),
    }),
  }),
})

/**
 * Returns where the External Secrets operator would find a key of a Secret. croft asks the same server with its
 * operator's own address and credentials: those of a store belong to the cluster, and a repository must not direct ours
 * elsewhere. Undefined: no ExternalSecret makes that Secret. Pure.
 */
export function externalSecret(texts: readonly string[], wanted: WantedKey): ServerReference | undefined {
  const objects = texts.flatMap((one) => readDocuments(one, 'kubectl')).flatMap(({ value }) => objectsOf(value))
  const of = (kind: string) => objects.filter(({ value }) => value.kind === kind).map(({ value }) => value)
  for (const value of of('ExternalSecret')) {
    const { data: found } = externalSecretSchema.safeParse(value)
    if (found === undefined || (found.spec.target?.name ?? found.metadata.name) !== wanted.name) continue
    const { namespace } = found.metadata
    if (wanted.namespace !== undefined && namespace && namespace !== wanted.namespace) continue
    const what = `ExternalSecret ${found.metadata.name}`
    if (found.spec.target?.template !== undefined)
      throw new SopsFailed(`${what} makes its values with a template, which croft does not render`)
    const entry = found.spec.data?.find(({ secretKey }) => secretKey === wanted.key)?.remoteRef
    const whole = found.spec.dataFrom?.find(({ extract }) => extract)?.extract
    const from = entry ?? (whole ? { key: whole.key, property: wanted.key } : undefined)
    if (from === undefined) throw new SopsFailed(`${what} has no key ${wanted.key}`)
    const ref = found.spec.secretStoreRef
    const kind = ref?.kind ?? 'SecretStore'
    const store = of(kind)
      .map((one) => storeSchema.safeParse(one).data)
      .find((one) => one?.metadata.name === ref?.name)
    if (store === undefined)
      throw new SopsFailed(
        `${what} names the ${kind} ${ref?.name ?? ''}, which is not in the repository as croft reads it`,
      )
    return atServer(store.spec.provider, from.key, from.property ?? wanted.key, `${kind} ${store.metadata.name}`)
  }
  return undefined
}

function atServer(
  { vault, onepassword }: z.output<typeof storeSchema>['spec']['provider'],
  key: string,
  property: string,
  store: string,
): ServerReference {
  if (vault) {
    if ((vault.version ?? 'v2') !== 'v2') throw new SopsFailed(`${store} is of KV version 1; croft reads version 2`)
    const mount = (vault.path ?? 'secret').replace(/^\/+|\/+$/g, '')
    // The operator takes a path with and without its mount.
    const full = key.replace(/^\/+/, '')
    const path = (full.startsWith(`${mount}/`) ? full.slice(mount.length + 1) : full).replace(/^data\//, '')
    return { vault: { mount, path, key: property } }
  }
  if (!onepassword)
    throw new SopsFailed(`${store} is of a provider that croft does not ask: it asks Vault and 1Password`)
  const [only, ...more] = Object.keys(onepassword.vaults)
  if (only === undefined || more.length > 0) throw new SopsFailed(`${store} must name one vault of 1Password`)
  return { onePassword: { vault: only, item: key, field: property } }
}
