import { homedir } from 'node:os'

/** The home of whoever runs this; empty for a user that has none, as in a container with a number for a user. */
export function homeIn(env: Readonly<Record<string, string | undefined>>): string {
  if (env.HOME !== undefined) return env.HOME
  try {
    return homedir()
  } catch {
    return ''
  }
}
