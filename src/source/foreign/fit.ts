import { explain } from '../../kinds/fields/explain.ts'
import type { FieldProblem, Kind, RawManifest } from '../../kinds/kind.ts'
import { isFields } from '../manifest.ts'
import type { Draft, DraftManifest } from './draft.ts'

export type PathStep = string | number

export interface Fitted {
  readonly draft: Draft
  /** Problems that could not be left out. */
  readonly problems: readonly FieldProblem[]
}

/** More rounds than a manifest has fields would mean that leaving out does not help. */
const MOST_ROUNDS = 200

/**
 * Removes fields that a manifest's kind refuses or does not keep, and lists them in a comment above it. An undeclared
 * field is not compared, so the resource keeps its value.
 */
export function fitToKind(draft: Draft, kind: Kind): Fitted {
  const manifest: DraftManifest = structuredClone(draft.manifest)
  const comments = [...draft.comments]
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const problems = problemsOf(manifest, kind)
    const [next] = problems
    if (next === undefined) return { draft: { manifest, comments }, problems: [] }
    const dropped = leaveOut(manifest, next.path)
    if (dropped === undefined) return { draft: { manifest, comments }, problems }
    comments.push(`left out ${dropped.slice(2).join('.')}: ${next.message}`)
  }
  return { draft: { manifest, comments }, problems: problemsOf(manifest, kind) }
}

/** Everything that stands between a manifest and being kept in full. */
export function problemsOf(manifest: DraftManifest, kind: Kind): readonly FieldProblem[] {
  const parsed = kind.schema.safeParse(manifest.spec)
  if (!parsed.success) return explain(kind.schema, parsed.error, manifest.spec, ['spec'], kind.aliases)
  const { name, namespace, labels = {}, annotations = {} } = manifest.metadata
  const raw: RawManifest = {
    apiVersion: manifest.apiVersion,
    kind: manifest.kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels, annotations },
    spec: manifest.spec,
  }
  return (kind.check?.(parsed.data, raw) ?? []).filter(
    (problem) => problem.severity !== 'warning' || problem.code === 'not-kept',
  )
}

/** Lists with one entry per device index: removing an entry would shift the others. */
const POSITIONAL = ['serialDevice', 'usb', 'virtiofs', 'ipConfig']
/** Required fields: without them, a default would change the meaning of the block. */
const ESSENTIAL: Readonly<Record<string, readonly string[]>> = {
  disk: ['interface', 'datastoreId'],
  networkDevice: ['bridge', 'model'],
  cdrom: ['interface', 'fileId'],
  efiDisk: ['datastoreId'],
  tpmState: ['datastoreId'],
  initialization: ['datastoreId', 'interface'],
  hostpci: ['device', 'id', 'mapping'],
  numa: ['device', 'cpus'],
  audioDevice: ['device'],
  watchdog: ['model'],
  rng: ['source'],
  amdSev: ['type'],
}

/** Removes the smallest part that keeps the meaning of the rest. Returns the removed path. */
function leaveOut(manifest: DraftManifest, path: readonly PathStep[]): readonly PathStep[] | undefined {
  const real = realPath(manifest, path)
  if (real.length < 3 || real[0] !== 'spec') return undefined
  // The innermost list counts: initialization is a list of one, ipConfig inside it is a list of many.
  const list = real.findLastIndex((step, index) => typeof step === 'string' && typeof real[index + 1] === 'number')
  const [name, entry, field] = [real[list], real[list + 1], real[list + 2]]
  if (typeof name !== 'string' || typeof entry !== 'number') return remove(manifest, real)
  const items = valueAt(manifest, real.slice(0, list + 1)) as unknown[]
  const positional = real.find((step) => POSITIONAL.includes(String(step)))
  if (positional !== undefined) {
    const first = real.indexOf(positional)
    const index = Number(real[first + 1])
    const all = valueAt(manifest, real.slice(0, first + 1)) as unknown[]
    all.length = index
    return all.length === 0 ? remove(manifest, real.slice(0, first + 1)) : real.slice(0, first + 2)
  }
  // A list of words is one value: remove all of it.
  if (field === undefined && !isFields(items[entry])) return remove(manifest, real.slice(0, list + 1))
  if (field === undefined || ESSENTIAL[name]?.includes(String(field))) {
    if (name === 'networkDevice') items[entry] = { enabled: false }
    else items.splice(entry, 1)
    if (items.length === 0) remove(manifest, real.slice(0, list + 1))
    return real.slice(0, list + 2)
  }
  return remove(manifest, real)
}

/** Returns the path in the manifest: schemas name a block's fields directly, but here it is a list of one. */
function realPath(manifest: DraftManifest, path: readonly PathStep[]): readonly PathStep[] {
  const real: PathStep[] = []
  let value: unknown = manifest
  for (const step of path) {
    if (Array.isArray(value) && typeof step === 'string') {
      real.push(0)
      value = value[0]
    }
    if (value === null || typeof value !== 'object') return real
    real.push(step)
    value = (value as Record<PathStep, unknown>)[step]
    // The field is missing and cannot be invented: leave out the object that lacks it.
    if (value === undefined) return real.slice(0, -1)
  }
  return real
}

function remove(manifest: DraftManifest, path: readonly PathStep[]): readonly PathStep[] {
  const parent = valueAt(manifest, path.slice(0, -1)) as Record<PathStep, unknown>
  const last = path.at(-1) ?? ''
  if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
  // An empty block would look like a declaration.
  if (Object.keys(parent).length === 0 && path.length > 3) remove(manifest, path.slice(0, -1))
  return path
}

function valueAt(value: unknown, path: readonly PathStep[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<PathStep, unknown> | undefined)?.[step], value)
}
