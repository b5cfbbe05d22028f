import type { BrowserContext } from 'playwright-core'
import { openApi } from '../../src/server/api/openapi.ts'
import { ROUTES } from '../../src/server/api/routes.ts'

/** Text that would run, or leave an element behind, wherever it is taken for more than text. */
export const EVIL = `<x-evil></x-evil><img src=x onerror="alert(1)"><script>alert(2)</script>"'\`javascript:alert(3)//`

interface Schema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly additionalProperties?: Schema | boolean
}

/** What steers the page and is never shown: the place in the stream, the token against forgery, the hash of a held list. */
const UNSEEN = new Set(['cursor', 'csrf', 'shown'])

const SCHEMAS: ReadonlyMap<string, Schema> = new Map(
  ROUTES.filter(({ method, path }) => method === 'GET' && path !== '/api/openapi.json').map(({ path }) => {
    const { paths } = openApi(ROUTES, '0') as {
      paths: Record<string, { get: { responses: { 200: { content: { 'application/json': { schema: Schema } } } } } }>
    }
    return [path, paths[path]?.get.responses[200].content['application/json'].schema ?? {}]
  }),
)

/** Every field of text that the API can answer with: `/api/view rows[].name`. A list of words (an enum) is none. */
export function textFields(): readonly string[] {
  return [...SCHEMAS].flatMap(([path, schema]) => fieldsIn(schema, '').map((field) => `${path} ${field}`))
}

function fieldsIn(schema: Schema, at: string): readonly string[] {
  if (isText(schema)) return [at]
  if (schema.anyOf !== undefined) return schema.anyOf.flatMap((one) => fieldsIn(one, at))
  if (schema.items !== undefined) return fieldsIn(schema.items, `${at}[]`)
  if (typeof schema.additionalProperties === 'object') return fieldsIn(schema.additionalProperties, `${at}.*`)
  return Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
    UNSEEN.has(name) ? [] : fieldsIn(one, at === '' ? name : `${at}.${name}`),
  )
}

function isText({ type, enum: words, const: word }: Schema): boolean {
  return type === 'string' && words === undefined && word === undefined
}

/** The answer with the evil text behind every text in it; each field that got one is noted. */
function poison(value: unknown, schema: Schema, at: string, note: (field: string) => void): unknown {
  if (schema.anyOf !== undefined) {
    const fitting = schema.anyOf.find((one) => (one.type === 'array') === Array.isArray(value)) ?? {}
    return poison(value, fitting, at, note)
  }
  if (typeof value === 'string' && isText(schema)) {
    note(at)
    return `${value}${EVIL}`
  }
  if (Array.isArray(value)) return value.map((one) => poison(one, schema.items ?? {}, `${at}[]`, note))
  if (typeof value !== 'object' || value === null) return value
  const table = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      if (table !== undefined) return [`${name}${EVIL}`, poison(one, table, `${at}.*`, note)]
      if (UNSEEN.has(name)) return [name, one]
      return [name, poison(one, schema.properties?.[name] ?? {}, at === '' ? name : `${at}.${name}`, note)]
    }),
  )
}

/**
 * Everything that the page reads is poisoned on its way, by the very schemas that the server answers by: a field that is
 * added to the API is in the test without anybody thinking of it. Answers the fields that were poisoned so far.
 */
export async function poisonAnswers(context: BrowserContext): Promise<ReadonlySet<string>> {
  const done = new Set<string>()
  await context.route(
    (url) => SCHEMAS.has(url.pathname),
    async (route) => {
      const url = new URL(route.request().url())
      const { pathname, searchParams } = url
      // What the page asks with was poisoned before; the server knows it by its own name.
      for (const [name, value] of Object.entries(Object.fromEntries(searchParams)))
        searchParams.set(name, value.replaceAll(EVIL, ''))
      const response = await route.fetch({ url: url.href })
      if (!response.ok()) return route.fulfill({ response })
      const schema = SCHEMAS.get(pathname) ?? {}
      const json = poison(await response.json(), schema, '', (field) => done.add(`${pathname} ${field}`))
      return route.fulfill({ response, json })
    },
  )
  return done
}
