import { homedir } from 'node:os'

/** Returns the user's home; empty for a user without one, as in a container with a numeric user. */
export function homeIn(env: Readonly<Record<string, string | undefined>>): string {
  if (env.HOME !== undefined) return env.HOME
  try {
    return homedir()
  } catch {
    return ''
  }
}
