import { z } from 'zod'
import { headline } from '../../model/notification.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel } from './channel.ts'

const texts = {
  sends: 'Posts a message to Discord.',
  secrets: { address: 'URL of the webhook, which is itself a secret.' },
}

export const discord = channel('discord', z.strictObject({ address: secretReference }), texts, ({ address }) => ({
  notice: (message) => ({
    by: 'http',
    url: secretReferenceOf(address),
    // A host's text must not mention users.
    json: {
      content: `**${headline(message)}**\n${message.text}`.slice(0, 2000),
      allowed_mentions: { parse: [] },
    },
  }),
}))
