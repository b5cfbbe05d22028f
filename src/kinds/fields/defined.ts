type Loose<T> = { readonly [K in keyof T]: T[K] | undefined }

/**
 * Leaves out what is undefined. In a desired thing "absent" means "not declared, not compared", and a key that holds
 * undefined would not survive a comparison or JSON.
 */
export function defined<T extends object>(value: Loose<T>): T {
  const result: Record<string, unknown> = {}
  for (const [name, entry] of Object.entries(value)) {
    if (entry !== undefined) result[name] = entry
  }
  return result as T
}
