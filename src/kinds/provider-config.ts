import { z } from 'zod'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import { line, objectName } from './fields/text.ts'
import type { Kind } from './kind.ts'

const schema = z.strictObject({
  credentials: z.strictObject({
    source: z.enum(['None', 'Secret', 'InjectedIdentity', 'Environment', 'Filesystem']),
    env: z.strictObject({ name: line }).optional(),
    fs: z.strictObject({ path: line }).optional(),
    secretRef: z.strictObject({ name: objectName, namespace: objectName.optional(), key: line }).optional(),
  }),
})

const GROUPS = new Set(
  ['crossplane.io', 'proxmoxbpg.crossplane.io', 'proxmoxbpg.m.crossplane.io'].flatMap((group) => [
    `${group}/v1alpha1`,
    `${group}/v1beta1`,
  ]),
)

/**
 * Crossplane's way to say how Proxmox is reached. Its endpoint and certificate are inside a secret of a cluster that
 * croft does not need, so it makes no connection itself: the Proxmox connection of the same name serves those who
 * refer to it, or the one that its annotation `croft.dev/connection` names.
 */
export const providerConfig: Kind<z.output<typeof schema>> = {
  kind: 'ProviderConfig',
  apiVersion: 'proxmoxbpg.crossplane.io/v1beta1',
  accepts: (apiVersion) => GROUPS.has(apiVersion),
  namespaced: (apiVersion) => apiVersion.includes('.m.crossplane.io/'),
  plural: 'providerconfigs',
  shortNames: [],
  summary: "Crossplane's provider configuration; served by a Proxmox connection.",
  schema,
  check: (_spec, manifest) => checkAnnotations(manifest),
  policy: (_spec, manifest) => annotatedPolicy(manifest),
  expand: () => ({ role: 'fact' }),
}
