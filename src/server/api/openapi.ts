import { z } from 'zod'
import type { Route } from './route.ts'
import * as schemas from './schemas.ts'

type Json = Readonly<Record<string, unknown>>

/** OpenAPI 3.1, from the very definitions that the server answers by. */
export function openApi(routes: readonly Route[], version: string): Json {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const one of routes) {
    paths[one.path] = { ...paths[one.path], [one.method.toLowerCase()]: operation(one) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'croft',
      version,
      description:
        'Reading needs no sign-in. Writing needs an API token (croft token create) or a session with its CSRF token.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/' }],
    paths: { ...paths, ...extraPaths() },
    components: {
      schemas: { Trouble: schemaOf(schemas.trouble, 'output') },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'croft token create' },
        session: { type: 'apiKey', in: 'cookie', name: 'croft_session' },
        csrf: { type: 'apiKey', in: 'header', name: 'X-Croft-Csrf' },
      },
    },
  }
}

function operation({ method, path, summary, scope, input, output }: Route): Json {
  const shape = schemaOf(input, 'input') as { properties?: Json; required?: readonly string[] }
  const reading = method === 'GET'
  const trouble = (description: string) => ({
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Trouble' } } },
  })
  return {
    operationId: `${method.toLowerCase()}${path.replace(/^\/api/, '').replace(/[/.-](\w)/g, (_, c: string) => c.toUpperCase())}`,
    summary,
    ...(scope === 'read' ? {} : { 'x-scope': scope, security: [{ token: [] }, { session: [], csrf: [] }] }),
    ...(reading
      ? {
          parameters: Object.entries(shape.properties ?? {}).map(([name, schema]) => ({
            name,
            in: 'query',
            required: shape.required?.includes(name) === true,
            schema,
          })),
        }
      : { requestBody: { required: true, content: { 'application/json': { schema: shape } } } }),
    responses: {
      200: { description: 'as asked', content: { 'application/json': { schema: schemaOf(output, 'output') } } },
      400: trouble('the request is not well formed'),
      ...(scope === 'read' ? {} : { 401: trouble('not signed in'), 403: trouble('not allowed') }),
      404: trouble('there is no such thing'),
      ...(reading ? {} : { 409: trouble('not at this moment'), 422: trouble('refused, with the reason') }),
    },
  }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' })
  return rest
}

/** What is not JSON in, JSON out. */
function extraPaths(): Json {
  const text = (description: string, type = 'text/plain') => ({
    description,
    content: { [type]: { schema: { type: 'string' } } },
  })
  return {
    '/api/events': {
      get: {
        operationId: 'getEvents',
        summary: 'The live stream: delta, happened and reset, each with an id to resume from',
        parameters: [
          { name: 'after', in: 'query', required: false, schema: { type: 'string' } },
          { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
        ],
        responses: { 200: text('server-sent events', 'text/event-stream') },
      },
    },
    '/hooks/{source}': {
      post: {
        operationId: 'postHook',
        summary: 'A signed push notice of GitHub, GitLab, Gitea or Forgejo',
        parameters: [{ name: 'source', in: 'path', required: true, schema: { type: 'string' } }],
        requestBody: { required: true, content: { 'application/json': { schema: {} } } },
        responses: {
          202: { description: 'taken' },
          401: { description: 'not signed as configured' },
          413: { description: 'too large' },
          429: { description: 'too many' },
        },
      },
    },
    '/metrics': { get: { operationId: 'getMetrics', summary: 'For Prometheus', responses: { 200: text('metrics') } } },
    '/healthz': { get: { operationId: 'getHealthz', summary: 'Is the process well?', responses: { 200: text('ok') } } },
    '/readyz': {
      get: { operationId: 'getReadyz', summary: 'Has a complete pass been made?', responses: { 200: text('ready') } },
    },
  }
}
