import type { WireResponse } from '../../src/lib/wire.ts'
import { type ApiResource, resources } from './catalogue.ts'
import { json } from './status.ts'
import type { Store } from './store.ts'

/** The older description, in the only form that older clients read: a document that names nothing. */
export function openApiV2(): WireResponse {
  const field = (tag: number, text: string) => String.fromCharCode(tag, text.length) + text
  const info = field(0x0a, 'Kubernetes') + field(0x12, 'sim')
  const body = field(0x0a, '2.0') + field(0x12, info) + field(0x42, '')
  return json(200, body, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
}

/** As much of the description of the API as clients need to learn that the server checks fields by itself. */
export function openApi(store: Store, path: string): WireResponse {
  const all = resources(store)
  const placeOf = (group: string, version: string) => (group === '' ? `api/${version}` : `apis/${group}/${version}`)
  if (path === '/openapi/v3') {
    const places = [...new Set(all.map(({ group, version }) => placeOf(group, version)))]
    const paths = Object.fromEntries(places.map((place) => [place, { serverRelativeURL: `/openapi/v3/${place}` }]))
    return json(200, JSON.stringify({ paths }))
  }
  const place = path.slice('/openapi/v3/'.length)
  const here = all.filter(({ group, version }) => placeOf(group, version) === place)
  if (here.length === 0) return json(404, '404 page not found\n', 'text/plain; charset=utf-8')
  const parameters = ['dryRun', 'fieldManager', 'fieldValidation', 'force'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }))
  const paths = Object.fromEntries(
    here.map(({ group, kind, namespaced, plural, version }) => [
      `/${place}/${namespaced ? 'namespaces/{namespace}/' : ''}${plural}/{name}`,
      { patch: { parameters, responses: {}, 'x-kubernetes-group-version-kind': { group, version, kind } } },
    ]),
  )
  const schemas = Object.fromEntries(
    here.map((resource) => [`${resource.version}.${resource.kind}`, schemaOf(resource)]),
  )
  const info = { title: 'Kubernetes', version: 'sim' }
  return json(200, JSON.stringify({ openapi: '3.0.0', info, paths, components: { schemas } }))
}

const NOT_KEPT = 'The simulator keeps no description of single fields: ask a real cluster.'

/** The schema that `kubectl explain` shows: the kind exists, without known fields. */
function schemaOf({ group, version, kind }: ApiResource): unknown {
  const part = { type: 'object', description: NOT_KEPT }
  return {
    description: NOT_KEPT,
    type: 'object',
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: part,
      spec: part,
      status: part,
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind }],
  }
}
