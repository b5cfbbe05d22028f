import { createHash } from 'node:crypto'
import { chartPlaceOf } from '../../kinds/addon/objects.ts'
import { type ChartToRender, chartAt } from '../../kinds/addon/rendered-chart.ts'
import type { AddonDeclaration } from '../../kinds/addon/schema.ts'
import type { ObjectsAt } from '../../kinds/kind.ts'
import { defined } from '../../lib/defined.ts'
import type { Egress } from '../../lib/egress.ts'
import { LIMITS } from '../../lib/limits.ts'
import {
  askFollowing,
  askOnce,
  type HttpAnswer,
  mayLead,
  type OutgoingRequest,
  permitPlace,
} from '../../lib/outgoing.ts'
import { inParallel } from '../../lib/parallel.ts'
import type { Declaration } from '../../model/declaration.ts'
import { type GitPlace, objectsAtCommit, permitRepository } from '../git/fetched-git.ts'
import { changedRevision, type Revision } from '../git/revision.ts'
import { readHere } from '../read-here.ts'
import type { FetchedBlob, SourceReader } from '../reader.ts'
import type { KeptFetches } from './kept-fetches.ts'

/** Cached fetches by place. A place names its content by hash, so it never changes. */
export type Fetched = Map<string, ObjectsAt>

/** On whose behalf something is fetched, and who reads it. */
export interface Fetching extends UrlRequestOptions {
  readonly fetched: Fetched
  /** Cache across restarts. */
  readonly kept?: KeptFetches
  readonly reader?: SourceReader
  /** Renders a chart with Helm, for a cluster without its own controller. Not for a source with a grant. */
  chart?(wanted: ChartToRender, signal: AbortSignal): Promise<ObjectsAt>
  /** Reports whether this declaration is followed. Nothing is fetched for a refused one. */
  follows?(declaration: Declaration): boolean
}

/** Adds the remote manifests of add-ons to the revision. A failed fetch is a problem of its add-on. */
export async function withFetched(revision: Revision, given: Fetching): Promise<Revision> {
  // In several sources together, those with a grant have what was fetched within it, and nothing is fetched for them again.
  const isBounded = (one: Declaration) => revision.grantOf?.(one) !== undefined
  const fetching: Fetching = { ...given, follows: (one) => !isBounded(one) && given.follows?.(one) !== false }
  const { fetched, follows = () => true } = fetching
  const clusters = new Map(
    revision.declarations.flatMap((one) => (one.kind === 'Cluster' ? [[one.name, one] as const] : [])),
  )
  const lookup = { declaration: (kind: string, name: string) => (kind === 'Cluster' ? clusters.get(name) : undefined) }
  const places = revision.declarations.flatMap((one) =>
    one.kind === 'Addon' && follows(one)
      ? [...placesIn(one.spec), chartPlaceOf(one as AddonDeclaration, lookup) ?? []].flat()
      : [],
  )
  const asked = [...new Set(places)]
  const missing = asked.slice(0, LIMITS.fetchedPlaces).filter((place) => {
    const before = fetched.get(place)
    return before === undefined || 'problem' in before
  })
  // All fetches share one deadline, so a server that answers byte by byte cannot hold up the others for longer.
  const signals = [AbortSignal.timeout(LIMITS.fetchAllMs), ...(fetching.signal === undefined ? [] : [fetching.signal])]
  const patient = { ...fetching, signal: AbortSignal.any(signals) }
  await inParallel(missing, LIMITS.fetchesAtOnce, async (place) => {
    await fetchTo(place, patient)
  })
  for (const place of asked.slice(LIMITS.fetchedPlaces))
    fetched.set(place, { problem: `more than ${LIMITS.fetchedPlaces} places to fetch from` })
  const built = await builtPaths(revision, patient)
  if (places.length === 0 && built.size === 0) return revision
  return changedRevision(revision, (one) => ({
    ...one,
    objectsAt: (place, declaration) =>
      (declaration !== undefined && one.grantOf?.(declaration) !== undefined
        ? undefined
        : (built.get(place) ?? fetched.get(place))) ?? one.objectsAt?.(place, declaration),
  }))
}

