import type { Document, YAMLMap } from 'yaml'
import { cleanText } from '../lib/clean-text.ts'
import { isTangled } from '../lib/tangled-yaml.ts'
import { yamlLibrary } from '../lib/yaml-library.ts'
import { Secret } from '../model/secret.ts'
import { at, type Foreign, isRecord, recordsOf } from './objects.ts'

/** One context of a kubeconfig, with everything in the file itself. */
export interface KubeconfigEntry {
  /** The name of the context, the cluster and the user. */
  readonly name: string
  readonly endpoint: string
  readonly caPem: string
  readonly certificatePem: string
  readonly key: Secret
}

export interface MergeOptions {
  /** Makes it the context that kubectl uses. */
  readonly switchContext: boolean
}

export type MergedKubeconfig =
  | { readonly text: string; readonly replaced: boolean; readonly current: string | undefined }
  | { readonly problem: string }

/** A kubeconfig with this one context. */
export function renderKubeconfig(entry: KubeconfigEntry): string {
  const merged = mergeKubeconfig('', entry, { switchContext: true })
  return 'text' in merged ? merged.text : ''
}

/**
 * Adds a context to a kubeconfig, or replaces the one of the same name. All else stays, comments and unknown fields
 * included: the file is a person's. Leaves an unreadable one alone.
 */
export function mergeKubeconfig(
  existing: string,
  entry: KubeconfigEntry,
  { switchContext }: MergeOptions,
): MergedKubeconfig {
  const { isMap, isSeq, parseDocument } = yamlLibrary()
  const document = parseDocument(existing.trim() === '' ? EMPTY : existing, { keepSourceTokens: true })
  const [error] = document.errors
  if (error !== undefined) return { problem: `it is not YAML: ${cleanText(error.message.split('\n')[0] ?? '', 200)}` }
  if (!isMap(document.contents)) return { problem: 'it is not a kubeconfig' }
  for (const key of ['clusters', 'contexts', 'users']) {
    const list: unknown = document.get(key)
    if (list !== undefined && list !== null && !isSeq(list)) return { problem: `${key} in it is not a list` }
  }
  const { name } = entry
  const foreign = entryOfAnother(document, entry)
  if (foreign !== undefined) return { problem: foreign }
  const replaced = [
    put(document, 'clusters', name, 'cluster', {
      'certificate-authority-data': base64(entry.caPem),
      server: entry.endpoint,
    }),
    put(document, 'users', name, 'user', {
      'client-certificate-data': base64(entry.certificatePem),
      'client-key-data': base64(entry.key.reveal()),
    }),
    put(document, 'contexts', name, 'context', { cluster: name, user: name }),
  ].some(Boolean)
  const before: unknown = document.get('current-context')
  const isSet = typeof before === 'string' && before !== ''
  if (switchContext || !isSet) document.set('current-context', name)
  const current: unknown = document.get('current-context')
  return {
    text: document.toString({ lineWidth: 0 }),
    replaced,
    current: typeof current === 'string' ? current : undefined,
  }
}

/** Returns another cluster's entry with our name, which is no identity: only our CA or address is. */
function entryOfAnother(document: Document, { name, caPem, endpoint }: KubeconfigEntry): string | undefined {
  const file: unknown = document.toJS({ maxAliasCount: 0 })
  if (!isRecord(file)) return undefined
  const cluster = named(file, 'clusters', name, 'cluster')
  if (cluster !== undefined) {
    if (cluster['certificate-authority-data'] === base64(caPem) || cluster.server === endpoint) return undefined
    return `its cluster ${name} is another one (${typeof cluster.server === 'string' ? cleanText(cluster.server, 100) : 'without a server'}); rename that entry to keep it`
  }
  const other = ['users', 'contexts'].find((list) => recordsOf(file[list]).some((one) => one.name === name))
  if (other === undefined) return undefined
  return `it has an entry ${name} under ${other} that belongs to no cluster of that name; rename that entry to keep it`
}

const EMPTY = 'apiVersion: v1\nkind: Config\nclusters: []\ncontexts: []\nusers: []\npreferences: {}\n'

export interface KubeconfigAccess {
  readonly endpoint: string
  readonly caPem: string
  readonly certificatePem: string
  readonly key: Secret
}

/**
 * Reads the credentials of a context. A kubeconfig can name programs to run and files to read with its reader's rights:
 * such fields are refused by name.
 */
