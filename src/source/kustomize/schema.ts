import { z } from 'zod'
import { helmChartSchema } from './charts.ts'

const words = z.array(z.string().max(4000)).max(5000).nullish()
const texts = z.record(z.string(), z.string()).nullish()
const target = z.strictObject({
  group: z.string().optional(),
  version: z.string().optional(),
  kind: z.string().optional(),
  name: z.string().optional(),
  namespace: z.string().optional(),
  labelSelector: z.string().optional(),
  annotationSelector: z.string().optional(),
})
const patch = z.strictObject({
  path: z.string().optional(),
  patch: z.string().optional(),
  target: target.optional(),
  options: z
    .strictObject({ allowNameChange: z.boolean().optional(), allowKindChange: z.boolean().optional() })
    .nullish(),
})
const field = z.strictObject({
  path: z.string(),
  group: z.string().optional(),
  version: z.string().optional(),
  kind: z.string().optional(),
  create: z.boolean().optional(),
})
const generatorOptions = z
  .strictObject({
    labels: texts,
    annotations: texts,
    disableNameSuffixHash: z.boolean().optional(),
    immutable: z.boolean().optional(),
  })
  .nullish()
const generator = z.strictObject({
  name: z.string().min(1).max(253),
  namespace: z.string().max(63).optional(),
  // kustomize ignores other words.
  behavior: z.string().optional(),
  env: z.string().optional(),
  envs: words,
  files: words,
  literals: z.array(z.string()).max(5000).nullish(),
  type: z.string().optional(),
  options: generatorOptions,
})
const fieldOptions = z
  .strictObject({
    delimiter: z.string().optional(),
    index: z.int().optional(),
    create: z.boolean().optional(),
    encoding: z.literal('none').optional(),
  })
  .nullish()
const source = z.strictObject({
  group: z.string().optional(),
  version: z.string().optional(),
  kind: z.string().optional(),
  name: z.string().optional(),
  namespace: z.string().optional(),
  fieldPath: z.string().optional(),
  options: fieldOptions,
})
const replacement = z.strictObject({
  path: z.string().optional(),
  source: source.optional(),
  sourceValue: z.string().optional(),
  targets: z
    .array(
      z.strictObject({
        select: target,
        reject: z.array(target).nullish(),
        fieldPaths: words,
        options: fieldOptions,
      }),
    )
    .max(1000)
    .optional(),
})

const variable = z.strictObject({
  name: z.string().min(1),
  objref: z.strictObject({
    apiVersion: z.string().optional(),
    group: z.string().optional(),
    version: z.string().optional(),
    kind: z.string().min(1),
    name: z.string().min(1),
    namespace: z.string().optional(),
  }),
  fieldref: z.strictObject({ fieldpath: z.string().optional(), fieldPath: z.string().optional() }).nullish(),
})

/** The fields of a kustomization.yaml that croft reads; others are refused by name. */
export const kustomizationSchema = z.strictObject({
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.unknown().optional(),
  resources: words,
  bases: words,
  components: words,
  namePrefix: z.string().max(200).optional(),
  nameSuffix: z.string().max(200).optional(),
  namespace: z.string().max(63).optional(),
  commonLabels: texts,
  commonAnnotations: texts,
  labels: z
    .array(
      z.strictObject({
        pairs: texts,
        includeSelectors: z.boolean().optional(),
        includeTemplates: z.boolean().optional(),
        includeVolumeClaimTemplates: z.boolean().optional(),
        fields: z.array(field).nullish(),
      }),
    )
    .nullish(),
  patches: z.array(patch).max(1000).nullish(),
  patchesStrategicMerge: words,
  patchesJson6902: z.array(patch).max(1000).nullish(),
  images: z
    .array(
      z.strictObject({
        name: z.string().min(1).max(500),
        newName: z.string().optional(),
        newTag: z.string().optional(),
        digest: z.string().optional(),
        tagSuffix: z.string().optional(),
      }),
    )
    .max(1000)
    .nullish(),
  replicas: z
    .array(z.strictObject({ name: z.string(), count: z.int().min(0) }))
    .max(1000)
    .nullish(),
  configMapGenerator: z.array(generator).max(1000).nullish(),
  secretGenerator: z.array(generator).max(1000).nullish(),
  generatorOptions,
  replacements: z.array(replacement).max(1000).nullish(),
  configurations: words,
  vars: z.array(variable).max(1000).nullish(),
  helmCharts: z.array(helmChartSchema).max(100).nullish(),
  // Ignored: croft caches charts elsewhere.
  helmGlobals: z.strictObject({ chartHome: z.string().optional(), configHome: z.string().optional() }).nullish(),
  // In which order objects are written changes nothing of what they are.
  sortOptions: z.unknown().optional(),
})

export type Kustomization = z.output<typeof kustomizationSchema>
export type PatchEntry = z.output<typeof patch>
export type PatchTarget = z.output<typeof target>
export type GeneratorEntry = z.output<typeof generator>
export type Variable = z.output<typeof variable>
export type Replacement = z.output<typeof replacement>

/** Fields of kustomize that croft does not follow, with what to do instead. */
export const NOT_FOLLOWED: Readonly<Record<string, string>> = {
  helmChartInflationGenerator: 'write helmCharts: instead',
  generators: 'plugins are not run: build the result beforehand and commit it',
  transformers: 'plugins are not run: use patches, or build the result beforehand and commit it',
  validators: 'plugins are not run: validate in your own pipeline',
  crds: 'only the references that kustomize knows by itself are followed: use replacements',
  openapi: 'lists of kinds that Kubernetes does not bring itself are replaced whole: write JSON patches for them',
  buildMetadata: 'croft shows where an object comes from by itself: remove it',
  imageTags: 'write images: instead',
}