/** Fetches a place, or finds it where it was kept. */
async function fetchTo(place: string, fetching: Fetching, steps = 0): Promise<void> {
  const before = fetching.kept?.read(place)
  const at = before ?? (await completed(await objectsFrom(place, fetching), fetching, steps))
  if (before === undefined) fetching.kept?.write(place, at)
  fetching.fetched.set(place, at)
}

/** Directories of the repository whose kustomizations name other repositories and charts. */
async function builtPaths(revision: Revision, fetching: Fetching): Promise<ReadonlyMap<string, ObjectsAt>> {
  const { follows = () => true } = fetching
  const built = new Map<string, ObjectsAt>()
  for (const one of revision.declarations) {
    const { path } = one.spec as { readonly path?: string }
    if (one.kind !== 'Addon' || path === undefined || built.has(path) || !follows(one)) continue
    const at = revision.objectsAt?.(path, one)
    if (at !== undefined && 'unbuilt' in at) built.set(path, await completed(at, fetching))
  }
  return built
}

/** More steps than this, from one repository to the next, are a circle. */
const MOST_STEPS = 5

/** Fetches what a kustomization waits for and builds it, until it waits for nothing more. */
async function completed(at: ObjectsAt, fetching: Fetching, steps = 0): Promise<ObjectsAt> {
  if (!('unbuilt' in at) || at.unbuilt === undefined) return at
  if (steps > MOST_STEPS) return { problem: 'its bases lead from repository to repository without an end' }
  const { unbuilt } = at
  if (unbuilt.places.length > LIMITS.fetchedPlaces)
    return { problem: `it names more than ${LIMITS.fetchedPlaces} places to fetch from` }
  const there = new Map<string, readonly unknown[]>()
  await inParallel(unbuilt.places, LIMITS.fetchesAtOnce, async (place) => {
    const before = fetching.fetched.get(place)
    if (before === undefined || 'problem' in before) await fetchTo(place, fetching, steps + 1)
    const found = fetching.fetched.get(place)
    if (found !== undefined && 'objects' in found) there.set(place, found.objects)
  })
  const [missing] = unbuilt.places
    .flatMap((place) => fetching.fetched.get(place) ?? [])
    .filter((one) => 'problem' in one)
  if (missing !== undefined) return missing
  try {
    return await (fetching.reader ?? readHere).kustomized(unbuilt, there)
  } catch (error) {
    const problem = { problem: whyOf(error) }
    // Store the problem as missing, so that it is built again: the computer may have been short of memory.
    fetching.fetched.set(['kustomization', unbuilt.directory, ...unbuilt.places].join(' '), problem)
    return problem
  }
}

