/** The rights of a request. Reading needs no login by default; everything else needs one of these. */
export const SCOPES = ['read', 'operate', 'approve', 'power', 'admin'] as const
export type Scope = (typeof SCOPES)[number]

export const ROLES = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof ROLES)[number]

/** A viewer has a name and an anonymous reader's rights: useful behind a proxy that restricts reading. */
const SCOPES_OF: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: ['read'],
  operator: ['read', 'operate', 'approve', 'power'],
  admin: ['read', 'operate', 'approve', 'power', 'admin'],
}

export function scopesOf(role: Role): readonly Scope[] {
  return SCOPES_OF[role]
}

export function isRole(text: unknown): text is Role {
  return ROLES.some((role) => role === text)
}

export function isScope(text: unknown): text is Scope {
  return SCOPES.some((scope) => scope === text)
}
