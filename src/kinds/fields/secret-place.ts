import { z } from 'zod'

/** A variable of the environment that croft runs in. */
export const environmentVariable = z
  .string()
  .max(200)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'the name of an environment variable' })

/** A file on the computer that croft runs on, by its whole path; nothing in it leads elsewhere. */
export function secretFile(like: string) {
  return z
    .string()
    .max(1024)
    .regex(/^(?:~?\/)(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9_./+@-]+$/, {
      error: `the whole path of a file, like ${like}`,
    })
}
