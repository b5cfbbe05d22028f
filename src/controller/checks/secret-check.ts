import type { Problem, ResourceKey } from '../../model/declaration.ts'
import { secretsOf } from '../../model/desired-secrets.ts'
import { changedEstate, type Estate } from '../../model/estate.ts'
import type { Secret, SecretReference } from '../../model/secret.ts'

/** A secret that a resource or a connection needs and that cannot be had. The message names its place, not its value. */
export interface MissingSecret {
  /** `EnvironmentVM/web-1`; absent where a connection needs it. */
  readonly key?: ResourceKey
  readonly connection?: string
  readonly message: string
}

/**
 * Opens each secret that the estate names once, before anything is written: a file that cannot be decrypted must not be
 * discovered when half of a cluster stands.
 */
export async function missingSecrets(
  estate: Pick<Estate, 'connections' | 'resources'>,
  resolve: (reference: SecretReference) => Promise<Secret>,
): Promise<readonly MissingSecret[]> {
  const tried = new Map<string, Promise<string | undefined>>()
  const trouble = (reference: SecretReference): Promise<string | undefined> => {
    const name = JSON.stringify(reference)
    const known = tried.get(name)
    if (known !== undefined) return known
    const trying = resolve(reference).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
    tried.set(name, trying)
    return trying
  }
  const missing: MissingSecret[] = []
  for (const { name, token, credentials, existing } of estate.connections) {
    const reference = token ?? credentials ?? existing?.kubeconfig
    const message = reference === undefined ? undefined : await trouble(reference)
    if (message !== undefined) missing.push({ connection: name, message })
  }
  for (const { key, desired } of estate.resources) {
    for (const reference of secretsOf(desired)) {
      const message = await trouble(reference)
      if (message !== undefined) missing.push({ key, message })
    }
  }
  return missing
}

/** Returns the estate without resources whose secret is missing: they do not count as removed. Pure. */
export function withoutMissing(given: Estate, missing: readonly MissingSecret[]): Estate {
  return missing.length === 0 ? given : changedEstate(given, (estate) => leftOut(estate, missing))
}

function leftOut(estate: Estate, missing: readonly MissingSecret[]): Estate {
  const unreached = new Set(missing.flatMap(({ connection }) => connection ?? []))
  const keys = new Set([
    ...missing.flatMap(({ key }) => key ?? []),
    ...estate.resources.filter(({ connection }) => unreached.has(connection)).map(({ key }) => key),
  ])
  return {
    ...estate,
    connections: estate.connections.filter(({ name }) => !unreached.has(name)),
    resources: estate.resources.filter(({ key }) => !keys.has(key)),
    unreadable: [...new Set([...estate.unreadable, ...keys])],
    problems: [...estate.problems, ...missing.map((one) => problemOf(one, estate))],
  }
}

function problemOf({ key, connection, message }: MissingSecret, estate: Estate): Problem {
  const origin =
    estate.resources.find((resource) => resource.key === key)?.origin ??
    estate.connections.find((one) => one.name === connection)?.origin
  return {
    code: 'secret-missing',
    origin: origin ?? { file: '.', line: 1, column: 1 },
    ...(key === undefined ? {} : { object: key }),
    message,
    severity: 'error',
  }
}
