import path from 'node:path'
import type { ClusterVault } from '../drivers/cluster-port.ts'
import { ageLibrary } from '../lib/age-library.ts'
import { replaceFile } from '../lib/atomic-file.ts'
import { readIfThere } from '../lib/read-if-there.ts'
import { type ClusterSecrets, RecordClosed } from '../model/cluster.ts'
import { NoAgeKey, type VaultIdentity, vaultIdentity } from './identity.ts'
import { formatSecrets, generationOf, readSecrets } from './record.ts'

export interface AgeVaultOptions {
  /** Holds one file per cluster. */
  readonly directory: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Path of our key file, existing or not. Default, if no variable names one. */
  readonly keyFile?: string
  /** The record as it was sealed and put elsewhere: used where the directory was lost or has an older record. */
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
  /** Reading uses only an existing key: it makes none. */
  const identity = () => known ?? remembered(vaultIdentity(env, keyFile, 'only-read'))
  const identityToWriteFor = () => known ?? remembered(vaultIdentity(env, keyFile, 'make'))
  const fileOf = (cluster: string): string => {
    if (!NAME.test(cluster)) throw new Error(`${JSON.stringify(cluster)} is not a name of a cluster`)
    return path.join(directory, `${cluster}.cluster.age`)
  }

  const opened = async (cluster: string, place: string, sealed: Uint8Array): Promise<Copy> => {
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
    return { secrets: checked(place, cluster, text), generation: generationOf(text) }
  }
  const sealedFor = async ({ secrets, generation }: Copy): Promise<Uint8Array> => {
    const { recipients } = await identityToWriteFor()
    const encrypter = new (ageLibrary().Encrypter)()
    for (const recipient of recipients) encrypter.addRecipient(recipient)
    return encrypter.encrypt(formatSecrets(secrets, generation))
  }

  const inVault = async (cluster: string): Promise<Copy | undefined> => {
    const file = fileOf(cluster)
    const sealed = await readIfThere(file)
    return sealed === undefined ? undefined : opened(cluster, file, sealed)
  }
  const inEscrow = async (cluster: string): Promise<Copy | undefined> => {
    const text = await escrow(cluster)
    return text === undefined ? undefined : opened(cluster, escrowFile(cluster), unarmored(cluster, text))
  }

  /** The newest copy, wherever it is. An escrow that cannot be opened does not take the vault's own record away. */
  async function newest(cluster: string): Promise<Copy | undefined> {
    const own = await inVault(cluster)
    if (own === undefined) {
      const kept = await inEscrow(cluster)
      return kept === undefined ? undefined : afterwards(kept)
    }
    const kept = await inEscrow(cluster).catch(() => undefined)
    return kept !== undefined && kept.generation > own.generation ? afterwards(kept) : own
  }

  async function read(cluster: string): Promise<ClusterSecrets | undefined> {
    return (await newest(cluster))?.secrets
  }

  async function write(secrets: ClusterSecrets): Promise<void> {
    const { cluster } = secrets
    const copies = [await inVault(cluster).catch(() => undefined), await inEscrow(cluster).catch(() => undefined)]
    const generation = 1 + Math.max(0, ...copies.map((copy) => copy?.generation ?? 0))
    await replaceFile(fileOf(cluster), await sealedFor({ secrets, generation }))
  }

  return {
    read,
    write,
    sealed: {
      async sealAnew(cluster) {
        const copy = await newest(cluster)
        if (copy === undefined) return undefined
        const kept = await inEscrow(cluster)
        const texts = [kept, copy].map((one) => one && formatSecrets(one.secrets, one.generation))
        return texts[0] === texts[1] ? undefined : ageLibrary().armor.encode(await sealedFor(copy))
      },
      async key() {
        const { from, recipients } = await identityToWriteFor()
        return { from, recipient: recipients[0] ?? '' }
      },
      async seal(cluster) {
        const copy = await newest(cluster)
        return copy === undefined ? undefined : ageLibrary().armor.encode(await sealedFor(copy))
      },
    },
  }
}

/** A record as one place has it. */
interface Copy {
  readonly secrets: ClusterSecrets
  readonly generation: number
}

/** Returns Git's copy as of now: the cluster may have been formed since, so no second one may start. */
function afterwards({ secrets, generation }: Copy): Copy {
  return { generation, secrets: secrets.formed ? secrets : { ...secrets, formed: true, unsure: true } }
}

/** Returns the estate's path of a cluster's sealed record. */
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
