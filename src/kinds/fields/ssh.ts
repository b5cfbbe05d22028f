import { z } from 'zod'
import type { SecretReference } from '../../model/secret.ts'
import { REFERENCE_FORMS, type ReferenceText } from '../../model/secret-reference.ts'
import { ipAddress } from './address.ts'
import { dnsName, matching, objectName, sshKey, userName } from './text.ts'
import { exactlyOne } from './validations.ts'

/** A text of a reference, as a schema. */
function textOf({ pattern, maximum, looksLike }: ReferenceText): z.ZodString {
  return matching(pattern, looksLike, maximum)
}

const { env, file, sops, vault, onePassword, secretRef } = REFERENCE_FORMS

/** Reference to a secret. Its value is never in a manifest. */
export const secretReference = exactlyOne({
  env: textOf(env).optional(),
  file: textOf(file).optional(),
  sops: z.strictObject({ file: textOf(sops.file), key: textOf(sops.key) }).optional(),
  vault: z
    .strictObject({
      mount: textOf(vault.mount).default(vault.mount.default),
      path: textOf(vault.path),
      key: textOf(vault.key),
    })
    .optional(),
  onePassword: z
    .strictObject({
      vault: textOf(onePassword.vault),
      item: textOf(onePassword.item),
      field: textOf(onePassword.field),
    })
    .optional(),
  secretRef: z
    .strictObject({
      name: textOf(secretRef.name),
      namespace: textOf(secretRef.namespace).optional(),
      key: textOf(secretRef.key),
    })
    .optional(),
})

export function secretReferenceOf(written: z.output<typeof secretReference>): SecretReference {
  if (written.env !== undefined) return { env: written.env }
  if (written.file !== undefined) return { file: written.file }
  if (written.sops !== undefined) return { sops: written.sops }
  if (written.vault !== undefined) return { vault: written.vault }
  if (written.onePassword !== undefined) return { onePassword: written.onePassword }
  const { name = '', key = '', namespace } = written.secretRef ?? {}
  return { secretRef: { name, key, ...(namespace === undefined ? {} : { namespace }) } }
}

export const hostKeys = z.array(sshKey).min(1).max(10)
export const sudo = z
  .union([z.enum(['none', 'passwordless']), z.strictObject({ password: secretReference })], {
    error: 'none, passwordless, or {password: {env: …}}',
  })
  .optional()

/** SSH access to a host. */
export const sshFields = z.strictObject({
  user: userName.default('root'),
  address: z.union([ipAddress, dnsName], { error: 'a DNS name or an IP address' }),
  port: z.int().min(1).max(65_535).default(22),
  hostKeys,
  jump: objectName.optional(),
  sudo,
  key: secretReference.optional(),
})
