import { z } from 'zod'
import { headline } from '../../model/notification.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel } from './channel.ts'

const texts = {
  sends: 'Posts a message to Slack.',
  secrets: { address: 'URL of the incoming webhook, which is itself a secret.' },
}

export const slack = channel('slack', z.strictObject({ address: secretReference }), texts, ({ address }) => ({
  notice: (message) => ({
    by: 'http',
    url: secretReferenceOf(address),
    json: { text: `*${escaped(headline(message))}*\n${escaped(message.text)}` },
  }),
}))

/** Slack's three characters. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