export function readKubeconfig(text: string, context?: string): KubeconfigAccess | { readonly problem: string } {
  const found = contextIn(text, context)
  if ('problem' in found) return found
  const { cluster, user } = found
  const refused = refusalOf(cluster, user)
  if (refused !== undefined) return { problem: refused }
  const [caPem, certificatePem, key] = [
    decoded(cluster['certificate-authority-data']),
    decoded(user['client-certificate-data']),
    decoded(user['client-key-data']),
  ]
  const endpoint = cluster.server
  if (typeof endpoint !== 'string' || !endpoint.startsWith('https://'))
    return { problem: 'its server is not an https address' }
  if (caPem === undefined) return { problem: 'it has no certificate-authority-data: without it nothing can be trusted' }
  if (certificatePem === undefined || key === undefined) return { problem: 'it has no client certificate and key' }
  return { endpoint, caPem, certificatePem, key: new Secret(key) }
}

/** The cluster and the user of a context, as they are written. */
export function contextIn(
  text: string,
  context: string | undefined,
): { readonly cluster: Foreign; readonly user: Foreign } | { readonly problem: string } {
  const file = plainTree(text)
  if (file === undefined)
    return { problem: 'it is not YAML, or YAML with aliases or keys of several values, which croft does not follow' }
  if (!isRecord(file)) return { problem: 'it is not a kubeconfig' }
  const wanted = context ?? at(file, 'current-context')
  const found = named(file, 'contexts', wanted, 'context')
  if (found === undefined)
    return { problem: `it has no context ${typeof wanted === 'string' ? cleanText(wanted, 100) : ''}` }
  const [cluster, user] = [named(file, 'clusters', found.cluster, 'cluster'), named(file, 'users', found.user, 'user')]
  if (cluster === undefined || user === undefined)
    return { problem: 'its context names a cluster or user that is not in it' }
  return { cluster, user }
}

/** The library throws where there is an alias and none is allowed, and where the levels of a text fill the stack. */
function plainTree(text: string): unknown {
  try {
    const document = yamlLibrary().parseDocument(text)
    if (document.errors.length > 0 || isTangled(document)) return undefined
    return document.toJS({ maxAliasCount: 0 })
  } catch {
    return undefined
  }
}

/** Returns the field that would run a program, read an arbitrary file, or disable verification. */
function refusalOf(cluster: Foreign, user: Foreign): string | undefined {
  for (const field of [
    'exec',
    'auth-provider',
    'tokenFile',
    'client-certificate',
    'client-key',
    'username',
    'password',
  ]) {
    if (field in user)
      return `its user has ${field}, which croft does not follow; put the certificate itself into the file`
  }
  for (const field of ['insecure-skip-tls-verify', 'certificate-authority', 'proxy-url']) {
    if (field in cluster && cluster[field] !== false) return `its cluster has ${field}, which croft does not follow`
  }
  return undefined
}

function named(file: Foreign, list: string, name: unknown, key: string): Foreign | undefined {
  const entry = recordsOf(file[list]).find((one) => one.name === name)
  const value = entry?.[key]
  return isRecord(value) ? value : undefined
}

/** Returns true if the name existed. Sets only our fields: a namespace that a person chose stays. */
function put(
  document: Document,
  list: string,
  name: string,
  key: string,
  fields: Readonly<Record<string, string>>,
): boolean {
  const { isMap, isSeq } = yamlLibrary()
  const sequence: unknown = document.get(list)
  if (!isSeq(sequence)) {
    document.set(list, document.createNode([{ name, [key]: fields }]))
    return false
  }
  const entry = sequence.items.find((item): item is YAMLMap => isMap(item) && item.get('name') === name)
  if (entry === undefined) {
    sequence.flow = false
    sequence.add(document.createNode({ name, [key]: fields }))
    return false
  }
  const inner: unknown = entry.get(key)
  if (!isMap(inner)) entry.set(key, document.createNode(fields))
  else {
    // Remove fields that would override ours, or run a program.
    for (const old of [
      'exec',
      'auth-provider',
      'tokenFile',
      'token',
      'username',
      'password',
      'client-certificate',
      'client-key',
      'certificate-authority',
      'insecure-skip-tls-verify',
    ])
      inner.delete(old)
    for (const [field, value] of Object.entries(fields)) inner.set(field, value)
  }
  return true
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}

/** Text that a kubeconfig carries in base64. */
export function decoded(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(value)) return undefined
  return Buffer.from(value, 'base64').toString('utf8')
}
