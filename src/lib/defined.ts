type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * Removes undefined fields. In a desired state, an absent field is not declared and not compared, and an undefined one
 * would not survive a comparison or JSON.
 */
export function defined<const T extends object>(fields: T): Defined<T>
export function defined<T extends object>(fields: Loose<T>): T
export function defined(fields: object): object {
  const kept: Record<string, unknown> = {}
  // Called a dozen times for each machine: no pairs are made.
  for (const name of Object.keys(fields)) {
    const value = (fields as Readonly<Record<string, unknown>>)[name]
    if (value !== undefined) kept[name] = value
  }
  return kept
}
