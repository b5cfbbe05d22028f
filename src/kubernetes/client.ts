import { cleanText } from '../lib/clean-text.ts'
import { parseForeignJson } from '../lib/foreign-json.ts'
import { type Wire, WireFailure, type WireRequest } from '../lib/wire.ts'
import { translate } from './api-errors.ts'
import type { Asked, Listed, ListOptions, MeasuredAnswer } from './asked.ts'
import { type Foreign, isRecord, recordOf } from './objects.ts'
import { JSON_TYPE, readPages } from './read-pages.ts'

export type { Asked, Listed, ListOptions } from './asked.ts'

/** A thin client of one Kubernetes API: callers give paths, errors are translated, nothing is retried or cached. */
export interface KubernetesClient {
  get(path: string, signal?: AbortSignal): Promise<Asked<Foreign>>
  /** All pages. */
  list(path: string, options?: ListOptions, signal?: AbortSignal): Promise<Asked<readonly Foreign[]>>
  /** Lists with the version from which to watch. */
  listFrom(path: string, options?: ListOptions, signal?: AbortSignal): Promise<Asked<Listed>>
  create(path: string, body: Foreign, doing: string, signal?: AbortSignal): Promise<Asked<Foreign>>
  /** Merge patch: null takes a key away. */
  merge(path: string, patch: Foreign, doing: string, signal?: AbortSignal): Promise<Asked<Foreign>>
  /** Server-side apply as `croft`. */
  apply(path: string, object: Foreign, doing: string, signal?: AbortSignal): Promise<Asked<Foreign>>
  /** Server-side apply; the path has the field manager, and whether to take fields from others. */
  applyAs(path: string, object: Foreign, doing: string, signal?: AbortSignal): Promise<Asked<Foreign>>
  delete(path: string, doing: string, options?: Foreign, signal?: AbortSignal): Promise<Asked<Foreign>>
  evict(namespace: string, pod: string, signal?: AbortSignal): Promise<Asked<Foreign>>
  /** Text that comes bit by bit and may not end: a log. */
  text(path: string, onText: (text: string) => void, signal: AbortSignal): Promise<Asked<undefined>>
  close(): Promise<void>
}

export function createKubernetesClient(wire: Wire): KubernetesClient {
  async function ask(request: WireRequest, doing: string, signal: AbortSignal | undefined): Promise<MeasuredAnswer> {
    try {
      const { status, body } = await wire.send(request, signal)
      const parsed = parse(body)
      if (status >= 200 && status < 300) {
        if (isRecord(parsed)) return { is: 'answer', value: parsed, length: body.length }
        return {
          is: 'silence',
          sent: 'maybe',
          code: 'ERR_NOT_JSON',
          message: `no JSON that croft reads came for: ${doing}`,
        }
      }
      return { is: 'error', status, body: parsed, refusal: translate({ status, body: parsed, doing }) }
    } catch (error) {
      if (!(error instanceof WireFailure)) throw error
      return { is: 'silence', sent: error.sent, code: error.code, message: cleanText(error.message) }
    }
  }

  const write = (
    method: string,
    path: string,
    body: Foreign,
    doing: string,
    signal: AbortSignal | undefined,
    type: string = JSON_TYPE,
  ) =>
    ask(
      { method, path, headers: { accept: JSON_TYPE, 'content-type': type }, body: JSON.stringify(body) },
      doing,
      signal,
    )

  const read = (path: string, accept: string, signal: AbortSignal | undefined) =>
    ask({ method: 'GET', path, headers: { accept } }, `read ${path}`, signal)

  return {
    get: (path, signal) => read(path, JSON_TYPE, signal),
    async list(path, options, signal) {
      const listed = await readPages(read, path, options, signal)
      return listed.is === 'answer' ? { is: 'answer', value: listed.value.items } : listed
    },
    listFrom: (path, options, signal) => readPages(read, path, options, signal),
    create: (path, body, doing, signal) => write('POST', path, body, doing, signal),
    merge: (path, patch, doing, signal) => write('PATCH', path, patch, doing, signal, 'application/merge-patch+json'),
    apply: (path, object, doing, signal) =>
      write(
        'PATCH',
        `${path}?fieldManager=croft&force=true`,
        object,
        doing,
        signal,
        // JSON is YAML; this type is the one that every server knows.
        'application/apply-patch+yaml',
      ),
    applyAs: (path, object, doing, signal) =>
      write('PATCH', path, object, doing, signal, 'application/apply-patch+yaml'),
    delete: (path, doing, options, signal) => write('DELETE', path, recordOf(options), doing, signal),
    evict: (namespace, pod, signal) =>
      write(
        'POST',
        `/api/v1/namespaces/${segment(namespace)}/pods/${segment(pod)}/eviction`,
        { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: pod, namespace } },
        `evict ${namespace}/${pod}`,
        signal,
      ),
    async text(path, onText, signal) {
      const request = { method: 'GET', path, headers: { accept: '*/*' } }
      try {
        const answer = await (wire.stream?.(request, onText, signal) ?? wire.send(request, signal))
        if (answer.status !== 200) {
          const body = parse(answer.body)
          const refusal = translate({ status: answer.status, body, doing: `read ${path.split('?')[0]}` })
          return { is: 'error', status: answer.status, body, refusal }
        }
        if (answer.body !== '') onText(answer.body)
        return { is: 'answer', value: undefined }
      } catch (error) {
        if (!(error instanceof WireFailure)) throw error
        return { is: 'silence', sent: error.sent, code: error.code, message: cleanText(error.message) }
      }
    },
    close: () => wire.close(),
  }
}

/** Escapes a name as one segment of a path. */
export function segment(name: string): string {
  return encodeURIComponent(name)
}

function parse(body: string): unknown {
  try {
    return parseForeignJson(body)
  } catch {
    return body
  }
}
