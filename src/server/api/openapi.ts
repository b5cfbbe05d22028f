import { z } from 'zod'
import { plainPaths } from './plain-paths.ts'
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
    paths: joined(paths, plainPaths()),
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

/** A path may have one method here and another there. */
function joined(one: Readonly<Record<string, object>>, other: Readonly<Record<string, object>>): Json {
  const both = Object.entries(other).map(([path, methods]) => [path, { ...one[path], ...methods }])
  return { ...one, ...Object.fromEntries(both) }
}

function trouble(description: string): Json {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Trouble' } } } }
}

const FOR_SIGNED_IN: Json = { 401: trouble('not signed in'), 403: trouble('not allowed') }

const FOR_WRITING: Json = {
  401: trouble('not signed in, or not with this name and password'),
  403: trouble('not allowed, or sent by another page'),
  409: trouble('not at this moment'),
  413: trouble('too large'),
  415: trouble('not application/json'),
  422: trouble('refused, with the reason'),
  429: trouble('too many tries'),
  503: trouble('it cannot be kept now'),
}

function operation({ method, path, summary, scope, signedIn, input, output }: Route): Json {
  const shape = schemaOf(input, 'input') as { properties?: Json; required?: readonly string[] }
  const reading = method === 'GET'
  const open = scope === 'read' && signedIn !== true
  return {
    operationId: `${method.toLowerCase()}${path.replace(/^\/api/, '').replace(/[/.-](\w)/g, (_, c: string) => c.toUpperCase())}`,
    summary,
    ...(open ? {} : { 'x-scope': scope, security: [{ token: [] }, { session: [], csrf: [] }] }),
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
      ...(reading ? (open ? {} : FOR_SIGNED_IN) : FOR_WRITING),
      404: trouble('there is no such thing'),
      421: trouble('asked under a name that is not its own'),
    },
  }
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' })
  return rest
}
