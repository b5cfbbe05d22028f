import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { ObjectsAt } from '../kinds/kind.ts'
import { LIMITS } from '../lib/limits.ts'
import { askUrl, mayLead, within } from './ask-url.ts'
import { type GitPlace, objectsAtCommit } from './fetched-git.ts'
import { objectsIn } from './objects-at.ts'
import type { Revision } from './revision.ts'
import { filesOfTar } from './tar.ts'
import { textOf } from './text-of.ts'

/** What was fetched before, by its place. A place names its content by hash, so it never changes. */
export type Fetched = Map<string, ObjectsAt>

/** The same revision, with the manifests that its add-ons have elsewhere. What cannot be had is a problem of that add-on. */
export async function withFetched(revision: Revision, fetched: Fetched, signal?: AbortSignal): Promise<Revision> {
  const places = revision.declarations.flatMap(({ kind, spec }) => (kind === 'Addon' ? placesIn(spec) : []))
  await Promise.all(
    [...new Set(places)].map(async (place) => {
      const before = fetched.get(place)
      if (before === undefined || 'problem' in before) fetched.set(place, await objectsFrom(place, signal))
    }),
  )
  if (places.length === 0) return revision
  return {
    ...revision,
    objectsAt: (place, declaration) => fetched.get(place) ?? revision.objectsAt?.(place, declaration),
  }
}

function placesIn(spec: unknown): readonly string[] {
  const { url, oci, git } = spec as {
    readonly url?: { readonly url: string; readonly sha256: string }
    readonly oci?: string
    readonly git?: GitPlace
  }
  return [
    ...(url === undefined ? [] : [`${url.url}#${url.sha256}`]),
    ...(oci === undefined ? [] : [`oci://${oci}`]),
    ...(git === undefined ? [] : [`git+${git.url}#${git.commit}:${git.path}`]),
  ]
}

async function objectsFrom(place: string, signal: AbortSignal | undefined): Promise<ObjectsAt> {
  try {
    if (place.startsWith('oci://')) return await artifact(place.slice('oci://'.length), signal)
    return place.startsWith('git+') ? await committed(place, signal) : await file(place, signal)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return { problem: `${place.replace(/#.*$/, '')} could not be fetched: ${why.slice(0, 200)}` }
  }
}

async function file(place: string, signal: AbortSignal | undefined): Promise<ObjectsAt> {
  const [url = '', sha256 = ''] = place.split('#')
  const bytes = await bytesOf(await askUrl(url, {}, signal))
  return checked(url, bytes, sha256)
}

async function committed(place: string, signal: AbortSignal | undefined): Promise<ObjectsAt> {
  const [, url = '', commit = '', path = ''] = /^git\+(.*)#([0-9a-f]{40}):(.*)$/.exec(place) ?? []
  return objectsAtCommit({ url, commit, path }, { signal })
}

/** An artifact of a registry: its manifest by digest, then the layers that it names, each held to its digest. */
async function artifact(reference: string, signal: AbortSignal | undefined): Promise<ObjectsAt> {
  const [path = '', digest = ''] = reference.split('@')
  const slash = path.indexOf('/')
  const [registry, name] = [path.slice(0, slash), path.slice(slash + 1)]
  const base = `${/^(?:localhost|127\.0\.0\.1)(?::|$)/.test(registry) ? 'http' : 'https'}://${registry}/v2/${name}`
  const accept = { accept: 'application/vnd.oci.image.manifest.v1+json' }
  const token = await anonymousToken(`${base}/manifests/${digest}`, accept, signal)
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const manifest = await bytesOf(await askUrl(`${base}/manifests/${digest}`, { ...accept, ...headers }, signal))
  assertHash(manifest, digest.slice('sha256:'.length))
  const { layers = [] } = JSON.parse(Buffer.from(manifest).toString('utf8')) as {
    readonly layers?: readonly { readonly digest?: string; readonly mediaType?: string }[]
  }
  const objects: unknown[] = []
  for (const { digest: hash = '', mediaType = '' } of layers) {
    const blob = await bytesOf(await askUrl(`${base}/blobs/${hash}`, headers, signal))
    assertHash(blob, hash.replace(/^sha256:/, ''))
    const plain = blob[0] === 0x1f && blob[1] === 0x8b ? gunzipSync(blob, { maxOutputLength: LIMITS.addonBytes }) : blob
    const files = mediaType.includes('tar') ? filesOfTar(plain) : [{ name: 'layer.yaml', bytes: plain }]
    for (const one of files) {
      if (!/\.(?:ya?ml|json)$/i.test(one.name)) continue
      const found = readBytes(one.name, one.bytes)
      if ('problem' in found) return found
      objects.push(...found.objects)
    }
  }
  return { objects }
}

/** Registries give a token to anybody who asks for what is public. */
async function anonymousToken(
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const first = await fetch(url, { headers, method: 'HEAD', redirect: 'manual', ...within(signal) })
  if (first.status !== 401) return undefined
  const asked = first.headers.get('www-authenticate') ?? ''
  const part = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(asked)?.[1]
  const realm = part('realm')
  const place = realm === undefined ? null : URL.parse(realm)
  if (place === null || !mayLead(new URL(url), place)) return undefined
  const query = new URLSearchParams({ service: part('service') ?? '', scope: part('scope') ?? '' })
  const told = await bytesOf(await askUrl(`${realm}?${query.toString()}`, {}, signal))
  const answer = JSON.parse(Buffer.from(told).toString('utf8')) as { token?: string; access_token?: string }
  return answer.token ?? answer.access_token
}

async function bytesOf(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array
    size += bytes.length
    if (size > LIMITS.addonBytes) throw new Error(`it is larger than ${LIMITS.addonBytes} bytes`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks)
}

function checked(name: string, bytes: Uint8Array, sha256: string): ObjectsAt {
  assertHash(bytes, sha256)
  return readBytes(name, bytes)
}

function readBytes(name: string, bytes: Uint8Array): ObjectsAt {
  const text = textOf(bytes)
  return 'text' in text ? objectsIn(name, text.text) : { problem: `${name}: ${text.finding.message}` }
}

function assertHash(bytes: Uint8Array, sha256: string): void {
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found !== sha256) throw new Error(`its SHA-256 is ${found}, not ${sha256}`)
}
