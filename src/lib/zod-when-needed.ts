import { createRequire } from 'node:module'
import type * as Zod from 'zod'

/**
 * Stands in for zod in the installed program. Every kind writes its schema down as it is loaded, and a plan of manifests
 * that are as they were judges none of them: to make them all would be a sixth of its time. So a schema is noted here and
 * made, with zod itself, when something asks it for more than another schema.
 */
let library: typeof Zod | undefined

function zod(): Readonly<Record<string, unknown>> {
  library ??= createRequire(import.meta.url)('zod') as typeof Zod
  return library.z as unknown as Readonly<Record<string, unknown>>
}

/** What makes a schema of its arguments and does nothing else. Anything that is not named here is asked of zod at once. */
const MAKERS = new Set(
  (
    'any array boolean custom discriminatedUnion enum int intersection ipv4 ipv6 lazy literal looseObject never null number object ' +
    'optional preprocess record registry strictObject string tuple undefined union unknown url'
  ).split(' '),
)
/** What makes another schema of a schema, and leaves the first as it was. */
const FURTHER = new Set(
  (
    'and array catch catchall check clone default endsWith exactOptional extend gt gte includes int length loose lowercase lt lte max min ' +
    'multipleOf negative nonempty nonnegative nonoptional nullable nullish omit optional or overwrite partial pick pipe positive prefault ' +
    'readonly refine regex required safeExtend startsWith strict strip superRefine toLowerCase toUpperCase transform trim uppercase'
  ).split(' '),
)
/** Groups of makers: `z.iso.datetime()`. */
const GROUPS = new Set(['coerce', 'iso'])

type Method = (...given: readonly unknown[]) => unknown

type MadeSchema = Readonly<Record<PropertyKey, unknown>>

/** By this a schema that is still to be made is known, and asked for. */
const REAL = Symbol('real')

/**
 * A schema that is made when it is asked for anything else than a further one. There are thousands, for every command
 * that knows the kinds: they share all they can, and what each has is private, so that nobody sees it through the proxy.
 */
class WaitingSchema {
  #make: () => unknown
  #made: MadeSchema | undefined

  constructor(make: () => unknown) {
    this.#make = make
  }

  #real(): MadeSchema {
    this.#made ??= this.#make() as MadeSchema
    return this.#made
  }

  static readonly handler: ProxyHandler<WaitingSchema> = {
    get(schema, name, stand) {
      if (name === REAL) return () => schema.#real()
      if (schema.#made === undefined && typeof name === 'string') {
        if (FURTHER.has(name)) return (...given: readonly unknown[]) => later(() => call(schema.#real(), name, given))
        // It returns the schema itself, which is still to be made: entered when that happens.
        if (name === 'register') {
          return (...given: readonly unknown[]) => {
            const before = schema.#make
            schema.#make = () => call(before() as object, name, given)
            return stand as unknown
          }
        }
      }
      const value = schema.#real()[name]
      return typeof value === 'function' ? (...given: readonly unknown[]) => call(schema.#real(), name, given) : value
    },
    has: (schema, name) => name in schema.#real(),
    set: (schema, name, value) => Reflect.set(schema.#real(), name, value),
    getPrototypeOf: (schema) => Object.getPrototypeOf(schema.#real()) as object,
  }
}

function later(make: () => unknown): object {
  return new Proxy(new WaitingSchema(make), WaitingSchema.handler)
}

function call(on: object, name: PropertyKey, given: readonly unknown[]): unknown {
  return ((on as Readonly<Record<PropertyKey, unknown>>)[name] as Method).apply(on, given.map(realOf))
}

/** Zod is given its own schemas, also those in a list of them or in a block of fields. */
function realOf(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given
  const real = realIn(given)
  if (real !== undefined) return real()
  if (Array.isArray(given)) return given.some(isNoted) ? given.map(realOf) : given
  const parts = Object.getOwnPropertyDescriptors(given)
  const own = Object.entries(parts)
  if (!own.some(([, { value }]) => isNoted(value))) return given
  for (const [, part] of own) if (isNoted(part.value)) part.value = realOf(part.value)
  return Object.defineProperties({}, parts)
}

function isNoted(value: unknown): boolean {
  return typeof value === 'object' && value !== null && realIn(value) !== undefined
}

function realIn(given: object): (() => unknown) | undefined {
  return (given as { readonly [REAL]?: () => unknown })[REAL]
}

function makers(group: () => object, isMaker: (name: string) => boolean): object {
  return new Proxy(
    {},
    {
      get(_, name) {
        if (typeof name === 'string' && isMaker(name))
          return (...given: readonly unknown[]) => later(() => call(group(), name, given))
        if (typeof name === 'string' && GROUPS.has(name))
          return makers(
            () => (group() as Readonly<Record<string, object>>)[name] as object,
            () => true,
          )
        const value = (group() as Readonly<Record<PropertyKey, unknown>>)[name]
        const isClass = typeof name === 'string' && /^[A-Z]/.test(name)
        return typeof value === 'function' && !isClass
          ? (...given: readonly unknown[]) => call(group(), name, given)
          : value
      },
    },
  )
}

export const z = makers(zod, (name) => MAKERS.has(name)) as typeof Zod.z
