import { z } from 'zod'

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
  options: z.unknown().optional(),
})

/** What croft reads of a kustomization.yaml. Whatever else stands there is told, and refused where it would matter. */
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
        fields: z.unknown().optional(),
      }),
    )
    .nullish(),
  patches: z.array(patch).max(1000).nullish(),
  patchesStrategicMerge: words,
  patchesJson6902: z.array(patch).max(1000).nullish(),
  // These make or change things that are none of ours.
  images: z.unknown().optional(),
  replicas: z.unknown().optional(),
  configMapGenerator: z.unknown().optional(),
  secretGenerator: z.unknown().optional(),
  generatorOptions: z.unknown().optional(),
  openapi: z.unknown().optional(),
  buildMetadata: z.unknown().optional(),
  sortOptions: z.unknown().optional(),
})

export type Kustomization = z.output<typeof kustomizationSchema>
export type PatchEntry = z.output<typeof patch>
export type PatchTarget = z.output<typeof target>
