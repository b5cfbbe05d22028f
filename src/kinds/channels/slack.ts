import { z } from 'zod'
import { headline } from '../../model/notification.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel } from './channel.ts'

export const slack = channel('slack', z.strictObject({ address: secretReference }), ({ address }) => ({
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
