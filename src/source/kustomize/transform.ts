import type { Budget } from '../budget.ts'
import { isFields } from '../manifest.ts'
import type { Configuration } from './configuration.ts'
import { editAt, type FieldSpec, groupVersionOf, namesOf, speaksOf } from './field-paths.ts'
import { PatchFailed } from './json-patch.ts'
import {
  changed,
  fits,
  identitiesOf,
  identityOf,
  isClusterScoped,
  type KustomizeItem,
  type ObjectFields,
} from './objects.ts'
import type { Kustomization } from './schema.ts'

type Texts = Readonly<Record<string, string>>

/** Puts a value at every field that the specs name in an object. */
export function editFields(
  object: ObjectFields,
  specs: readonly FieldSpec[],
  edit: (value: unknown) => unknown,
  create: unknown,
): ObjectFields {
  return specs.reduce<ObjectFields>(
    (all, spec) =>
      speaksOf(spec, all)
        ? (editAt(all, namesOf(spec.path), edit, spec.create === true ? create : undefined) as ObjectFields)
        : all,
    object,
  )
}

/** The namespace of everything that is in one, and the fields beside it that name one. */
export function setNamespace(
  items: readonly KustomizeItem[],
  namespace: string,
  config: Configuration,
): readonly KustomizeItem[] {
  const set = () => namespace
  return items.map((item) => {
    const metadata: readonly FieldSpec[] = isClusterScoped(item.object)
      ? []
      : [{ path: 'metadata/namespace', create: true }]
    const object = editFields(item.object, [...metadata, ...config.namespace], set, '')
    // Record it as a change even if the name is the same: references to it then get its namespace too.
    const previous = [...item.previous, identityOf(item.object)]
    return { ...item, object: bindDefaultAccounts(object, namespace), previous }
  })
}

/** Sets the namespace of the account `default` in a binding's subjects; the others follow the account they name. */
function bindDefaultAccounts(object: ObjectFields, namespace: string): ObjectFields {
  if (object.kind !== 'RoleBinding' && object.kind !== 'ClusterRoleBinding') return object
  return editAt(object, ['subjects'], (subject) =>
    isFields(subject) && subject.name === 'default' ? { ...subject, namespace } : subject,
  ) as ObjectFields
}

/** A prefix or suffix on the names of everything but namespaces, CRDs and API services. */
export function affixNames(
  items: readonly KustomizeItem[],
  how: { readonly prefix: string; readonly suffix: string },
): readonly KustomizeItem[] {
  return items.map((item) => {
    const { object } = item
    const { group } = groupVersionOf(object.apiVersion)
    if (object.kind === 'CustomResourceDefinition' || object.kind === 'Namespace') return item
    if (object.kind === 'APIService' && group === 'apiregistration.k8s.io') return item
    const named = editAt(object, ['metadata', 'name'], (name) =>
      typeof name === 'string' ? `${how.prefix}${name}${how.suffix}` : name,
    ) as ObjectFields
    return {
      ...changed(item, named),
      prefixes: how.prefix === '' ? item.prefixes : [...item.prefixes, how.prefix],
      suffixes: how.suffix === '' ? item.suffixes : [...item.suffixes, how.suffix],
    }
  })
}

/** Every entry of `labels`, then `commonLabels`, each to the fields that it reaches. */
export function addLabels(
  items: readonly KustomizeItem[],
  { labels, commonLabels }: Kustomization,
  config: Configuration,
  budget: Budget,
): readonly KustomizeItem[] {
  let all = items
  for (const entry of labels ?? []) {
    const own = (entry.fields ?? []).map(({ create, ...spec }) => ({ ...spec, create: create === true }))
    const specs =
      entry.includeSelectors === true
        ? [...own, ...config.labels, ...config.commonLabels]
        : [
            ...own,
            ...config.labels,
            ...(entry.includeTemplates === true ? config.templateLabels : []),
            ...(entry.includeVolumeClaimTemplates === true ? config.volumeClaimTemplateLabels : []),
            { path: 'metadata/labels', create: true },
          ]
    all = addTexts(all, entry.pairs ?? {}, specs as readonly FieldSpec[], budget)
  }
  return addTexts(all, commonLabels ?? {}, config.commonLabels, budget)
}

