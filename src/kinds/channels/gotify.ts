import { z } from 'zod'
import { headline } from '../../model/notification.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel, url } from './channel.ts'

const texts = {
  sends: 'Sends a message to a Gotify server.',
  fields: { url: 'URL of the Gotify server.' },
  secrets: { token: 'Token of the Gotify application.' },
}

export const gotify = channel('gotify', z.strictObject({ url, token: secretReference }), texts, (to) => ({
  notice: (message) => ({
    by: 'http',
    url: `${to.url.replace(/\/$/, '')}/message`,
    json: {
      title: headline(message),
      message: message.text === '' ? headline(message) : message.text,
      priority: message.resolved ? 2 : 7,
    },
    credential: { header: 'x-gotify-key', before: '', value: secretReferenceOf(to.token) },
  }),
}))
