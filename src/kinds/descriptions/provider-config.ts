import type { Descriptions } from './describe.ts'

export const providerConfig: Descriptions = {
  credentials: 'Where the address and the API token of Proxmox are, as the JSON of the Crossplane provider.',
  'credentials.source':
    'Secret with secretRef, Environment with env, Filesystem with fs; None and InjectedIdentity make no connection.',
  'credentials.env': 'Environment variable of croft that holds the credentials.',
  'credentials.env.name': 'Name of the variable.',
  'credentials.fs': 'File that holds the credentials.',
  'credentials.fs.path': 'Path of the file on the computer that runs croft.',
  'credentials.secretRef': 'Secret in this repository, encrypted by sops, that holds the credentials.',
  'credentials.secretRef.name': 'Name of the Secret.',
  'credentials.secretRef.namespace': 'Namespace of the Secret.',
  'credentials.secretRef.key': 'Key in the data of the Secret.',
}
