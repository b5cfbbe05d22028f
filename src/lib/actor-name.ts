/**
 * Returns an actor as people call it: `page:anna` and `cli:anna` are Anna, `token:ci` is a token. A provider's user
 * keeps issuer and subject beside the name. Pure.
 */
export function actorName(actor: string): string {
  const [, from = '', name = ''] = /^(page|oidc|cli|git|token):(.+)$/s.exec(actor) ?? []
  if (name === '') return actor
  return from === 'token' ? `token ${name}` : name
}
