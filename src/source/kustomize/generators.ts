import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { isFields } from '../manifest.ts'
import { PatchFailed } from './json-patch.ts'
import { type Carrier, identitiesOf, type KustomizeItem, metadataOf, type ObjectFields, wordOf } from './objects.ts'
import type { GeneratorEntry, Kustomization } from './schema.ts'

type Data = Readonly<Record<string, string>>

/** Adds, merges or replaces the ConfigMaps and Secrets that a kustomization generates. */
export function generate(
  items: readonly KustomizeItem[],
  kustomization: Kustomization,
  carrier: Carrier,
  bytesOf: (path: string) => Uint8Array,
): readonly KustomizeItem[] {
  const make = (kind: 'ConfigMap' | 'Secret') => (all: readonly KustomizeItem[], entry: GeneratorEntry) =>
    absorb(all, generated(kind, entry, kustomization.generatorOptions ?? {}, carrier, bytesOf), entry.behavior)
  const secrets = (kustomization.secretGenerator ?? []).reduce(make('Secret'), items)
  return (kustomization.configMapGenerator ?? []).reduce(make('ConfigMap'), secrets)
}

/** The files that generators read, as they are written: beside the kustomization, by path. */
export function generatorFiles({ configMapGenerator, secretGenerator }: Kustomization): readonly string[] {
  return [...(configMapGenerator ?? []), ...(secretGenerator ?? [])].flatMap((entry) => [
    ...envFiles(entry),
    // A source that cannot be read is refused when it is built.
    ...(entry.files ?? []).map((source) => source.slice(source.indexOf('=') + 1)),
  ])
}

function generated(
  kind: 'ConfigMap' | 'Secret',
  entry: GeneratorEntry,
  common: NonNullable<Kustomization['generatorOptions']>,
  carrier: Carrier,
  bytesOf: (path: string) => Uint8Array,
): KustomizeItem {
  const { name, namespace, options = {} } = entry
  const labels = { ...common.labels, ...options?.labels }
  const annotations = { ...common.annotations, ...options?.annotations }
  const immutable = options?.immutable ?? common.immutable ?? false
  const metadata = {
    name,
    ...(namespace === undefined || namespace === '' ? {} : { namespace }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
  const pairs = pairsOf(entry, bytesOf)
  const content = kind === 'Secret' ? { type: entry.type ?? 'Opaque', ...secretData(pairs) } : configData(pairs)
  return {
    carrier: { ...carrier },
    index: 0,
    object: { apiVersion: 'v1', kind, metadata, ...content, ...(immutable ? { immutable } : {}) },
    previous: [],
    prefixes: [],
    suffixes: [],
    hashed: (options?.disableNameSuffixHash ?? common.disableNameSuffixHash) !== true,
  }
}

function absorb(
  items: readonly KustomizeItem[],
  made: KustomizeItem,
  behavior: GeneratorEntry['behavior'],
): readonly KustomizeItem[] {
  const { name, namespace } = metadataOf(made.object)
  const is = (item: KustomizeItem) =>
    item.object.kind === made.object.kind &&
    item.object.apiVersion === 'v1' &&
    identitiesOf(item).some((one) => one.name === name && (one.namespace || 'default') === (namespace || 'default'))
  const old = items.filter(is)
  const called = `${wordOf(made.object.kind)} ${name}`
  if (old.length > 1) throw new PatchFailed(`${called} is there ${old.length} times: it cannot be generated`)
  const [before] = old
  if (behavior !== 'merge' && behavior !== 'replace') {
    if (before !== undefined)
      throw new PatchFailed(`${called} is there already: a generator with behavior merge or replace may change it`)
    return [...items, made]
  }
  if (before === undefined) throw new PatchFailed(`${called} is not there to ${behavior}`)
  const kept = metadataOf(before.object)
  const mine = metadataOf(made.object)
  const merge = (field: string): ObjectFields => {
    const merged = {
      ...(behavior === 'merge' && isFields(before.object[field]) ? before.object[field] : {}),
      ...(isFields(made.object[field]) ? made.object[field] : {}),
    }
    return Object.keys(merged).length === 0 ? {} : { [field]: merged }
  }
  const { data: _, binaryData: __, ...rest } = made.object
  const labels = { ...kept.labels, ...mine.labels }
  const annotations = { ...kept.annotations, ...mine.annotations }
  const object = {
    ...rest,
    metadata: {
      ...(before.object.metadata as ObjectFields),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    ...merge('data'),
    ...merge('binaryData'),
  }
  return items.map((item) => (item === before ? { ...before, object, hashed: made.hashed } : item))
}

interface Pair {
  readonly key: string
  readonly bytes: Uint8Array
}

function pairsOf(entry: GeneratorEntry, bytesOf: (path: string) => Uint8Array): readonly Pair[] {
  const pairs = [
    ...envFiles(entry).flatMap((path) => linesOf(Buffer.from(bytesOf(path)).toString('utf8'))),
    ...(entry.literals ?? []).map(literal),
    ...(entry.files ?? []).map((source) => {
      const { key, path } = fileSource(source)
      return { key, bytes: bytesOf(path) }
    }),
  ]
  const seen = new Set<string>()
  for (const { key } of pairs) {
    if (!/^[-._a-zA-Z0-9]+$/.test(key)) throw new PatchFailed(`${key.slice(0, 100)} cannot be a key of ${entry.name}`)
    if (seen.has(key)) throw new PatchFailed(`${entry.name} has the key ${key} twice`)
    seen.add(key)
  }
  return pairs
}

function envFiles({ env, envs }: GeneratorEntry): readonly string[] {
  return [...(envs ?? []), ...(env === undefined || env === '' ? [] : [env])]
}

function linesOf(text: string): readonly Pair[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .map((line) => line.trimStart())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const equals = line.indexOf('=')
      return {
        key: equals < 0 ? line : line.slice(0, equals),
        bytes: Buffer.from(equals < 0 ? '' : line.slice(equals + 1)),
      }
    })
}

function literal(source: string): Pair {
  const equals = source.indexOf('=')
  if (equals < 1) throw new PatchFailed(`the literal ${source.slice(0, 50)} is not key=value`)
  const value = source.slice(equals + 1)
  const quote = value[0]
  const quoted = value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote)
  return { key: source.slice(0, equals), bytes: Buffer.from(quoted ? value.slice(1, -1) : value) }
}

