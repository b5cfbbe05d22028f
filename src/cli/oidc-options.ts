import type { ControllerConfig } from '../controller/config.ts'
import { defined } from '../lib/defined.ts'
import type { Secret, SecretReference } from '../model/secret.ts'
import type { OidcOptions } from '../server/auth/oidc.ts'

/** How people sign in with a provider, from the configuration. The client's secret is read when it is needed. */
export function oidcOf(
  { listen, publicUrl }: Pick<ControllerConfig, 'listen' | 'publicUrl'>,
  { clientSecret, scopes, nameClaim, roleClaim, roles, ...rest }: NonNullable<ControllerConfig['oidc']>,
  resolveSecret: (reference: SecretReference) => Promise<Secret>,
): OidcOptions {
  const base = publicUrl ?? `http://${listen}`
  return {
    ...rest,
    redirectUrl: new URL('/api/sign-in/oidc/callback', base).href,
    ...(clientSecret === undefined ? {} : { clientSecret: async () => (await resolveSecret(clientSecret)).reveal() }),
    ...defined({ scopes, nameClaim, roleClaim, roles }),
  }
}
