import { z } from 'zod'
import { headline } from '../../model/notification.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel, url } from './channel.ts'

export const gotify = channel('gotify', z.strictObject({ url, token: secretReference }), (to) => ({
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
