import { z } from 'zod'
import { duration } from '../fields/duration.ts'
import { whole } from '../fields/number.ts'
import { schedule } from '../fields/schedule.ts'
import { secretReference } from '../fields/ssh.ts'
import { dnsName, matching, objectName, webUrl } from '../fields/text.ts'
import { exactlyOne } from '../fields/validations.ts'
import { cardAddress } from '../machines/fields.ts'

/** `02:30`. */
const timeOfDay = matching(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/, 'a time of day like "02:30"')

const timeZone = z.string().max(100).refine(isTimeZone, { error: 'a time zone like Europe/Berlin' })

export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const

const window = z.strictObject({
  days: z.array(z.enum(DAYS)).max(7).default([]),
  from: timeOfDay,
  to: timeOfDay,
  timeZone: timeZone.optional(),
})

export const upgrade = z.strictObject({
  method: z.enum(['inPlace', 'replace']).default('inPlace'),
  drain: z
    .strictObject({
      timeout: duration.default('10m'),
      onTimeout: z.enum(['wait', 'force', 'abort']).default('wait'),
    })
    .default({ timeout: '10m', onTimeout: 'wait' }),
  soak: duration.default('10m'),
  nodeTimeout: duration.default('15m'),
  healthChecks: z.array(objectName).max(50).default([]),
  windows: z.array(window).max(50).default([]),
  agentsSurge: whole(1, 100).default(1),
})

export const remediation = z.strictObject({
  enabled: z.boolean().default(true),
  brake: z
    .strictObject({ nodes: whole(0, 500).default(1), percent: whole(0, 100).default(20) })
    .default({ nodes: 1, percent: 20 }),
  deadAfter: duration.default('15m'),
  pause: duration.default('1h'),
  evictAfter: duration.optional(),
  dataMayGo: z.boolean().default(false),
})

export const wholePath = matching(/^(?:\/[a-zA-Z0-9_][a-zA-Z0-9._@+-]*)+\/?$/, 'a whole path like /srv/backup', 1024)

const s3 = z.strictObject({
  endpoint: z.union([webUrl, dnsName], { error: 'a name like s3.example.com, or its address with https://' }),
  bucket: matching(/^[a-z0-9][a-z0-9.-]+[a-z0-9]$/, 'the name of a bucket: small letters, digits, dots and dashes', 63),
  folder: matching(/^[a-zA-Z0-9][a-zA-Z0-9._/-]*$/, 'a path in the bucket like homelab/etcd', 400).optional(),
  region: matching(/^[a-z0-9][a-z0-9-]*$/, 'a region like us-east-1', 60).optional(),
  credentials: secretReference.optional(),
})

export const backup = z.strictObject({
  schedule,
  keep: whole(1, 1000).default(12),
  to: exactlyOne({
    directory: wholePath.optional(),
    nfs: z.strictObject({ server: dnsName, path: wholePath }).optional(),
    s3: s3.optional(),
  }),
  drill: z
    .strictObject({
      schedule,
      host: objectName.optional(),
      address: cardAddress.optional(),
    })
    .optional(),
})

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: text })
    return /^[A-Za-z]/.test(text)
  } catch {
    return false
  }
}
