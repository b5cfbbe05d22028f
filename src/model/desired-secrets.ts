import type { ClusterSpec } from './cluster.ts'
import type { ClientCommand, Command, SnippetCommand } from './command.ts'
import type { Desired } from './resource.ts'
import type { SecretReference } from './secret.ts'
import { readReference } from './secret-reference.ts'
import { type SeedDocument, type Tree, type TreeMap, type VmSpec, valueFrom } from './vm.ts'

/** References to secrets, found by type and never by shape. */
export type NamedSecrets = readonly SecretReference[]

export type ChangeReference = (reference: SecretReference) => SecretReference

/**
 * Returns a resource with each secret that it refers to changed, each place by the type that has it. Text of others (labels,
 * selectors, chart values, variables of a container, user data outside `valueFrom`) stays as it is: `selector: {env:
 * production}` looks like a reference and is none.
 */
export function changeSecrets(desired: Desired, change: ChangeReference): Desired {
  switch (desired.type) {
    case 'vm': {
      const { cloudInit, seed } = desired.vm
      const { password } = cloudInit ?? {}
      const vm: VmSpec = {
        ...desired.vm,
        ...(cloudInit === undefined || password === undefined
          ? {}
          : { cloudInit: { ...cloudInit, password: change(password) } }),
        ...(seed === undefined ? {} : { seed: { ...seed, document: changedDocument(seed.document, change) } }),
      }
      return { type: 'vm', vm }
    }
    case 'container': {
      const { password } = desired.container
      if (password === undefined) return desired
      return { type: 'container', container: { ...desired.container, password: change(password) } }
    }
    case 'setting': {
      const { secrets = [] } = desired.setting
      const fields = mapped(desired.setting.fields, (value, name) =>
        secrets.includes(name) ? change(value as SecretReference) : value,
      )
      return { type: 'setting', setting: { ...desired.setting, fields } }
    }
    case 'item': {
      const { item } = desired.item
      if (item.type !== 'file' || item.spec.secret === undefined) return desired
      const spec = { ...item.spec, secret: change(item.spec.secret) }
      return { type: 'item', item: { ...desired.item, item: { ...item, spec } } }
    }
    case 'object': {
      const { secrets } = desired.object
      if (secrets === undefined) return desired
      return { type: 'object', object: { ...desired.object, secrets: mapped(secrets, change) } }
    }
    case 'file':
      return desired
  }
}

/** Returns a cluster with each secret that it refers to itself changed; its machines have their own. */
export function changeSecretsOfCluster(spec: ClusterSpec, change: ChangeReference): ClusterSpec {
  const { registries, backup } = spec
  const to = backup?.to
  const configs = mapped(registries?.configs ?? {}, (config) =>
    config.auth === undefined ? config : { ...config, auth: change(config.auth) },
  )
  const credentials = to !== undefined && 's3' in to ? to.s3.credentials : undefined
  return {
    ...spec,
    ...(registries?.configs === undefined ? {} : { registries: { ...registries, configs } }),
    ...(credentials === undefined || to === undefined || !('s3' in to)
      ? {}
      : { backup: { ...backup, to: { s3: { ...to.s3, credentials: change(credentials) } } } }),
  } as ClusterSpec
}

/** Returns the secrets that a resource refers to. */
export function secretsOf(desired: Desired): NamedSecrets {
  return collected((note) => changeSecrets(desired, note))
}

/** Returns the secrets that a cluster itself refers to. */
export function secretsOfCluster(spec: ClusterSpec): NamedSecrets {
  return collected((note) => changeSecretsOfCluster(spec, note))
}

/** Returns every secret that a document refers to, each once. */
export function secretsIn(document: SeedDocument): NamedSecrets {
  return collected((note) => changedDocument(document, note))
}

function collected(visit: (note: ChangeReference) => unknown): NamedSecrets {
  const found = new Map<string, SecretReference>()
  visit((reference) => {
    found.set(nameOfReference(reference), reference)
    return reference
  })
  return [...found.values()]
}

function changedDocument(document: SeedDocument, change: ChangeReference): SeedDocument {
  return { ...document, userData: changedTree(document.userData, change) as TreeMap }
}

/** User data is text of others but for what stands behind `valueFrom`. */
export function changedTree(tree: Tree, change: ChangeReference): Tree {
  const reference = referenceAt(tree)
  if (reference !== undefined) {
    const made = change(reference)
    return made === reference ? tree : { valueFrom: made as unknown as Tree }
  }
  if (tree === null || typeof tree !== 'object') return tree
  return mapped(tree as TreeMap, (one) => changedTree(one, change))
}

/** Returns the same list or map with each value changed; the very same where nothing in it changes. */
export function mapped<T extends object>(value: T, change: (one: T[keyof T], name: string) => unknown): T {
  const entries = Object.entries(value).map(([name, one]) => [name, one, change(one as T[keyof T], name)] as const)
  if (entries.every(([, one, made]) => one === made)) return value
  if (Array.isArray(value)) return entries.map(([, , made]) => made) as unknown as T
  const made: Record<string, unknown> = Object.create(Object.getPrototypeOf(value) as object | null)
  for (const [name, , one] of entries) made[name] = one
  return made as T
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
