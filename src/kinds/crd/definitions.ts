import { describedSpec } from '../json-schema.ts'
import type { Kind } from '../kind.ts'
import { KINDS } from '../registry.ts'
import { structural } from './structural.ts'

type CrdDocument = Readonly<Record<string, unknown>>

const GROUP = 'croft.dev'

/** croft's own kinds as definitions for a Kubernetes API, from the schemas that check files. Pure. */
export function customResourceDefinitions(): readonly CrdDocument[] {
  return KINDS.filter(({ apiVersion }) => apiVersion.startsWith(`${GROUP}/`)).map(definitionOf)
}

function definitionOf(kind: Kind): CrdDocument {
  const { plural, shortNames } = kind
  const version = kind.apiVersion.slice(GROUP.length + 1)
  const spec = structural(describedSpec(kind))
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}`, labels: { 'app.kubernetes.io/part-of': 'croft' } },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular: kind.kind.toLowerCase(),
        shortNames,
        categories: ['croft'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: COLUMNS,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description: kind.summary,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec: { ...spec, description: spec.description ?? kind.summary },
                status: STATUS,
              },
            },
          },
        },
      ],
    },
  }
}

const CONDITION = (type: string, field: string) => `.status.conditions[?(@.type=="${type}")].${field}`

const COLUMNS = [
  { name: 'Synced', type: 'string', jsonPath: CONDITION('Synced', 'status') },
  { name: 'Ready', type: 'string', jsonPath: CONDITION('Ready', 'status') },
  { name: 'Reason', type: 'string', jsonPath: CONDITION('Ready', 'reason') },
  { name: 'Message', type: 'string', jsonPath: CONDITION('Ready', 'message'), priority: 1 },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
]

const STATUS = {
  type: 'object',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64' },
    state: { type: 'string' },
    externalId: { type: 'string' },
    host: { type: 'string' },
    addresses: { type: 'array', items: { type: 'string' } },
    facts: { type: 'object', additionalProperties: { type: 'string' } },
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: { type: 'string', maxLength: 316 },
          status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
          reason: { type: 'string', maxLength: 1024 },
          message: { type: 'string', maxLength: 32_768 },
          lastTransitionTime: { type: 'string', format: 'date-time' },
          observedGeneration: { type: 'integer', format: 'int64' },
        },
      },
    },
  },
}
