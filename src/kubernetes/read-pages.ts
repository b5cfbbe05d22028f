import { LIMITS } from '../lib/limits.ts'
import type { Asked, Listed, ListOptions, MeasuredAnswer } from './asked.ts'
import { at, type Foreign, nameOf, recordsOf } from './objects.ts'

export const JSON_TYPE = 'application/json'
const METADATA = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json'
const PAGE = 500
/** Factor by which a page that was too large shrinks, down to one object. */
const SMALLER = 5

type ReadPage = (path: string, accept: string, signal: AbortSignal | undefined) => Promise<MeasuredAnswer>

/** Reads all pages of a list. The version is that of the first page: a watch from there repeats what later pages may show. */
export async function readPages(
  read: ReadPage,
  path: string,
  options: ListOptions = {},
  signal?: AbortSignal,
): Promise<Asked<Listed>> {
  const items: Foreign[] = []
  let resourceVersion = ''
  let length = 0
  const query = new URLSearchParams({ limit: String(PAGE) })
  if (options.fieldSelector !== undefined) query.set('fieldSelector', options.fieldSelector)
  if (options.labelSelector !== undefined) query.set('labelSelector', options.labelSelector)
  const accept = options.metadataOnly === true ? METADATA : JSON_TYPE
  let page = PAGE
  for (let pages = 1; ; pages++) {
    const asked = await read(`${path}?${query.toString()}`, accept, signal)
    if (asked.is === 'silence' && asked.code === 'ERR_BODY_TOO_LARGE' && page > 1) {
      page = Math.max(1, Math.floor(page / SMALLER))
      query.set('limit', String(page))
      continue
    }
    if (asked.is !== 'answer') return asked
    const found = recordsOf(asked.value.items)
    const tooMany = {
      is: 'silence',
      sent: 'no',
      code: 'ERR_TOO_MANY',
      message: `${path} has more than we take`,
    } as const
    length += asked.length
    if (items.length + found.length > LIMITS.surveyEntries || length > LIMITS.listBytes) return tooMany
    // Push one by one: a spread call has a limit of arguments.
    for (const one of found) items.push(one)
    if (pages === 1) resourceVersion = nameOf(at(asked.value, 'metadata', 'resourceVersion')) ?? ''
    const next = at(asked.value, 'metadata', 'continue')
    if (typeof next !== 'string' || next === '') return { is: 'answer', value: { items, resourceVersion, length } }
    // Pages without anything in them could go on for ever.
    if (items.length >= LIMITS.surveyEntries || pages >= LIMITS.listPages) return tooMany
    query.set('continue', next)
  }
}
