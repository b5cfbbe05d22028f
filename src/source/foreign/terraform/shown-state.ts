import { isFields } from '../../manifest.ts'
import type { Fields, NotCarried } from '../reading.ts'
import { wordOf } from './attributes.ts'

/** Resources as in a state of version 4, and the names of missing ones. */
export interface StateResources {
  readonly resources: readonly Fields[]
  readonly absent: readonly NotCarried[]
}

/**
 * Reads the output of `show -json` for a state or a saved plan. Of a plan, only the prior state counts: planned objects
 * do not exist yet and cannot be adopted.
 */
export function shownState(shown: Fields): StateResources | undefined {
  if (typeof shown.format_version !== 'string') return undefined
  const prior = isFields(shown.prior_state) ? shown.prior_state : shown
  const planned = isFields(shown.planned_values) ? shown.planned_values : undefined
  if (!isFields(prior.values) && planned === undefined) return undefined
  const resources = resourcesIn(isFields(prior.values) ? prior.values.root_module : undefined)
  const there = new Set(resources.map(addressOf))
  const absent = resourcesIn(planned?.root_module)
    .filter((one) => one.mode === 'managed' && !there.has(addressOf(one)))
    .map((one) => ({
      what: addressOf(one),
      why: 'the plan only says that it will be made: apply it, or write a manifest',
    }))
  return { resources: resources.map(asInState), absent }
}

function addressOf(resource: Fields): string {
  return wordOf(resource.address) ?? ''
}

function resourcesIn(module: unknown): readonly Fields[] {
  if (!isFields(module)) return []
  const list = (field: string) => {
    const value = module[field]
    return Array.isArray(value) ? value.filter(isFields) : []
  }
  const own = list('resources').map((one) => ({ ...one, module: module.address }))
  return [...own, ...list('child_modules').flatMap(resourcesIn)]
}

/** Returns one instance; `show` calls the attributes values, and marks sensitive ones in a separate tree. */
function asInState({
  mode,
  type,
  name,
  module,
  provider_name,
  index,
  values,
  sensitive_values,
  deposed_key,
}: Fields): Fields {
  const sensitive = isFields(sensitive_values) ? Object.keys(sensitive_values) : []
  return {
    mode,
    type,
    name,
    module,
    provider: provider_name,
    instances: [
      {
        attributes: values,
        index_key: index,
        ...(deposed_key === undefined ? {} : { deposed: deposed_key }),
        sensitive_attributes: sensitive
          .filter((one) => isFields(sensitive_values) && sensitive_values[one] === true)
          .map((value) => [{ type: 'get_attr', value }]),
      },
    ],
  }
}
