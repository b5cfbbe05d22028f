import { z } from 'zod'
import { line, objectName } from '../fields/text.ts'

const MANAGEMENT = ['*', 'Observe', 'Create', 'Update', 'Delete', 'LateInitialize'] as const

const reference = z.strictObject({
  name: objectName,
  kind: line.optional(),
  policy: z
    .strictObject({
      resolution: z.enum(['Required', 'Optional']).optional(),
      resolve: z.enum(['Always', 'IfNotPresent']).optional(),
    })
    .optional(),
})

/** Fields that all managed resources of Crossplane share. */
export const envelope = {
  providerConfigRef: reference.optional(),
  /** The name it had before Crossplane 1.0. */
  providerRef: reference.optional(),
  deletionPolicy: z.enum(['Delete', 'Orphan']).optional(),
  managementPolicies: z.array(z.enum(MANAGEMENT)).max(10).optional(),
  writeConnectionSecretToRef: z.strictObject({ name: objectName, namespace: objectName.optional() }).optional(),
  publishConnectionDetailsTo: z
    .strictObject({
      name: objectName,
      configRef: reference.optional(),
      metadata: z
        .strictObject({
          annotations: z.record(z.string(), z.string()).optional(),
          labels: z.record(z.string(), z.string()).optional(),
          type: line.optional(),
        })
        .optional(),
    })
    .optional(),
}

export type Envelope = z.output<z.ZodObject<typeof envelope>>

/**
 * `virtualenvironmentvm.crossplane.io/v1alpha1`, `virtualenvironmentvm.proxmoxbpg.crossplane.io/…` and the namespaced
 * form with `.m.` before crossplane.io.
 */
export function crossplaneGroup(subgroup: string): (apiVersion: string) => boolean {
  const groups = new Set(
    ['', '.proxmoxbpg'].flatMap((provider) => [
      `${subgroup}${provider}.crossplane.io/v1alpha1`,
      `${subgroup}${provider}.m.crossplane.io/v1alpha1`,
    ]),
  )
  return (apiVersion) => groups.has(apiVersion)
}

export function isNamespaced(apiVersion: string): boolean {
  return apiVersion.includes('.m.crossplane.io/')
}