function fileSource(source: string): { readonly key: string; readonly path: string } {
  const parts = source.split('=')
  if (parts.length > 2 || parts.some((part) => part === ''))
    throw new PatchFailed(`the file ${source.slice(0, 200)} is neither a path nor key=path`)
  const [key = '', path] = parts
  return path === undefined ? { key: source.slice(source.lastIndexOf('/') + 1), path: source } : { key, path }
}

function configData(pairs: readonly Pair[]): { readonly data?: Data; readonly binaryData?: Data } {
  const texts = pairs.filter(({ bytes }) => isUtf8(bytes))
  const others = pairs.filter(({ bytes }) => !isUtf8(bytes))
  return {
    ...(texts.length === 0 ? {} : { data: sorted(texts, 'utf8') }),
    ...(others.length === 0 ? {} : { binaryData: sorted(others, 'base64') }),
  }
}

function secretData(pairs: readonly Pair[]): { readonly data: Data } {
  return { data: sorted(pairs, 'base64') }
}

function sorted(pairs: readonly Pair[], encoding: 'utf8' | 'base64'): Data {
  const entries = pairs.map(({ key, bytes }) => [key, Buffer.from(bytes).toString(encoding)] as const)
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** The very last step: what was generated gets the hash of its content behind its name. */
export function nameByContent(items: readonly KustomizeItem[]): readonly KustomizeItem[] {
  return items.map((item) => {
    if (!item.hashed) return item
    const { object } = item
    const metadata = object.metadata as ObjectFields
    const name = `${wordOf(metadata.name)}-${contentHash(object)}`
    const before = { kind: wordOf(object.kind), ...metadataOf(object) }
    return { ...item, object: { ...object, metadata: { ...metadata, name } }, previous: [...item.previous, before] }
  })
}

/**
 * Removes the content hash from the name that a generator of a remote base made: the name must be hashed last, after
 * this kustomization's changes, as in one build.
 */
export function nameBeforeContent(item: KustomizeItem): KustomizeItem {
  const { object, hashed } = item
  const { name } = metadataOf(object)
  if (hashed || (object.kind !== 'ConfigMap' && object.kind !== 'Secret')) return item
  const ending = `-${contentHash(object)}`
  if (!name.endsWith(ending) || name === ending) return item
  const metadata = { ...(object.metadata as ObjectFields), name: name.slice(0, -ending.length) }
  const before = { kind: wordOf(object.kind), ...metadataOf(object) }
  return { ...item, object: { ...object, metadata }, previous: [...item.previous, before], hashed: true }
}

/** Ten characters of SHA-256 over the content as Go writes it in JSON, in an alphabet that spells no words. */
function contentHash(object: ObjectFields): string {
  // kustomize's code intends to hash the name, but looks it up at a wrong place: it is always empty.
  const name = ''
  const wrapped = (field: string) => (isFields(object[field]) ? wrapBase64(object[field] as Data) : '')
  const content =
    object.kind === 'Secret'
      ? {
          data: wrapped('data'),
          kind: 'Secret',
          name,
          ...(isFields(object.stringData) ? { stringData: object.stringData } : {}),
          type: wordOf(object.type),
        }
      : {
          ...(isFields(object.binaryData) ? { binaryData: wrapped('binaryData') } : {}),
          data: object.data ?? '',
          kind: 'ConfigMap',
          name,
        }
  const hex = createHash('sha256').update(goJson(content)).digest('hex').slice(0, 10)
  const letters: Readonly<Record<string, string>> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' }
  return [...hex].map((one) => letters[one] ?? one).join('')
}

/** kustomize breaks long base64 into lines of 70, which the hash sees and Kubernetes does not. */
function wrapBase64(data: Data): Data {
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      key,
      value.length <= 70 ? value : (value.match(/.{1,70}/g) ?? []).map((line) => `${line}\n`).join(''),
    ]),
  )
}

function goJson(value: unknown): string {
  const sort = (_: string, one: unknown) =>
    isFields(one) ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1))) : one
  return JSON.stringify(value, sort).replace(
    /[<>&\u2028\u2029]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
