import { type Descriptions, under } from '../describe.ts'

/** A field that refers to a secret, and the ways to refer to one. */
export function secretAt(path: string, about: string): Descriptions {
  return { [path]: about, ...under(path, SECRET) }
}

/** The ways to refer to a secret. */
export const SECRET: Descriptions = {
  env: 'Name of the environment variable of croft that holds the secret.',
  file: 'Path of a file on the computer that runs croft; its content is the secret.',
  sops: 'A value in a file of this repository that sops has encrypted.',
  'sops.file': 'Path of the encrypted file in this repository.',
  'sops.key': 'Key of the value in the encrypted file.',
  vault:
    'A key of a secret in Vault or OpenBao (KV version 2); VAULT_ADDR and its token are in the environment of croft.',
  'vault.mount': 'Where the KV engine is mounted.',
  'vault.path': 'Path of the secret below the mount.',
  'vault.key': 'Key in the secret.',
  onePassword: 'A field of an item in 1Password; OP_CONNECT_HOST and OP_CONNECT_TOKEN are in the environment of croft.',
  'onePassword.vault': 'Name or id of the vault.',
  'onePassword.item': 'Title or id of the item.',
  'onePassword.field': 'Label or id of the field.',
  secretRef:
    'A key of a Kubernetes Secret in this repository that sops has encrypted, or that an ExternalSecret in it describes.',
  'secretRef.name': 'Name of the Secret.',
  'secretRef.namespace': 'Namespace of the Secret.',
  'secretRef.key': 'Key in the data of the Secret.',
}
