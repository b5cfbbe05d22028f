import { z } from 'zod'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel, url } from './channel.ts'

const texts = {
  sends: 'Posts JSON to a URL.',
  fields: { url: 'URL that croft posts to.' },
  secrets: { secret: 'Key for the HMAC-SHA-256 of the body in the header X-Croft-Signature-256.' },
}

export const webhook = channel('webhook', z.strictObject({ url, secret: secretReference }), texts, (to) => ({
  notice: ({ id, sort, title, text, resolved, sinceMs, atMs }) => ({
    by: 'http',
    url: to.url,
    json: {
      id,
      sort,
      title,
      text: resolved ? '' : text,
      status: resolved ? 'resolved' : 'firing',
      since: new Date(sinceMs).toISOString(),
      time: new Date(atMs).toISOString(),
    },
    signature: { header: 'x-croft-signature-256', key: secretReferenceOf(to.secret) },
  }),
}))
