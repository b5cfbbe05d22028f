import { celProblem } from '../lib/cel.ts'
import { expandAddon, expandingAddon } from './addon/expand.ts'
import { handoverProblems } from './addon/handover.ts'
import { sizeOf } from './addon/objects.ts'
import { PRESETS } from './addon/presets/registry.ts'
import { type AddonSpec, addonSchema } from './addon/schema.ts'
import { annotatedPolicy, checkAnnotations } from './fields/annotations.ts'
import { explain } from './fields/explain.ts'
import type { FieldProblem, Kind } from './kind.ts'

/** Something that a cluster is to have: a chart, manifests, or one of the presets. */
export const addon: Kind<AddonSpec> = {
  kind: 'Addon',
  apiVersion: 'croft.dev/v1alpha1',
  accepts: (apiVersion) => apiVersion === 'croft.dev/v1alpha1',
  plural: 'addons',
  shortNames: ['add-on'],
  summary: 'Something that a cluster is to have: a chart, manifests, or one of the presets.',
  schema: addonSchema,
  check(spec, manifest) {
    const problems: FieldProblem[] = [...checkAnnotations(manifest), ...handoverProblems(spec)]
    const { preset, chart, chartConfig, objects, path, url, oci, git } = spec
    const sources = [preset, chart, chartConfig, objects, path, url, oci, git].filter((one) => one !== undefined)
    if (sources.length === 0 && (spec.secrets ?? []).length === 0) {
      const message = 'one of preset, chart, chartConfig, objects, path, url, oci, git and secrets says what it is'
      problems.push({ code: 'no-source', path: ['spec'], message })
    }
    if (preset !== undefined && chart !== undefined) {
      const message = 'a preset has a chart of its own'
      problems.push({ code: 'two-sources', path: ['spec', 'chart'], message, hint: 'use one of the two' })
    }
    if (preset === undefined) {
      for (const field of ['with', 'version', 'values', 'valuesFrom', 'failurePolicy', 'install'] as const)
        if (spec[field] !== undefined)
          problems.push({
            code: 'no-preset',
            path: ['spec', field],
            message: `${field} belongs to a preset, and none is named`,
            ...(chart === undefined || field === 'with' ? {} : { hint: `of a chart it is chart.${field}` }),
          })
    } else {
      const read = PRESETS[preset].fields.safeParse(spec.with ?? {})
      if (!read.success)
        problems.push(...explain(PRESETS[preset].fields, read.error, spec.with ?? {}, ['spec', 'with']))
    }
    if (preset !== undefined && PRESETS[preset].chart === undefined)
      for (const field of ['values', 'valuesFrom', 'failurePolicy', 'install'] as const)
        if (spec[field] !== undefined)
          problems.push({
            code: 'no-chart',
            path: ['spec', field],
            message: `${preset} is not a chart, so nothing reads ${field}`,
            hint: `set the fields of with: ${Object.keys(PRESETS[preset].example).join(', ')}`,
          })
    spec.ready.forEach(({ expression }, index) => {
      const wrong = celProblem(expression)
      if (wrong === undefined) return
      problems.push({ code: 'bad-expression', path: ['spec', 'ready', index, 'expression'], message: wrong })
    })
    if (chart?.git !== undefined)
      for (const field of ['repo', 'name', 'version', 'bootstrap'] as const)
        if (chart[field] !== undefined && chart[field] !== false)
          problems.push({
            code: 'two-sources',
            path: ['spec', 'chart', field],
            message: `git says where the chart is, and ${field} is for a chart of a repository`,
            hint: `leave ${field} out`,
          })
    if (chart !== undefined && chart.git === undefined)
      for (const field of ['name', 'version'] as const)
        if (chart[field] === undefined)
          problems.push({
            code: 'missing-field',
            path: ['spec', 'chart'],
            message: `chart.${field} is missing`,
            hint: `set ${field}, or git for a chart in a Git repository`,
          })
    if (
      chart?.name !== undefined &&
      chart.git === undefined &&
      chart.repo === undefined &&
      !chart.name.startsWith('oci://')
    ) {
      const message = 'a chart is found in a repository, or its name begins with oci://'
      problems.push({ code: 'no-repository', path: ['spec', 'chart'], message, hint: 'set repo' })
    }
    return problems
  },
  policy: (_spec, manifest) => annotatedPolicy(manifest),
  size: sizeOf,
  expanding: expandingAddon,
  expand: expandAddon,
}
