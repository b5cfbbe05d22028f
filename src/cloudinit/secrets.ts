import { nameOfReference, referenceAt, secretsIn } from '../model/desired-secrets.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { SeedDocument, Tree, TreeMap } from '../model/vm.ts'
import { isReadable } from './shape.ts'

/** The field with a file's content, whose bytes stay as they are, with the last line end. */
const CONTENT = 'content'

/**
 * Returns the document with values in place of references, for an image that is made at once; nothing keeps it. Rejects
 * with the place of a secret that cannot be read, or that cloud-init could not read.
 */
export async function withSecrets(
  document: SeedDocument,
  resolveSecret: (reference: SecretReference) => Promise<Secret>,
): Promise<SeedDocument> {
  const secrets = new Map<string, Secret>()
  for (const reference of secretsIn(document)) secrets.set(nameOfReference(reference), await resolveSecret(reference))
  const replace = (tree: Tree, name?: string): Tree => {
    const reference = referenceAt(tree)
    if (reference !== undefined) return filled(reference, name)
    if (Array.isArray(tree)) return (tree as readonly Tree[]).map((one) => replace(one))
    if (tree === null || typeof tree !== 'object') return tree
    return replaceIn(tree as TreeMap)
  }
  const replaceIn = (map: TreeMap): TreeMap =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, replace(value, key)]))
  const filled = (reference: SecretReference, name?: string): string => {
    const secret = secrets.get(nameOfReference(reference))
    const value = name === CONTENT ? secret?.reveal() : secret?.word()
    if (value === undefined) throw new Error('a secret of the document was not resolved')
    if (!isReadable(value))
      throw new Error(
        `the secret for ${name ?? 'user data'} holds a control character that cloud-init cannot read; write it in base64 and set encoding: b64`,
      )
    return value
  }
  return { ...document, userData: replaceIn(document.userData) }
}
