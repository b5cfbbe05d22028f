import { type Foreign, isRecord } from '../../../kubernetes/objects.ts'
import type { Change } from '../../../model/resource.ts'
import { previewChanges } from '../preview.ts'

/* Values of a release, and the secret ones among them. All pure. */

/** Merges one document of values over another, as Helm does: lists are replaced whole. */
export function over(below: Foreign, above: Foreign): Foreign {
  const all: Record<string, unknown> = { ...below }
  for (const [name, value] of Object.entries(above)) {
    const before = Object.hasOwn(all, name) ? all[name] : undefined
    all[name] = isRecord(before) && isRecord(value) ? over(before, value) : value
  }
  return all
}

/** Returns the values without those that the secret document sets. */
export function withoutSecret(values: Foreign, secret: Foreign): Foreign {
  const left: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(values)) {
    const hidden = Object.hasOwn(secret, name) ? secret[name] : undefined
    if (hidden === undefined) left[name] = value
    else if (isRecord(hidden) && isRecord(value)) {
      const inner = withoutSecret(value, hidden)
      if (Object.keys(inner).length > 0) left[name] = inner
    }
  }
  return left
}

/** Returns changed values by path. A value that is no longer declared may come from a secret, so it is masked. */
export function valueChanges(live: Foreign, declared: Foreign): readonly Change[] {
  return previewChanges({ spec: { values: live } }, { spec: { values: declared } }).map((one) =>
    one.to === undefined ? { ...one, from: '***', secret: true } : one,
  )
}

/** Returns the paths of secret values that differ from the release. */
export function secretChanges(live: Foreign, expected: Foreign, secret: Foreign): readonly string[] {
  const hidden = previewChanges({}, { spec: { values: secret } }).map(({ path }) => path)
  return previewChanges({ spec: { values: live } }, { spec: { values: expected } })
    .map(({ path }) => path)
    .filter((path) => hidden.some((one) => one === path || one.startsWith(`${path}.`) || path.startsWith(`${one}[`)))
}
