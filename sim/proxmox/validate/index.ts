import { checkParams, withLists } from './check.ts'
import { findOperation, operationsOfPath } from './operations.ts'

export { checkParams, withLists } from './check.ts'
export { findOperation, type Operation, operationsOfPath } from './operations.ts'
export { type Asker, allowed, type Permission, permissionOf, refusesToken } from './permissions.ts'

/**
 * What a real API would have against a request, one sentence each; empty when it would take it.
 * `path` may carry `/api2/json` and a query; query and body parameters are taken together.
 */
export function checkRequest(method: string, path: string, params: Readonly<Record<string, unknown>> = {}): string[] {
  const url = new URL(path, 'https://localhost')
  const bare = decodeURIComponent(url.pathname.replace(/^\/api2\/(?:json|extjs)(?=\/|$)/, ''))
  const found = findOperation(method, bare)
  if (!found) {
    const others = operationsOfPath(bare).map((operation) => operation.method)
    return [
      others.length === 0
        ? `no such path: ${bare}`
        : `no such method: ${method} ${bare} (there is ${others.join(', ')})`,
    ]
  }
  const all = { ...Object.fromEntries(url.searchParams), ...params, ...found.pathParams }
  const checked = checkParams(found.operation, withLists(found.operation, all))
  return 'errors' in checked ? Object.entries(checked.errors).map(([name, why]) => `${name}: ${why.trimEnd()}`) : []
}
