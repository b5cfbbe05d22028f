import { z } from 'zod'
import { headline } from '../../model/notification.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel, url } from './channel.ts'

const schema = z.strictObject({
  url: url.default('https://ntfy.sh'),
  topic: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/),
  token: secretReference.optional(),
})

const texts = {
  sends: 'Publishes a message to a topic of ntfy.',
  fields: { url: 'URL of the ntfy server.', topic: 'Topic that croft publishes to.' },
  secrets: { token: 'Access token; without it croft publishes anonymously.' },
}

export const ntfy = channel('ntfy', schema, texts, ({ url: base, topic, token }) => ({
  notice: (message) => ({
    by: 'http',
    url: base.replace(/\/$/, ''),
    json: {
      topic,
      title: headline(message),
      message: message.text === '' ? headline(message) : message.text,
      priority: message.resolved ? 2 : 4,
      tags: [message.resolved ? 'white_check_mark' : 'warning'],
    },
    ...(token === undefined
      ? {}
      : { credential: { header: 'authorization', before: 'Bearer ', value: secretReferenceOf(token) } }),
  }),
}))
