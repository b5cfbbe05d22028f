import { z } from 'zod'
import type { SecretReference } from '../../model/secret.ts'
import { ipAddress } from './address.ts'
import { dnsName, matching, objectName, sshKey, userName } from './text.ts'
import { exactlyOne } from './validations.ts'

/** A value in a file of the repository that sops has encrypted. */
const sopsReference = z.strictObject({
  file: matching(
    /^(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9_.][A-Za-z0-9_./+@-]*$/,
    'the path of a file in the repository, like secrets/proxmox.yaml',
    1024,
  ),
  key: matching(
    /^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.@-]*$/,
    'the name of a value in it, like token or users.0.password',
    500,
  ),
})

/** A variable of the environment that croft runs in. */
const environmentVariable = matching(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of an environment variable', 200)

/** A file on the computer that croft runs on, by its whole path; nothing in it leads elsewhere. */
function secretFile(like: string) {
  return matching(
    /^(?:~?\/)(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9_./+@-]+$/,
    `the whole path of a file, like ${like}`,
    1024,
  )
}

/** A name that people gave on a server of secrets. */
const serverName = z
  .string()
  .max(200)
  .regex(/^[\p{L}\p{N}_.@][\p{L}\p{N}_.@ ()-]*$/u, {
    error: 'letters, digits, spaces and . _ @ ( ) -; for other names write the id',
  })

/** A secret of Vault or OpenBao: nothing in it may lead to another part of their API. */
const vaultReference = z.strictObject({
  mount: z
    .string()
    .max(200)
    .regex(/^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_./-]*[A-Za-z0-9_-]$|^[A-Za-z0-9_]$/, {
      error: 'where the engine is mounted, like secret',
    })
    .default('secret'),
  path: z
    .string()
    .max(500)
    .regex(/^(?!.*(?:\.\.|\/\/))[A-Za-z0-9_.@][A-Za-z0-9_./@ -]*$/, {
      error: 'the path of a secret, like home/proxmox',
    }),
  key: serverName,
})

/** An item of 1Password, by name or id. */
const onePasswordReference = z.strictObject({
  vault: serverName,
  item: serverName,
  field: serverName,
})

/** Where a secret is found. Its value never stands in a manifest. */
export const secretReference = exactlyOne({
  env: environmentVariable.optional(),
  file: secretFile('/etc/croft/key or ~/.ssh/id_ed25519').optional(),
  sops: sopsReference.optional(),
  vault: vaultReference.optional(),
  onePassword: onePasswordReference.optional(),
  secretRef: z
    .strictObject({
      name: objectName,
      namespace: objectName.optional(),
      key: matching(/^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/, 'the name of a key in a Secret', 253),
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

/** How a host is reached over SSH. */
export const sshFields = z.strictObject({
  user: userName.default('root'),
  address: z.union([ipAddress, dnsName], { error: 'a DNS name or an IP address' }),
  port: z.int().min(1).max(65_535).default(22),
  hostKeys,
  jump: objectName.optional(),
  sudo,
  key: secretReference.optional(),
})
