import type { Descriptions } from '../describe.ts'
import { secretAt } from './secret.ts'

/** The SSH login of croft. */
export const SSH_LOGIN: Descriptions = {
  hostKeys: 'Public host keys of the SSH server, as ssh-keyscan prints them without the name; croft accepts no others.',
  ...secretAt('key', 'Private key for the login; without it croft asks your SSH agent.'),
  sudo: 'How the user becomes root: none, passwordless, or a password; without it none for root and passwordless for others.',
  ...secretAt('sudo.password', 'Password that sudo asks for.'),
}
