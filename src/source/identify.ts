import type { FieldProblem, Kind } from '../kinds/kind.ts'
import { findKind, KINDS } from '../kinds/registry.ts'
import { nearest } from '../lib/nearest.ts'
import { isFields, type ManifestObject } from './manifest.ts'
import { printable } from './yaml/excerpt.ts'

/** The identity of an object by its apiVersion and kind. */
export type ManifestIdentity =
  | { readonly is: 'ours'; readonly kind: Kind; readonly apiVersion: string }
  /** Foreign, or no object: not read further. */
  | { readonly is: 'foreign'; readonly apiVersion: string; readonly kind: string; readonly note?: string }
  /** A kind of a supported group that croft does not keep yet. */
  | { readonly is: 'unkept'; readonly apiVersion: string; readonly kind: string; readonly problem: FieldProblem }
  /** An unknown kind of our group. */
  | { readonly is: 'wrong'; readonly problem: FieldProblem }

const OWN_GROUP = /^croft\.dev$/
const PROVIDER_GROUP = /^(?:virtual[a-z]*(?:\.proxmoxbpg)?|proxmoxbpg)(?:\.m)?\.crossplane\.io$/

/** API groups whose unknown kinds are reported: the groups of definitions, and the group of kro's instances. */
export const CLAIMED_GROUP = /^(?:kro\.run|apiextensions\.crossplane\.io)\//

/** Kinds that define other kinds: without them, their instances would count as foreign. */
const DEFINITIONS: ReadonlyMap<string, string> = new Map([
  ['ResourceGraphDefinition', 'kro.run/v1alpha1'],
  ['CompositeResourceDefinition', 'apiextensions.crossplane.io/v1'],
])

/** Known provider kinds that croft does not keep yet. */
const UNKEPT = new Set(['ProviderConfigUsage', 'StoreConfig', 'ClusterProviderConfig'])

/** Answers of croft that a person may keep in the directory that they are about: `croft plan --out infra/plan.json`. */
const PRINTED = new Set(
  'AuditEntry Capacity Contexts Event Examination Health ImageBuild LeastRole Plan Pods PowerStatus SavedPlan Selftest Validation Version'.split(
    ' ',
  ),
)

export function identify(value: ManifestObject['value']): ManifestIdentity {
  const found = identifyObject(value)
  return found.is === 'foreign' && holdsOurs(value)
    ? wrong(
        'unknown-kind',
        'kind',
        'it holds declarations and is not a List',
        'write apiVersion: v1, kind: List and items',
      )
    : found
}

/** Declarations in a list that stands at the top of an object: no other program has them there. */
function holdsOurs(value: ManifestObject['value']): boolean {
  return Object.values(value).some(
    (list) => Array.isArray(list) && list.some((item: unknown) => isFields(item) && identifyObject(item).is === 'ours'),
  )
}

