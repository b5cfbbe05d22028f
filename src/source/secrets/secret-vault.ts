import { Secret, type SecretReference, type ServerReference } from '../../model/secret.ts'
import type { Revision } from '../git/revision.ts'
import { externalSecret } from './external-secrets.ts'
import { SopsFailed, type SopsValue } from './sops.ts'
import { type AgeIdentities, openSopsFile, valueAt } from './sops-file.ts'

/** References that are answered from encrypted files of the repository. */
export type VaultReference = Extract<SecretReference, { readonly sops: unknown } | { readonly secretRef: unknown }>

/** The secrets that a revision carries in encrypted form. */
export interface SecretVault {
  /** Undefined: no encrypted Secret of that name is in the repository. Throws SopsFailed where one cannot be opened. */
  find(reference: VaultReference): Promise<Secret | undefined>
  /** Locates a secret in a file or, through an ExternalSecret of the repository, on a server. */
  locate(reference: VaultReference): Promise<Secret | ServerReference | undefined>
}

/**
 * Decrypts files of one revision on first use, and caches their values while the revision is current. Refuses a Secret
 * in plain text: everyone who reads the repository knows it.
 */
export function openVault(
  revision: Pick<Revision, 'ignored'>,
  read: (file: string) => Promise<string | undefined>,
  /** The keys that may open this file. */
  identities: (file: string) => Promise<AgeIdentities>,
): SecretVault {
  const opened = new Map<string, Promise<readonly SopsValue[]>>()
  const open = (file: string): Promise<readonly SopsValue[]> => {
    const known = opened.get(file)
    if (known !== undefined) return known
    const opening = (async () => {
      const text = await read(file)
      if (text === undefined) throw new SopsFailed(`there is no file ${file} in the repository`)
      return openSopsFile(file, text, await identities(file))
    })()
    opened.set(file, opening)
    return opening
  }
  /** Files bound to a source are open to that source alone, and it sees no others. */
  const secretFiles = (source: string | undefined) => [
    ...new Set(
      revision.ignored
        .filter(({ kind, apiVersion, of }) => kind === 'Secret' && apiVersion === 'v1' && of === source)
        .map(({ file }) => file),
    ),
  ]

  return {
    async find(reference) {
      if ('sops' in reference) {
        const { file, key } = reference.sops
        for (const value of await open(file)) {
          const found = valueAt(value, key)
          if (found !== undefined) return new Secret(found)
        }
        throw new SopsFailed(`${file}: there is no ${key} in it`)
      }
      const { name, namespace, key, source } = reference.secretRef
      for (const file of secretFiles(source)) {
        if (!(await mentions(file, name))) continue
        for (const value of await open(file)) {
          const found = secretIn(value, name, namespace, key)
          if (found !== undefined) return new Secret(found)
        }
      }
      return undefined
    },
    async locate(reference) {
      const found = await this.find(reference)
      if (found !== undefined || !('secretRef' in reference)) return found
      const { name, namespace, key, source } = reference.secretRef
      // A granted source must not reach a server's secret through an ExternalSecret, which croft does not judge.
      return source === undefined ? fromExternalSecrets(name, namespace, key) : undefined
    },
  }

  async function fromExternalSecrets(name: string, namespace: string | undefined, key: string) {
    const files = revision.ignored
      .filter(({ apiVersion, of }) => apiVersion.startsWith('external-secrets.io/') && of === undefined)
      .map(({ file }) => file)
    const texts = await Promise.all([...new Set(files)].map(async (file) => (await read(file)) ?? ''))
    return externalSecret(texts, { name, key, ...(namespace === undefined ? {} : { namespace }) })
  }

  /** Names stand in plain text also in an encrypted Secret; a file about others need not be opened. */
  async function mentions(file: string, name: string): Promise<boolean> {
    return (await read(file))?.includes(name) ?? false
  }
}

/** A key of a Kubernetes Secret: `stringData` as it stands, `data` out of its base64. */
function secretIn(value: SopsValue, name: string, namespace: string | undefined, key: string): string | undefined {
  const text = (path: string) => valueAt(value, path)
  if (text('kind') !== 'Secret' || text('metadata.name') !== name) return undefined
  const lives = text('metadata.namespace')
  if (namespace !== undefined && lives !== undefined && lives !== namespace) return undefined
  const fields = value as { readonly stringData?: SopsValue; readonly data?: SopsValue }
  const plain = fields.stringData === undefined ? undefined : valueAt(fields.stringData, key)
  if (plain !== undefined) return plain
  const coded = fields.data === undefined ? undefined : valueAt(fields.data, key)
  return coded === undefined ? undefined : Buffer.from(coded, 'base64').toString('utf8')
}
