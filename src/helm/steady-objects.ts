import type { RenderedObject, Rendering } from '../drivers/chart-port.ts'
import { isRecord } from '../lib/is-record.ts'

/** Returns a chart's objects if their rendering is reproducible, or why it is not. Pure. */
export function steadyObjects(
  rendering: Rendering,
  chart: string,
): { readonly objects: readonly unknown[] } | { readonly problem: string; readonly hint?: string } {
  switch (rendering.is) {
    case 'no-helm':
      return {
        problem: `croft needs Helm to render the chart ${chart}, and there is no program helm here`,
        hint: 'install Helm, or name its program in CROFT_HELM',
      }
    case 'failed':
      return { problem: `the chart ${chart} could not be rendered: ${rendering.message}` }
    case 'objects': {
      const changing = unsteady(rendering.objects, rendering.again ?? rendering.objects)
      if (changing.length === 0) return { objects: rendering.objects }
      return {
        problem: `the chart ${chart} makes something else each time it is rendered: ${changing.slice(0, 5).join(', ')}`,
        hint: 'its templates make a password or certificate: give it one of your own by its values',
      }
    }
  }
}

function unsteady(first: readonly RenderedObject[], second: readonly RenderedObject[]): readonly string[] {
  if (first.length !== second.length) return ['the number of its objects']
  return first.flatMap((one, index) => {
    const { metadata } = one
    const name = isRecord(metadata) ? String(metadata.name) : ''
    return JSON.stringify(one) === JSON.stringify(second[index]) ? [] : [`${String(one.kind)} ${name}`]
  })
}
