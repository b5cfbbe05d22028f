import { z } from 'zod'
import type { Declaration } from '../../model/declaration.ts'
import { labelKey, labels } from '../cluster/node-schema.ts'
import { secretReference } from '../fields/ssh.ts'
import { line, logicalName, matching, objectName, webUrl } from '../fields/text.ts'
import { freeText } from '../settings/field-schema.ts'
import { PRESET_NAMES } from './presets/registry.ts'

/** Goes to the API of a cluster as JSON and to no shell: it may be anything that YAML can say. */
const tree = z.record(line.clone().max(253).register(freeText, { free: true }), z.unknown())

const version = matching(
  /^v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:[-+][0-9A-Za-z.-]+)?$/,
  'one exact version, like 1.18.4 or v1.19.1',
  100,
)

const chartName = matching(
  /^(?:oci:\/\/[a-z0-9.-]+(?::[0-9]+)?(?:\/[a-z0-9._-]+)+|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)$/,
  'the name of a chart, or oci://registry/path/name',
  300,
)

const secretKey = matching(/^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/, 'the name of a key in a Secret', 253)

const repositoryPath = matching(
  /^(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/,
  'a file or directory of this repository, like addons/dns',
  500,
)

/** The text of a condition over an object. It is read by an evaluator that knows no effects. */
const expression = line.clone().register(freeText, { free: true })

/** A failed release stays for a person to look at, or is removed and reinstalled. */
const failurePolicy = z.enum(['abort', 'reinstall'])

/** On a cluster that croft does not run: croft applies the objects of the chart, or the person's Helm installs it. */
const install = z.enum(['apply', 'helm'])

const gitPlace = z.strictObject({
  url: webUrl,
  commit: matching(/^[0-9a-f]{40}$/, 'a whole commit: 40 digits, as git rev-parse prints them'),
  path: repositoryPath,
})

const chart = z.strictObject({
  repo: webUrl.optional(),
  name: chartName.optional(),
  version: version.optional(),
  git: gitPlace.optional(),
  values: tree.optional(),
  valuesFrom: secretReference.optional(),
  bootstrap: z.boolean().default(false),
  failurePolicy: failurePolicy.default('abort'),
  install: install.optional(),
})

const gitRevision = matching(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, 'a branch, a tag or a commit', 200)
const span = matching(/^[0-9]{1,6}[smh]?$/, 'a time like 5s or 3m', 10)

/** How the agent syncs, in Argo CD's terms. */
const sync = z.strictObject({
  prune: z.boolean().default(false),
  selfHeal: z.boolean().default(true),
  retry: z
    .strictObject({
      limit: z.int().min(-1).max(100),
      backoff: z
        .strictObject({
          duration: span.optional(),
          factor: z.int().min(1).max(10).optional(),
          maxDuration: span.optional(),
        })
        .optional(),
    })
    .optional(),
  options: z
    .array(matching(/^[A-Za-z]+=[A-Za-z]+$/, 'an option like CreateNamespace=true', 100))
    .max(20)
    .default([]),
})

/** Fields that the agent leaves to others. */
const ignoredDifference = z.strictObject({
  group: matching(/^(?:[a-z0-9][a-z0-9.-]*)?$/, 'a group of the API, like apps', 253).optional(),
  kind: matching(/^(?:[A-Z][A-Za-z0-9]*|\*)$/, 'a kind, like Deployment', 100),
  name: objectName.optional(),
  namespace: logicalName.optional(),
  jsonPointers: z.array(expression).max(50).optional(),
  jqPathExpressions: z.array(expression).max(50).optional(),
  managedFieldsManagers: z.array(expression).max(50).optional(),
})

const handover = z.strictObject({
  to: z.enum(['argocd', 'flux']),
  repository: webUrl.optional(),
  path: repositoryPath.optional(),
  revision: gitRevision.default('main'),
  project: objectName.default('default'),
  namespace: logicalName.optional(),
  values: z
    .strictObject({
      repository: webUrl,
      revision: gitRevision.default('main'),
      files: z.array(repositoryPath).min(1).max(20),
    })
    .optional(),
  sync: sync.optional(),
  ignoreDifferences: z.array(ignoredDifference).max(50).optional(),
})

export const addonSchema = z.strictObject({
  description: line.optional(),
  cluster: objectName,
  namespace: logicalName.optional(),
  createNamespace: z.boolean().default(true),
  preset: z.enum(PRESET_NAMES).optional(),
  version: version.optional(),
  with: tree.optional(),
  values: tree.optional(),
  valuesFrom: secretReference.optional(),
  failurePolicy: failurePolicy.optional(),
  install: install.optional(),
  chart: chart.optional(),
  skipHooks: z.array(objectName).max(50).default([]),
  chartConfig: z.strictObject({ name: objectName, values: tree }).optional(),
  objects: z.array(tree).max(500).optional(),
  path: repositoryPath.optional(),
  url: z
    .strictObject({
      url: webUrl,
      sha256: matching(/^[0-9a-f]{64}$/, '64 digits, as sha256sum prints them'),
    })
    .optional(),
  oci: matching(
    /^[a-z0-9.-]+(?::[0-9]+)?(?:\/[a-z0-9._-]+)+@sha256:[0-9a-f]{64}$/,
    'an artifact pinned by its digest, like ghcr.io/me/manifests@sha256:…',
    400,
  ).optional(),
  git: gitPlace.optional(),
  secrets: z
    .array(
      z.strictObject({
        name: objectName,
        namespace: logicalName.optional(),
        type: matching(/^[A-Za-z][A-Za-z0-9./-]*$/, 'a type of Secret, like Opaque or kubernetes.io/tls', 100).default(
          'Opaque',
        ),
        labels: labels.optional(),
        annotations: z.record(labelKey, line.clone().register(freeText, { free: true })).optional(),
        data: z.record(secretKey, secretReference),
      }),
    )
    .max(100)
    .optional(),
  needs: z.array(objectName).max(50).default([]),
  ready: z
    .array(
      z.strictObject({
        kind: matching(/^[A-Z][A-Za-z0-9]*$/, 'a kind, like Deployment', 100),
        name: objectName,
        namespace: logicalName.optional(),
        expression,
      }),
    )
    .max(50)
    .default([]),
  prune: z.enum(['safe', 'all', 'none']).default('safe'),
  drift: z.enum(['correct', 'report', 'ignore']).optional(),
  adopt: z.boolean().default(false),
  force: z.boolean().default(false),
  handover: handover.optional(),
})

export type AddonSpec = z.output<typeof addonSchema>
/** A chart with a name and a version, from any source. */
export type ChartFields = z.output<typeof chart> & { readonly name: string; readonly version: string }
export type HandoverFields = z.output<typeof handover>

export type AddonDeclaration = Declaration<AddonSpec>