function whyOf(error: unknown): string {
  return error instanceof Error ? error.message.slice(0, 200) : 'unknown error'
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

async function objectsFrom(place: string, fetching: Fetching): Promise<ObjectsAt> {
  const chart = chartAt(place)
  try {
    if (chart !== undefined) return await rendered(chart, fetching)
    if (place.startsWith('oci://')) return await artifact(place.slice('oci://'.length), fetching)
    return place.startsWith('git+') ? await committed(place, fetching) : await file(place, fetching)
  } catch (error) {
    const what =
      chart === undefined
        ? `${place.replace(/#.*$/, '')} could not be fetched`
        : `the chart ${chart.chart} could not be rendered`
    return { problem: `${what}: ${whyOf(error)}` }
  }
}

async function rendered(wanted: ChartToRender, fetching: Fetching): Promise<ObjectsAt> {
  if (fetching.egress.terse)
    return {
      problem: `the chart ${wanted.chart} would be rendered by croft itself, which it does for no source with a grant`,
      hint: 'put the rendered objects into the repository and name them with path',
    }
  if (fetching.chart === undefined) return { problem: `the chart ${wanted.chart} cannot be rendered here` }
  return fetching.chart(wanted, fetching.signal ?? new AbortController().signal)
}

async function file(place: string, fetching: Fetching): Promise<ObjectsAt> {
  const [url = '', sha256 = ''] = place.split('#')
  const { bytes } = await askUrl(url, {}, fetching)
  assertHash(bytes, sha256, fetching)
  return (fetching.reader ?? readHere).objects([{ name: url, bytes }])
}

async function committed(place: string, { signal, reader, egress }: Fetching): Promise<ObjectsAt> {
  const [, url = '', commit = '', path = ''] = /^git\+(.*)#([0-9a-f]{40}):(.*)$/.exec(place) ?? []
  return objectsAtCommit(permitRepository({ url, commit, path }, egress), { signal, ...defined({ reader }) })
}

/** An artifact of a registry: its manifest by digest, then the layers that it names, each held to its digest. */
async function artifact(reference: string, fetching: Fetching): Promise<ObjectsAt> {
  const [path = '', digest = ''] = reference.split('@')
  const slash = path.indexOf('/')
  const [registry, name] = [path.slice(0, slash), path.slice(slash + 1)]
  const base = `${/^(?:localhost|127\.0\.0\.1)(?::|$)/.test(registry) ? 'http' : 'https'}://${registry}/v2/${name}`
  const accept = { accept: 'application/vnd.oci.image.manifest.v1+json' }
  const token = await anonymousToken(`${base}/manifests/${digest}`, accept, fetching)
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const { bytes } = await askUrl(`${base}/manifests/${digest}`, { ...accept, ...headers }, fetching)
  assertHash(bytes, digest.slice('sha256:'.length), fetching)
  const { layers = [] } = jsonOf(bytes) as {
    readonly layers?: readonly { readonly digest?: string; readonly mediaType?: string }[]
  }
  const blobs: FetchedBlob[] = []
  let left: number = LIMITS.addonBytes
  for (const { digest: hash = '', mediaType = '' } of layers) {
    const layer = await askUrl(`${base}/blobs/${hash}`, headers, fetching)
    assertHash(layer.bytes, hash.replace(/^sha256:/, ''), fetching)
    left -= layer.bytes.length
    if (left < 0) throw new Error(`it is larger than ${LIMITS.addonBytes} bytes`)
    blobs.push({ name: 'layer.yaml', bytes: layer.bytes, tar: mediaType.includes('tar') })
  }
  return (fetching.reader ?? readHere).objects(blobs)
}

/** Registries give everybody a token for public content. */
async function anonymousToken(
  url: string,
  headers: Readonly<Record<string, string>>,
  fetching: Fetching,
): Promise<string | undefined> {
  const { egress, signal, resolve } = fetching
  const asking = { headers, method: 'HEAD', mostBytes: 0, ...defined({ signal, resolve }) } as const
  const first = await askOnce(permitPlace(url, egress), asking)
  if (first.status !== 401) return undefined
  const asked = first.headers['www-authenticate'] ?? ''
  const part = (name: string) => new RegExp(`${name}="([^"]*)"`).exec(asked)?.[1]
  const realm = part('realm')
  const place = realm === undefined ? null : URL.parse(realm)
  if (place === null || !mayLead(new URL(url), place)) return undefined
  const query = new URLSearchParams({ service: part('service') ?? '', scope: part('scope') ?? '' })
  const { bytes } = await askUrl(`${realm}?${query.toString()}`, {}, fetching)
  const answer = jsonOf(bytes) as { token?: string; access_token?: string }
  return answer.token ?? answer.access_token
}

/** JavaScript's own message would quote the text. */
function jsonOf(bytes: Uint8Array): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    if (value !== null && typeof value === 'object') return value
  } catch {
    // Said below.
  }
  throw new Error('what answers is not a registry')
}

/** A terse error leaves out the hash found: it would tell an outsider about a file that they may not read. */
function assertHash(bytes: Uint8Array, sha256: string, { egress }: Fetching): void {
  const found = createHash('sha256').update(bytes).digest('hex')
  if (found === sha256) return
  throw new Error(egress.terse ? `its SHA-256 is not ${sha256}` : `its SHA-256 is ${found}, not ${sha256}`)
}

/** The source on whose behalf URLs are fetched. */
interface UrlRequestOptions {
  /** Where its source may send croft. */
  readonly egress: Egress
  readonly signal?: AbortSignal | undefined
  readonly resolve?: NonNullable<OutgoingRequest['resolve']>
}

function askUrl(
  url: string,
  headers: Readonly<Record<string, string>>,
  asking: UrlRequestOptions,
): Promise<HttpAnswer> {
  const { egress, signal, resolve } = asking
  return askFollowing(permitPlace(url, egress), {
    headers,
    mostBytes: LIMITS.addonBytes,
    ...defined({ signal, resolve }),
  })
}
