import { z } from 'zod'
import { duration, milliseconds } from '../fields/duration.ts'
import { secretReference, secretReferenceOf } from '../fields/ssh.ts'
import { channel } from './channel.ts'

const schema = z.strictObject({ address: secretReference, every: duration.default('60s') })

const texts = {
  sends: 'Pushes to an Uptime Kuma monitor: up while nothing is wrong, else down.',
  fields: { every: 'Time between two pushes, like 60s.' },
  secrets: { address: 'Push URL of the monitor, which is itself a secret.' },
}

/** Gets no notices: its regular push says whether there is trouble. */
export const uptimeKuma = channel('uptimeKuma', schema, texts, ({ address, every }) => ({
  heartbeat: {
    everyMs: Math.max(1_000, milliseconds(every)),
    of: (titles) => ({
      by: 'http',
      url: secretReferenceOf(address),
      query: {
        status: titles.length === 0 ? 'up' : 'down',
        msg: titles.length === 0 ? 'OK' : titles.join('; ').slice(0, 200),
      },
    }),
  },
}))
