import path from 'node:path'
import type { ClusterVault } from '../drivers/cluster-port.ts'
import { ageLibrary } from '../lib/age-library.ts'
import { replaceFile } from '../lib/atomic-file.ts'
import { readIfThere } from '../lib/read-if-there.ts'
import { type ClusterSecrets, RecordClosed } from '../model/cluster.ts'
import { NoAgeKey, type VaultIdentity, vaultIdentity } from './identity.ts'
import { formatSecrets, readSecrets } from './record.ts'

export interface AgeVaultOptions {
  /** One file per cluster in it. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where our own key is, or will be; used where no variable names one. */
  readonly keyFile?: string
  /** The record as it was sealed and put elsewhere: what is used where the directory was lost. */
  readonly escrow?: (cluster: string) => Promise<string | undefined>
}

const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/

/** Keeps what makes each cluster itself in files that only the holder of an age key can read. */
export function openAgeVault({
  directory,
  env,
  keyFile = path.join(directory, 'age-key.txt'),
  escrow = async () => undefined,
}: AgeVaultOptions): Required<ClusterVault> {
  let known: Promise<VaultIdentity> | undefined
  const remembered = (found: Promise<VaultIdentity>) => {
    known = found
    found.catch(() => {
      known = undefined
    })
    return found
  }
  /** Only what is there: whoever reads makes no key. */
  const identity = () => known ?? remembered(vaultIdentity(env, keyFile, 'only-read'))
  const identityToWriteFor = () => known ?? remembered(vaultIdentity(env, keyFile, 'make'))
  const fileOf = (cluster: string): string => {
    if (!NAME.test(cluster)) throw new Error(`${JSON.stringify(cluster)} is not a name of a cluster`)
    return path.join(directory, `${cluster}.cluster.age`)
  }

  const opened = async (cluster: string, place: string, sealed: Uint8Array): Promise<ClusterSecrets> => {
    const kept = place === escrowFile(cluster) ? 'escrow' : 'vault'
    const { identities, from } = await identity().catch((error: unknown) => {
      throw error instanceof NoAgeKey ? new RecordClosed(place, { why: error.message, key: error.next }, kept) : error
    })
    const decrypter = new (ageLibrary().Decrypter)()
    for (const one of identities) decrypter.addIdentity(one.reveal())
    let text: string
    try {
      text = await decrypter.decrypt(sealed, 'text')
    } catch {
      throw new RecordClosed(
        place,
        {
          why: `the key of ${from} does not open it: it is damaged, or sealed for another key`,
          key: 'set SOPS_AGE_KEY_FILE to the file with the key that it was sealed for',
        },
        kept,
      )
    }
    return checked(place, cluster, text)
  }
  const sealedFor = async (secrets: ClusterSecrets): Promise<Uint8Array> => {
    const { recipients } = await identityToWriteFor()
    const encrypter = new (ageLibrary().Encrypter)()
    for (const recipient of recipients) encrypter.addRecipient(recipient)
    return encrypter.encrypt(formatSecrets(secrets))
  }

  async function read(cluster: string): Promise<ClusterSecrets | undefined> {
    const file = fileOf(cluster)
    const sealed = await readIfThere(file)
    if (sealed !== undefined) return opened(cluster, file, sealed)
    const elsewhere = await escrow(cluster)
    if (elsewhere === undefined) return undefined
    return opened(cluster, escrowFile(cluster), unarmored(cluster, elsewhere))
  }

  async function write(secrets: ClusterSecrets): Promise<void> {
    await replaceFile(fileOf(secrets.cluster), await sealedFor(secrets))
  }

  return {
    read,
    write,
    sealed: {
      async sealAnew(cluster) {
        const secrets = await read(cluster)
        if (secrets === undefined) return undefined
        const before = await escrow(cluster)
        if (before !== undefined) {
          const kept = await opened(cluster, escrowFile(cluster), unarmored(cluster, before))
          if (formatSecrets(kept) === formatSecrets(secrets)) return undefined
        }
        return ageLibrary().armor.encode(await sealedFor(secrets))
      },
      async key() {
        const { from, recipients } = await identityToWriteFor()
        return { from, recipient: recipients[0] ?? '' }
      },
      async seal(cluster) {
        const secrets = await read(cluster)
        return secrets === undefined ? undefined : ageLibrary().armor.encode(await sealedFor(secrets))
      },
    },
  }
}

/** Where in the estate the sealed record of a cluster is looked for. */
export function escrowFile(cluster: string): string {
  return `escrow/${cluster}.cluster.age`
}

function unarmored(cluster: string, text: string): Uint8Array {
  try {
    return ageLibrary().armor.decode(text)
  } catch {
    throw new Error(`${escrowFile(cluster)} is not a file of age; croft cluster escrow ${cluster} prints one`)
  }
}

function checked(file: string, cluster: string, text: string): ClusterSecrets {
  let secrets: ClusterSecrets
  try {
    secrets = readSecrets(text)
  } catch (error) {
    throw new Error(`${file} cannot be used: ${error instanceof Error ? error.message : 'it cannot be read'}`)
  }
  if (secrets.cluster !== cluster) throw new Error(`${file} is the record of ${secrets.cluster}, not of ${cluster}`)
  return secrets
}
