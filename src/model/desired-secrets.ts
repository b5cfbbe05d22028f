import type { ClusterSpec } from './cluster.ts'
import type { ClientCommand, Command, SnippetCommand } from './command.ts'
import type { Desired } from './resource.ts'
import { isReference, type SecretReference } from './secret.ts'
import { readReference } from './secret-reference.ts'
import { type SeedDocument, type Tree, type TreeMap, valueFrom } from './vm.ts'

/** References to secrets, found by type and never by shape. */
export type NamedSecrets = readonly SecretReference[]

/**
 * Returns the secrets that a resource refers to, each place by its type. Other texts (labels, selectors, chart values,
 * variables of a container, user data outside `valueFrom`) are never searched: `selector: {env: production}` looks like
 * a reference but is none.
 */
export function secretsOf(desired: Desired): NamedSecrets {
  switch (desired.type) {
    case 'vm': {
      const { cloudInit, seed } = desired.vm
      return [...one(cloudInit?.password), ...(seed === undefined ? [] : secretsIn(seed.document))]
    }
    case 'container':
      return one(desired.container.password)
    case 'setting':
      return Object.values(desired.setting.fields).filter(isReferenceMap)
    case 'item': {
      const { item } = desired.item
      return item.type === 'file' ? one(item.spec.secret) : []
    }
    case 'object':
      return Object.values(desired.object.secrets ?? {})
    case 'file':
      return []
  }
}

/** Returns the secrets that a cluster itself refers to; its machines have their own. */
export function secretsOfCluster({ registries, backup }: ClusterSpec): NamedSecrets {
  const logins = Object.values(registries?.configs ?? {}).flatMap(({ auth }) => one(auth))
  const to = backup?.to
  return [...logins, ...(to !== undefined && 's3' in to ? one(to.s3.credentials) : [])]
}

/** Returns every secret that a document refers to, each once. */
export function secretsIn(document: SeedDocument): NamedSecrets {
  const found = new Map<string, SecretReference>()
  const search = (tree: Tree) => {
    const reference = referenceAt(tree)
    if (reference !== undefined) found.set(nameOfReference(reference), reference)
    else if (Array.isArray(tree)) for (const item of tree as readonly Tree[]) search(item)
    else if (tree !== null && typeof tree === 'object') for (const item of Object.values(tree as TreeMap)) search(item)
  }
  search(document.userData)
  return [...found.values()]
}

/** Returns the reference at a document's place for a secret. */
export function referenceAt(tree: Tree): SecretReference | undefined {
  const read = readReference(valueFrom(tree))
  return 'reference' in read ? read.reference : undefined
}

/** Returns the secrets that the commands of a step write. */
export function secretsOfCommands(commands: readonly (Command | SnippetCommand | ClientCommand)[]): NamedSecrets {
  return commands.flatMap((command) => {
    if (command.do === 'arm') return secretsOfCommands(command.revert)
    return command.do === 'put' ? one(command.secret) : []
  })
}

/** Returns the name of a reference: two references with the same text are the same secret. */
export function nameOfReference(reference: SecretReference): string {
  return JSON.stringify(reference)
}

function one(reference: SecretReference | undefined): NamedSecrets {
  return reference === undefined ? [] : [reference]
}

function isReferenceMap(value: unknown): value is SecretReference {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const [only, ...others] = Object.entries(value)
  return only !== undefined && others.length === 0 && isReference(...only)
}
