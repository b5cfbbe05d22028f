import type { Channel } from '../channels/channel.ts'
import { CHANNELS } from '../channels/registry.ts'
import { type Descriptions, under } from './describe.ts'
import { secretAt } from './shared/secret.ts'

export const notification: Descriptions = {
  description: 'One line for people.',
  about: 'Which sorts of trouble to report; without any, all of them.',
  after: 'How long trouble must last before croft reports it, and be gone before it counts as resolved, like 30s.',
  ...Object.fromEntries(CHANNELS.flatMap(descriptionsOf)),
}

function descriptionsOf({ name, texts: { sends, fields = {}, secrets = {} } }: Channel) {
  const references = Object.entries(secrets).map(([field, text]) => secretAt(`${name}.${field}`, text))
  return [{ [name]: sends }, under(name, fields), ...references].flatMap((one) => Object.entries(one))
}
