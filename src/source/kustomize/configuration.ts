import { z } from 'zod'
import type { FieldSpec } from './field-paths.ts'
import {
  ANNOTATIONS,
  CLAIM_TEMPLATE_LABELS,
  NAMESPACES,
  REFERENCES,
  REPLICAS,
  type ReferenceTable,
  SELECTOR_LABELS,
  TEMPLATE_LABELS,
  VARIABLES,
} from './field-tables.ts'

/** Fields that each step of kustomize edits: its own tables, and the additions of `configurations`. */
export interface Configuration {
  readonly namespace: readonly FieldSpec[]
  readonly commonLabels: readonly FieldSpec[]
  /** Reached by every entry of `labels`. */
  readonly labels: readonly FieldSpec[]
  readonly templateLabels: readonly FieldSpec[]
  readonly volumeClaimTemplateLabels: readonly FieldSpec[]
  readonly commonAnnotations: readonly FieldSpec[]
  readonly replicas: readonly FieldSpec[]
  readonly images: readonly FieldSpec[]
  readonly varReference: readonly FieldSpec[]
  readonly nameReference: readonly ReferenceTable[]
}

export const BUILT_IN: Configuration = {
  namespace: NAMESPACES,
  commonLabels: SELECTOR_LABELS,
  labels: [],
  templateLabels: TEMPLATE_LABELS,
  volumeClaimTemplateLabels: CLAIM_TEMPLATE_LABELS,
  commonAnnotations: ANNOTATIONS,
  replicas: REPLICAS,
  images: [],
  varReference: VARIABLES,
  nameReference: REFERENCES,
}

const specs = z
  .array(
    z.strictObject({
      path: z.string().min(1).max(500),
      group: z.string().optional(),
      version: z.string().optional(),
      kind: z.string().optional(),
      create: z.boolean().optional(),
    }),
  )
  .max(5000)
  .nullish()

/** A file that `configurations` names. Other names for names (`namePrefix`, `nameSuffix`) are not followed. */
export const configurationSchema = z.strictObject({
  namespace: specs,
  commonLabels: specs,
  labels: specs,
  templateLabels: specs,
  volumeClaimTemplateLabels: specs,
  commonAnnotations: specs,
  replicas: specs,
  images: specs,
  varReference: specs,
  nameReference: z
    .array(
      z.strictObject({
        kind: z.string().min(1),
        group: z.string().optional(),
        version: z.string().optional(),
        fieldSpecs: specs,
      }),
    )
    .max(5000)
    .nullish(),
})

/** Merges two configurations without duplicates. */
export function joined(base: Configuration, more: z.output<typeof configurationSchema> | Configuration): Configuration {
  const both = (name: Exclude<keyof Configuration, 'nameReference'>): readonly FieldSpec[] =>
    unique([...base[name], ...((more[name] ?? []) as readonly FieldSpec[])])
  const tables = (more.nameReference ?? []).map((table): ReferenceTable => {
    if ('fields' in table) return table
    const { fieldSpecs, ...kind } = table
    return { ...(kind as ReferenceTable), fields: (fieldSpecs ?? []) as readonly FieldSpec[] }
  })
  return {
    namespace: both('namespace'),
    commonLabels: both('commonLabels'),
    labels: both('labels'),
    templateLabels: both('templateLabels'),
    volumeClaimTemplateLabels: both('volumeClaimTemplateLabels'),
    commonAnnotations: both('commonAnnotations'),
    replicas: both('replicas'),
    images: both('images'),
    varReference: both('varReference'),
    nameReference: unique([...base.nameReference, ...tables]),
  }
}

function unique<T>(rows: readonly T[]): readonly T[] {
  return [...new Map(rows.map((row) => [JSON.stringify(row), row])).values()]
}
