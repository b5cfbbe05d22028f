import { isReference } from '../model/secret.ts'

/**
 * What a source wrote, with its encrypted files named as its own: `secrets.yaml` of `home` is `home:secrets.yaml`, whatever
 * other sources have under that path. Pure.
 */
export function ofSource(spec: unknown, source: string): unknown {
  if (spec === null || typeof spec !== 'object') return spec
  if (Array.isArray(spec)) return spec.map((one) => ofSource(one, source))
  const entries = Object.entries(spec)
  const [only] = entries
  if (only !== undefined && entries.length === 1 && only[0] === 'sops' && isReference('sops', only[1])) {
    const reference = only[1] as { readonly file: string; readonly key: string }
    return { sops: { ...reference, file: `${source}:${reference.file}` } }
  }
  const made: Record<string, unknown> = Object.create(Object.getPrototypeOf(spec))
  for (const [name, value] of entries) made[name] = ofSource(value, source)
  return made
}