export function addAnnotations(
  items: readonly KustomizeItem[],
  annotations: Texts,
  config: Configuration,
  budget: Budget,
): readonly KustomizeItem[] {
  return addTexts(items, annotations, config.commonAnnotations, budget)
}

function addTexts(
  items: readonly KustomizeItem[],
  texts: Texts,
  specs: readonly FieldSpec[],
  budget: Budget,
): readonly KustomizeItem[] {
  if (Object.keys(texts).length === 0) return items
  budget.nodes(texts, items.length)
  const add = (value: unknown) => ({ ...(isFields(value) ? value : {}), ...texts })
  return items.map((item) => changed(item, editFields(item.object, specs, add, {})))
}

export function setReplicas(
  items: readonly KustomizeItem[],
  replicas: Kustomization['replicas'],
  config: Configuration,
  budget: Budget,
): readonly KustomizeItem[] {
  return (replicas ?? []).reduce<readonly KustomizeItem[]>((all, { name, count }) => {
    const specs = config.replicas
    const meant = new Set(
      all.filter((item) => {
        budget.match()
        return specs.some((spec) => speaksOf(spec, item.object)) && identitiesOf(item).some((one) => one.name === name)
      }),
    )
    if (meant.size === 0) throw new PatchFailed(`replicas: there is no workload ${name}`)
    return all.map((item) =>
      meant.has(item)
        ? changed(
            item,
            editFields(item.object, specs, () => count, 0),
          )
        : item,
    )
  }, items)
}

export function setImages(
  items: readonly KustomizeItem[],
  images: Kustomization['images'],
  config: Configuration,
  budget: Budget,
): readonly KustomizeItem[] {
  if (images === null || images === undefined || images.length === 0) return items
  const edits = images.map((image) => ({ matches: imagePattern(image.name), image }))
  const edit = (value: unknown) =>
    edits.reduce((now, { matches, image }) => {
      if (typeof now !== 'string') return now
      budget.match()
      return matches(now) ? renamedImage(now, image) : now
    }, value)
  return items.map((item) => {
    if (item.object.kind === 'CustomResourceDefinition') return item
    const object = editImages(item.object, edit) as ObjectFields
    return changed(item, editFields(object, config.images, edit, undefined))
  })
}

/** Edits the images of all container lists, at any depth. */
function editImages(tree: unknown, edit: (value: unknown) => unknown): unknown {
  if (Array.isArray(tree)) return tree.map((one) => editImages(one, edit))
  if (!isFields(tree)) return tree
  return Object.fromEntries(
    Object.entries(tree).map(([name, value]) => {
      const deeper = editImages(value, edit)
      return [name, name === 'containers' || name === 'initContainers' ? editAt(deeper, ['image'], edit) : deeper]
    }),
  )
}

function imagePattern(name: string): (image: string) => boolean {
  const plain = /^[\w./:@-]+$/.test(name)
  const rest = /^(?::[\w.{}-]*)?(?:@[a-zA-Z0-9]+(?:[.+_-][a-zA-Z0-9]+)*:[\w.{}-]*)?$/
  return (image) => {
    const { repository } = splitImage(image)
    if (plain) return image.startsWith(name) && rest.test(image.slice(name.length))
    return fits(name, repository) || fits(name, image)
  }
}

function splitImage(image: string) {
  const slash = Math.max(0, image.indexOf('/'))
  const at = image.indexOf('@', slash)
  const digest = at < 0 ? '' : image.slice(at + 1)
  const named = at < 0 ? image : image.slice(0, at)
  const colon = named.indexOf(':', slash)
  return { repository: colon < 0 ? named : named.slice(0, colon), tag: colon < 0 ? '' : named.slice(colon + 1), digest }
}

function renamedImage(image: string, to: NonNullable<Kustomization['images']>[number]): string {
  const before = splitImage(image)
  const { newTag = '', digest = '', tagSuffix = '' } = to
  const [tag, hash] =
    newTag !== '' || digest !== ''
      ? [newTag, digest]
      : tagSuffix !== ''
        ? [`${before.tag}${tagSuffix}`, '']
        : [before.tag, before.digest]
  const name = to.newName === undefined || to.newName === '' ? before.repository : to.newName
  return `${name}${tag === '' ? '' : `:${tag}`}${hash === '' ? '' : `@${hash}`}`
}
