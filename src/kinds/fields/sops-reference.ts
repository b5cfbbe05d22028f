import { z } from 'zod'

/** A value in a file of the repository that sops has encrypted. */
export const sopsReference = z.strictObject({
  file: z
    .string()
    .max(1024)
    .regex(/^(?!.*(?:^|\/)\.\.(?:\/|$))[A-Za-z0-9_.][A-Za-z0-9_./+@-]*$/, {
      error: 'the path of a file in the repository, like secrets/proxmox.yaml',
    }),
  key: z
    .string()
    .max(500)
    .regex(/^(?!.*\.\.)[A-Za-z0-9_][A-Za-z0-9_.@-]*$/, {
      error: 'the name of a value in it, like token or users.0.password',
    }),
})
