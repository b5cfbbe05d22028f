import { z } from 'zod'
import type { Declaration } from '../model/declaration.ts'
import type { Connection } from '../model/estate.ts'
import type { SecretReference } from '../model/secret.ts'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import { certificateFingerprint } from './fields/fingerprint.ts'
import { line, objectName } from './fields/text.ts'
import type { FieldProblem, Kind, Lookup, RawManifest } from './kind.ts'
import { PROXMOX_IDS, PROXMOX_LIMITS, sshHosts } from './proxmox.ts'

const schema = z.strictObject({
  credentials: z.strictObject({
    source: z.enum(['None', 'Secret', 'InjectedIdentity', 'Environment', 'Filesystem']),
    env: z.strictObject({ name: line }).optional(),
    fs: z.strictObject({ path: line }).optional(),
    secretRef: z.strictObject({ name: objectName, namespace: objectName.optional(), key: line }).optional(),
  }),
})

export type ProviderConfigSpec = z.output<typeof schema>

const GROUPS = new Set(
  ['crossplane.io', 'proxmoxbpg.crossplane.io', 'proxmoxbpg.m.crossplane.io'].flatMap((group) => [
    `${group}/v1alpha1`,
    `${group}/v1beta1`,
  ]),
)

/**
 * Crossplane's access to Proxmox: address and token are in its secret. If there are Proxmox objects, they serve
 * references to a ProviderConfig; otherwise the ProviderConfig is the connection.
 */
export const providerConfig: Kind<ProviderConfigSpec> = {
  kind: 'ProviderConfig',
  apiVersion: 'proxmoxbpg.crossplane.io/v1beta1',
  accepts: (apiVersion) => GROUPS.has(apiVersion),
  namespaced: (apiVersion) => apiVersion.includes('.m.crossplane.io/'),
  plural: 'providerconfigs',
  shortNames: [],
  summary: "Crossplane's provider configuration: a Proxmox connection whose address and token are in its secret.",
  schema,
  check: (_spec, manifest) => [...checkAnnotations(manifest), ...checkFingerprint(manifest)],
  policy: (_spec, manifest) => annotatedPolicy(manifest),
  expand(declaration, lookup) {
    const connection = providerConnection(declaration, lookup)
    if (connection === undefined) return { role: 'fact' }
    const twin = lookup.all('ProviderConfig').find((one) => one.name === declaration.name)
    if (twin !== undefined && twin.key !== declaration.key)
      return {
        problems: [
          {
            code: 'same-name',
            path: ['metadata', 'name'],
            message: `two ProviderConfigs are called ${declaration.name}, and a connection is known by its name`,
            hint: 'give one of them another name, or declare Proxmox objects for them',
          },
        ],
      }
    return { role: 'connection', connection }
  },
}

/** Returns the connection of a ProviderConfig. Undefined: another connection serves its references. */
export function providerConnection(
  declaration: Declaration<ProviderConfigSpec>,
  lookup: Lookup,
): Connection | undefined {
  const { name, spec, annotations, origin } = declaration
  const credentials = referenceOf(spec.credentials, declaration.namespace)
  if (credentials === undefined || annotations['croft.dev/connection'] !== undefined) return undefined
  if (lookup.all('Proxmox').length > 0) return undefined
  const fingerprint = annotations['croft.dev/fingerprint']
  const hosts = sshHosts(name, lookup)
  return {
    name,
    driver: 'proxmox',
    endpoint: endpointIn(credentials),
    ...(fingerprint === undefined ? {} : { fingerprint: fingerprint.toUpperCase() }),
    credentials,
    estate: 'default',
    ids: PROXMOX_IDS,
    limits: PROXMOX_LIMITS,
    ...(Object.keys(hosts).length === 0 ? {} : { hosts }),
    origin,
  }
}

/** Returns the display form of an address that only the secret has. */
function endpointIn(credentials: SecretReference): string {
  if ('env' in credentials) return `env:${credentials.env}`
  if ('secretRef' in credentials) {
    const { namespace, name } = credentials.secretRef
    return `secret:${namespace === undefined ? '' : `${namespace}/`}${name}`
  }
  if ('file' in credentials) return `file:${credentials.file}`
  return 'sops' in credentials ? `file:${credentials.sops.file}` : 'a server of secrets'
}

function referenceOf(
  { source, env, fs, secretRef }: ProviderConfigSpec['credentials'],
  home: string | undefined,
): SecretReference | undefined {
  if (source === 'Environment' && env !== undefined) return { env: env.name }
  if (source === 'Filesystem' && fs !== undefined) return { file: fs.path }
  if (source !== 'Secret' || secretRef === undefined) return undefined
  const namespace = secretRef.namespace ?? home
  return { secretRef: { name: secretRef.name, key: secretRef.key, ...(namespace === undefined ? {} : { namespace }) } }
}

function checkFingerprint({ metadata }: RawManifest): readonly FieldProblem[] {
  const fingerprint = metadata.annotations['croft.dev/fingerprint']
  if (fingerprint === undefined || certificateFingerprint.safeParse(fingerprint).success) return []
  const message = 'croft.dev/fingerprint is the SHA-256 fingerprint of the certificate: 32 pairs of digits, AA:BB:…'
  return [{ code: 'bad-value', path: ['metadata', 'annotations', 'croft.dev/fingerprint'], message }]
}
