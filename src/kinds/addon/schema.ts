import { z } from 'zod'
import type { Declaration } from '../../model/declaration.ts'
import { labelKey, labels } from '../cluster/node-schema.ts'
import { secretReference } from '../fields/ssh.ts'
import { line, logicalName, objectName, webUrl } from '../fields/text.ts'
import { freeText } from '../settings/field-schema.ts'
import { PRESET_NAMES } from './presets/registry.ts'

/** Goes to the API of a cluster as JSON and to no shell: it may be anything that YAML can say. */
const tree = z.record(line.clone().max(253).register(freeText, { free: true }), z.unknown())

const version = z
  .string()
  .max(100)
  .regex(/^v?[0-9]+\.[0-9]+(?:\.[0-9]+)?(?:[-+][0-9A-Za-z.-]+)?$/, {
    error: 'one exact version, like 1.18.4 or v1.19.1',
  })

const chartName = z
  .string()
  .max(300)
  .regex(/^(?:oci:\/\/[a-z0-9.-]+(?::[0-9]+)?(?:\/[a-z0-9._-]+)+|[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)$/, {
    error: 'the name of a chart, or oci://registry/path/name',
  })

const secretKey = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/, { error: 'the name of a key in a Secret' })

const repositoryPath = z
  .string()
  .max(500)
  .regex(/^(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)*$/, {
    error: 'a file or directory of this repository, like addons/dns',
  })

/** The text of a condition over an object. It is read by an evaluator that knows no effects. */
const expression = line.clone().register(freeText, { free: true })

/** What becomes of a release that failed: it stays for a person to look at, or it is taken away and installed anew. */
const failurePolicy = z.enum(['abort', 'reinstall'])

const chart = z.strictObject({
  /** Address of the chart's repository; none for oci:// and for charts that K3s brings. */
  repo: webUrl.optional(),
  name: chartName,
  version,
  values: tree.optional(),
  /** A secret whose value is a YAML document of further values. */
  valuesFrom: secretReference.optional(),
  /** Installed while no node is ready yet: for what nodes themselves wait for. */
  bootstrap: z.boolean().default(false),
  failurePolicy: failurePolicy.default('abort'),
})

const handover = z.strictObject({
  to: z.enum(['argocd', 'flux']),
  /** Where the other finds it; not needed for a chart. */
  repository: webUrl.optional(),
  path: repositoryPath.optional(),
  revision: z
    .string()
    .max(200)
    .regex(/^[A-Za-z0-9][A-Za-z0-9._/-]*$/, { error: 'a branch, a tag or a commit' })
    .default('main'),
  project: objectName.default('default'),
  /** Where the agent lives. */
  namespace: logicalName.optional(),
})

export const addonSchema = z.strictObject({
  description: line.optional(),
  cluster: objectName,
  namespace: logicalName.optional(),
  createNamespace: z.boolean().default(true),
  preset: z.enum(PRESET_NAMES).optional(),
  /** Another version than the preset's own. */
  version: version.optional(),
  /** Settings of the preset. */
  with: tree.optional(),
  /** Further values for the chart of the preset, over its own. */
  values: tree.optional(),
  /** A secret whose value is a YAML document of further values for the chart of the preset. */
  valuesFrom: secretReference.optional(),
  failurePolicy: failurePolicy.optional(),
  chart: chart.optional(),
  /** Hooks of the chart, by name, that need not run: on a cluster without K3s' Helm controller. */
  skipHooks: z.array(objectName).max(50).default([]),
  /** Values for a chart that K3s itself brings: traefik, coredns. */
  chartConfig: z.strictObject({ name: objectName, values: tree }).optional(),
  objects: z.array(tree).max(500).optional(),
  /** A file of manifests, a directory of them, or a directory with a kustomization. */
  path: repositoryPath.optional(),
  url: z
    .strictObject({
      url: webUrl,
      sha256: z.string().regex(/^[0-9a-f]{64}$/, { error: '64 digits, as sha256sum prints them' }),
    })
    .optional(),
  oci: z
    .string()
    .max(400)
    .regex(/^[a-z0-9.-]+(?::[0-9]+)?(?:\/[a-z0-9._-]+)+@sha256:[0-9a-f]{64}$/, {
      error: 'an artifact pinned by its digest, like ghcr.io/me/manifests@sha256:…',
    })
    .optional(),
  /** A file or directory of another repository, at one commit. */
  git: z
    .strictObject({
      url: webUrl,
      commit: z.string().regex(/^[0-9a-f]{40}$/, { error: 'a whole commit: 40 digits, as git rev-parse prints them' }),
      path: repositoryPath,
    })
    .optional(),
  /** Secrets of the cluster whose values are only referred to. */
  secrets: z
    .array(
      z.strictObject({
        name: objectName,
        namespace: logicalName.optional(),
        type: z
          .string()
          .max(100)
          .regex(/^[A-Za-z][A-Za-z0-9./-]*$/, { error: 'a type of Secret, like Opaque or kubernetes.io/tls' })
          .default('Opaque'),
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
        kind: z
          .string()
          .max(100)
          .regex(/^[A-Z][A-Za-z0-9]*$/, { error: 'a kind, like Deployment' }),
        name: objectName,
        namespace: logicalName.optional(),
        expression,
      }),
    )
    .max(50)
    .default([]),
  prune: z.enum(['safe', 'all', 'none']).default('safe'),
  drift: z.enum(['correct', 'report', 'ignore']).optional(),
  /** Take over objects that are there already. */
  adopt: z.boolean().default(false),
  /** Take fields from whoever keeps them. */
  force: z.boolean().default(false),
  handover: handover.optional(),
})

export type AddonSpec = z.output<typeof addonSchema>
export type ChartFields = z.output<typeof chart>
export type HandoverFields = z.output<typeof handover>

export type AddonDeclaration = Declaration<AddonSpec>
