import { createHash, createHmac } from 'node:crypto'
import { z } from 'zod'
import { jsonIn } from '../../lib/foreign-json.ts'
import type { ResourceKey } from '../../model/declaration.ts'
import { secretsOf } from '../../model/desired-secrets.ts'
import { changedEstate, type Estate } from '../../model/estate.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'

/** Under which name the store keeps them. */
export const SECRET_PRINTS = 'secret-prints'

const schema = z.object({
  /** Tells which key made them: prints of another key cannot be compared. */
  key: z.string(),
  of: z.record(z.string(), z.object({ print: z.string(), again: z.string().optional() })),
})

/** Stored hashes of the secrets that each resource refers to: keyed, without their length. */
export type SecretPrints = z.output<typeof schema>

export function readPrints(text: string | undefined): SecretPrints | undefined {
  return schema.safeParse(jsonIn(text ?? '')).data
}

/**
 * Returns a keyed hash of all secrets that each resource needs. The key is not in the database, so guesses cannot be
 * tried out on it. Secrets that cannot be opened now are left out: they do not show a change.
 */
export async function printSecrets(
  estate: Pick<Estate, 'resources'>,
  resolve: (reference: SecretReference) => Promise<Secret>,
  key: Secret,
): Promise<ReadonlyMap<ResourceKey, string>> {
  const opened = new Map<string, Promise<Secret | undefined>>()
  const open = (name: string, reference: SecretReference) => {
    const known = opened.get(name) ?? resolve(reference).catch(() => undefined)
    opened.set(name, known)
    return known
  }
  const prints = new Map<ResourceKey, string>()
  for (const { key: resource, desired } of estate.resources) {
    const references = secretsOf(desired)
    if (references.length === 0) continue
    const hash = createHmac('sha256', key.reveal())
    let complete = true
    for (const reference of references) {
      const name = JSON.stringify(reference)
      const secret = await open(name, reference)
      if (secret === undefined) complete = false
      else hash.update(JSON.stringify([name, secret.word()]))
    }
    if (complete) prints.set(resource, hash.digest('hex').slice(0, 32))
  }
  return prints
}

/**
 * Compares with the stored hashes. A new secret is only stored: it may be in use already, and a lost database must not
 * resend everything. Pure; returns the same object if nothing changed.
 */
export function notePrints(
  before: SecretPrints | undefined,
  seen: ReadonlyMap<ResourceKey, string>,
  declared: ReadonlySet<ResourceKey>,
  keyId: string,
): SecretPrints {
  const comparable = before?.key === keyId
  const of: Record<string, SecretPrints['of'][string]> = {}
  let same = comparable
  for (const [key, one] of Object.entries(before?.of ?? {})) {
    if (declared.has(key) && !seen.has(key)) of[key] = one
    else if (!declared.has(key)) same = false
  }
  for (const [key, print] of seen) {
    const known = before?.of[key]
    if (known === undefined) of[key] = { print }
    else if (known.print === print) of[key] = known
    else of[key] = comparable ? { print, again: print } : { ...known, print }
    if (of[key] !== known) same = false
  }
  return same && before !== undefined ? before : { key: keyId, of }
}

/** Returns the estate with changed secrets marked on their resources, so that they are sent again. Pure. */
export function withPrints(estate: Estate, { of }: SecretPrints): Estate {
  if (!Object.values(of).some(({ again }) => again !== undefined)) return estate
  return changedEstate(estate, (whole) => ({
    ...whole,
    resources: whole.resources.map((resource) => {
      const again = of[resource.key]?.again
      if (again === undefined) return resource
      return { ...resource, policy: { ...resource.policy, rotate: `${resource.policy.rotate ?? ''}~${again}` } }
    }),
  }))
}

/** Returns an id of a key that reveals nothing of it. */
export function keyIdOf(key: Secret): string {
  return createHash('sha256').update(`croft key ${key.reveal()}`).digest('hex').slice(0, 16)
}
