import type { FieldProblem } from '../../kinds/kind.ts'
import { nearest } from '../../lib/nearest.ts'
import type { ApiReader, DefinedApi } from './api.ts'

/** An object's apiVersion and kind. Empty: missing. */
interface ApiNames {
  readonly apiVersion: string
  readonly kind: string
}

const MOST_SLIPS = 2

/**
 * Reports a definition or an instance whose apiVersion or kind is almost right. Otherwise it would count as a foreign
 * document, and its objects would be missing as if a user had removed them.
 */
export function slipIn(
  { apiVersion, kind }: ApiNames,
  apis: readonly Pick<DefinedApi, 'apiVersion' | 'kind'>[],
  readers: readonly Pick<ApiReader, 'group' | 'kinds'>[],
): FieldProblem | undefined {
  if (apis.some((api) => api.apiVersion === apiVersion && api.kind === kind)) return undefined
  const group = apiVersion.split('/')[0] ?? ''
  if (kind === '' && readers.some((one) => one.group === group)) return slip('kind', 'kind is missing')
  const reader = readers.find(
    (one) =>
      one.kinds.includes(kind) && group !== one.group && (isSlipOf(group, one.group) || group.startsWith(one.group)),
  )
  if (reader !== undefined) return slip('apiVersion', `${kind} is a kind of ${reader.group}, not of ${group}`)
  const version = apis.find((api) => api.kind === kind && (apiVersion === '' || isSlipOf(apiVersion, api.apiVersion)))
  if (version !== undefined)
    return slip('apiVersion', `${kind} is defined in ${version.apiVersion}, not in ${apiVersion || 'an empty group'}`)
  const meant = apis.find(({ apiVersion: version, kind: known }) =>
    kind === ''
      ? apiVersion === version || isSlipOf(apiVersion, version)
      : apiVersion === version && isSlipOf(kind, known),
  )
  if (meant === undefined) return undefined
  return slip('kind', `nothing here defines ${kind || 'an object without a kind'} of ${apiVersion}`, meant.kind)
}

/** Reports an unreadable text that names the group of one of these APIs: it may be an instance with a mistake. */
export function brokenInstance(
  text: string,
  note: string,
  apis: readonly Pick<DefinedApi, 'apiVersion'>[],
): FieldProblem | undefined {
  const api = apis.find(({ apiVersion }) => text.includes(`${apiVersion.split('/')[0]}/`))
  if (api === undefined) return undefined
  const message = `this names ${api.apiVersion.split('/')[0]}, which is defined here, and cannot be read: ${note}`
  return { code: 'yaml-syntax', path: [], message, hint: 'correct it, or name the file in .croftignore' }
}

function isSlipOf(written: string, meant: string): boolean {
  return written !== meant && nearest(written, [meant], MOST_SLIPS) !== undefined
}

function slip(field: string, message: string, meant?: string): FieldProblem {
  const hint = meant === undefined ? `correct ${field}` : `did you mean ${meant}?`
  return { code: field === 'kind' ? 'unknown-kind' : 'unknown-version', path: [field], message, hint }
}
