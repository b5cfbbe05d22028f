import { jsonIn } from '../lib/foreign-json.ts'
import type { ClusterSecrets } from '../model/cluster.ts'
import { Secret } from '../model/secret.ts'

/** Prints a cluster's identity. Store it only in an encrypted file or a Secret. */
export function formatSecrets(secrets: ClusterSecrets, generation?: number): string {
  return JSON.stringify({
    format: 1,
    ...(generation === undefined ? {} : { generation }),
    cluster: secrets.cluster,
    caHash: secrets.caHash,
    firstServer: secrets.firstServer,
    formed: secrets.formed,
    recordedMs: secrets.recordedMs,
    files: Object.fromEntries([...secrets.files].map(([path, content]) => [path, content.reveal()])),
    password: secrets.password.reveal(),
    ...(secrets.pendingPassword === undefined ? {} : { pendingPassword: secrets.pendingPassword.reveal() }),
    ...(secrets.agentPassword === undefined ? {} : { agentPassword: secrets.agentPassword.reveal() }),
    formerPasswords: secrets.formerPasswords.map((password) => password.reveal()),
  })
}

/** Parses a record. Throws if a part is missing, without quoting it: half a record is worse than none. */
export function readSecrets(text: string): ClusterSecrets {
  const value: unknown = jsonIn(text)
  if (typeof value !== 'object' || value === null) throw new Error('it is not a record of a cluster')
  const record = value as Readonly<Record<string, unknown>>
  if (record.format !== 1) throw new Error('it was written by another version of croft')
  const string = (key: string): string => {
    const found = record[key]
    if (typeof found !== 'string' || found === '') throw new Error(`it lacks ${key}`)
    return found
  }
  const { files, formerPasswords, pendingPassword, agentPassword, recordedMs } = record
  if (typeof files !== 'object' || files === null) throw new Error('it lacks files')
  if (typeof recordedMs !== 'number') throw new Error('it lacks recordedMs')
  return {
    cluster: string('cluster'),
    caHash: string('caHash'),
    firstServer: string('firstServer'),
    formed: record.formed === true,
    recordedMs,
    files: new Map(
      Object.entries(files).flatMap(([path, content]): [string, Secret][] =>
        typeof content === 'string' ? [[path, new Secret(content)]] : [],
      ),
    ),
    password: new Secret(string('password')),
    ...(typeof pendingPassword === 'string' ? { pendingPassword: new Secret(pendingPassword) } : {}),
    ...(typeof agentPassword === 'string' ? { agentPassword: new Secret(agentPassword) } : {}),
    formerPasswords: Array.isArray(formerPasswords)
      ? formerPasswords.flatMap((one) => (typeof one === 'string' ? [new Secret(one)] : []))
      : [],
  }
}

/** Returns the record's write count: of several copies, the highest is the newest. 0: absent. */
export function generationOf(text: string): number {
  const { generation } = jsonIn(text) as { readonly generation?: unknown }
  return typeof generation === 'number' && Number.isSafeInteger(generation) ? generation : 0
}