function identifyObject(value: ManifestObject['value']): ManifestIdentity {
  const { apiVersion, kind, items } = value
  if (apiVersion === 'v1' && kind === 'List' && items !== undefined && items !== null)
    return wrong('wrong-type', 'items', 'items of a List is not a list of objects', 'begin each object with a dash')
  if (apiVersion === undefined && kind === undefined)
    return { is: 'foreign', apiVersion: '', kind: '', note: 'not a manifest' }
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return halfNamed(value)
  const found = findKind(apiVersion, kind)
  if (found !== undefined) return { is: 'ours', kind: found, apiVersion }
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  const own = OWN_GROUP.test(group)
  if (!own && !PROVIDER_GROUP.test(group)) {
    const ours = group === '' ? KINDS.find((candidate) => candidate.kind === kind && isOwn(candidate)) : undefined
    // The core group has no such kind, so the author must have meant ours.
    if (ours !== undefined)
      return wrong('unknown-version', 'apiVersion', `${kind} is not a kind of Kubernetes`, `write ${ours.apiVersion}`)
    // A typing error in the group would remove the declaration from the estate, and so its resource.
    const meant = KINDS.find((known) => known.kind === kind && isSlipOf(apiVersion, group, known))
    if (meant !== undefined)
      return wrong(
        'unknown-version',
        'apiVersion',
        `${shown(group)} is not a group that croft reads`,
        `did you mean ${meant.apiVersion}?`,
      )
    return { is: 'foreign', apiVersion: printable(apiVersion.slice(0, 200)), kind: printable(kind.slice(0, 200)) }
  }
  if (own && PRINTED.has(kind)) return { is: 'foreign', apiVersion, kind, note: 'an answer of croft, no manifest' }
  const sameName = KINDS.find((candidate) => candidate.kind === kind && isOwn(candidate) === own)
  if (sameName !== undefined) {
    return wrong(
      'unknown-version',
      'apiVersion',
      `${kind} is not known in ${shown(apiVersion)}`,
      `write ${sameName.apiVersion}`,
    )
  }
  if (!own && UNKEPT.has(kind)) {
    const message = `croft knows ${kind} but does not keep it yet: this object is left alone`
    return {
      is: 'unkept',
      apiVersion,
      kind,
      problem: { code: 'kind-not-kept', path: ['kind'], severity: 'warning', message },
    }
  }
  const names = KINDS.filter((candidate) => isOwn(candidate) === own).map((candidate) => candidate.kind)
  const meant = nearest(kind, own ? names : [...names, ...UNKEPT])
  return wrong(
    'unknown-kind',
    'kind',
    `${shown(kind)} is not a kind of ${group}`,
    meant === undefined ? `known: ${names.join(', ')}` : `did you mean ${meant}?`,
  )
}

/** Judges a document with only one of apiVersion and kind: a mistake if that one is ours, a foreign file otherwise. */
function halfNamed(value: ManifestObject['value']): ManifestIdentity {
  const { apiVersion, kind } = value
  // Other programs have a `kind: Cluster` with top-level fields; without metadata and spec it is not ours.
  const bare = !('metadata' in value || 'spec' in value) && Object.keys(value).length > 1
  const known = bare ? undefined : KINDS.find((candidate) => candidate.kind === kind)
  // An anchor, a tag or a comment in its place leaves it empty.
  if (known !== undefined && (apiVersion === undefined || apiVersion === null)) {
    return wrong('missing-field', 'apiVersion', 'apiVersion is missing', `write apiVersion: ${known.apiVersion}`)
  }
  const definition = typeof kind === 'string' && !bare ? DEFINITIONS.get(kind) : undefined
  if (definition !== undefined)
    return wrong('missing-field', 'apiVersion', 'apiVersion is missing', `write apiVersion: ${definition}`)
  if (
    typeof apiVersion === 'string' &&
    (apiVersion.startsWith('croft.dev/') ||
      CLAIMED_GROUP.test(apiVersion) ||
      PROVIDER_GROUP.test(apiVersion.split('/')[0] ?? ''))
  ) {
    return wrong('missing-field', 'kind', 'kind is missing', 'add kind; croft explain lists the kinds')
  }
  return { is: 'foreign', apiVersion: '', kind: '', note: 'not a manifest' }
}

/** Written almost as it must be, with a slash too many perhaps. */
function isSlipOf(apiVersion: string, group: string, meant: Kind): boolean {
  if (nearest(apiVersion, [meant.apiVersion], 2) !== undefined) return true
  return isOwn(meant) && nearest(group, ['croft.dev'], 2) !== undefined
}

function isOwn(kind: Kind): boolean {
  return OWN_GROUP.test(kind.apiVersion.split('/')[0] ?? '')
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80)).slice(1, -1)
}

function wrong(code: string, field: string, message: string, hint: string): ManifestIdentity {
  return { is: 'wrong', problem: { code, path: [field], message, hint } }
}
