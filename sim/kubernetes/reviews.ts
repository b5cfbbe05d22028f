import type { WireRequest, WireResponse } from '../../src/lib/wire.ts'
import { bodyOf } from './body.ts'
import type { ApiCall, Caller } from './call.ts'
import { tree } from './object.ts'
import { json } from './status.ts'

/** Questions that are asked by creating something that is never kept: who am I, may I. */
export function review(
  request: WireRequest,
  { resource }: Pick<ApiCall, 'resource'>,
  caller: Caller,
): WireResponse | undefined {
  if (request.method !== 'POST' || !/^(authentication|authorization)\.k8s\.io$/.test(resource.group)) return undefined
  const body = tree(bodyOf(request))
  const apiVersion = `${resource.group}/${resource.version}`
  const status =
    resource.kind === 'SelfSubjectReview'
      ? { userInfo: { username: caller.user, groups: caller.groups } }
      : resource.kind === 'SelfSubjectRulesReview'
        ? {
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
            nonResourceRules: [],
            incomplete: false,
          }
        : { allowed: caller.groups.includes('system:masters') }
  return json(201, `${JSON.stringify({ ...body, kind: resource.kind, apiVersion, metadata: {}, status })}\n`)
}
