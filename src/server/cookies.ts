import type { ServerResponse } from 'node:http'
/** `__Host-` binds a cookie to this very host over HTTPS; a browser takes it only from there. */
export interface CookieNames {
  readonly session: string
  readonly login: string
  readonly secure: boolean
}

export function cookieNames(secure: boolean): CookieNames {
  const prefix = secure ? '__Host-' : ''
  return { session: `${prefix}croft_session`, login: `${prefix}croft_login`, secure }
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [key, value] = part.trim().split('=', 2)
    if (key === name && value !== undefined && /^[\w-]{20,1000}$/.test(value)) return value
  }
  return undefined
}

/** An empty value deletes the cookie. Lax only for the return from a provider's sign-in. */
export function writeCookie(
  name: string,
  value: string,
  { secure, sameSite, maxAgeMs }: { secure: boolean; sameSite: 'Strict' | 'Lax'; maxAgeMs: number },
): string {
  const age = value === '' ? 0 : Math.floor(maxAgeMs / 1000)
  return `${name}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${age}${secure ? '; Secure' : ''}`
}

/** Opens or ends the session of a browser. */
export function setSession(response: ServerResponse, names: CookieNames, value: string, maxAgeMs: number): void {
  const cookie = writeCookie(names.session, value, { secure: names.secure, sameSite: 'Strict', maxAgeMs })
  response.appendHeader('set-cookie', cookie)
}
