import { z } from 'zod'
import { WORKLOAD_TIERS } from '../../model/power.ts'
import { labels } from '../cluster/node-schema.ts'
import { duration } from '../fields/duration.ts'
import { whole } from '../fields/number.ts'
import { schedule } from '../fields/schedule.ts'
import { line, logicalName, matching, objectName } from '../fields/text.ts'
import { freeText } from '../settings/field-schema.ts'

const word = line.clone()
// Handed over as one argument of a program: no shell reads it.
word.register(freeText, { free: true })

const workloadTier = z.enum([...WORKLOAD_TIERS, 'storage', 'system'])
const anyTier = z.enum([
  ...WORKLOAD_TIERS,
  'volumes',
  'storage',
  'workers',
  'servers',
  'machines',
  'hosts',
  'infrastructure',
  'last-hosts',
])

function deadline(after: string, choice: 'wait' | 'force' | 'abort') {
  return z
    .strictObject({
      after: duration.default(after),
      choice: z.enum(['wait', 'force', 'abort']).default(choice),
    })
    .default({ after, choice })
}

const machineReference = matching(
  /^(?:Machine|EnvironmentVM|EnvironmentContainer)\/[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/,
  'Machine/…, EnvironmentVM/… or EnvironmentContainer/…',
  300,
)

const day = matching(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, 'a day like 2026-12-24')

export const powerSchema = z.strictObject({
  description: line.optional(),
  cluster: objectName.optional(),
  state: z.enum(['on', 'off']).default('on'),
  hosts: z
    .array(
      z.strictObject({
        name: objectName,
        /** Default: 1, and for the box of croft or of the NUT server the highest of all. */
        level: whole(1, 9).optional(),
        watts: z.strictObject({ on: whole(0, 100_000), off: whole(0, 10_000).default(0) }).optional(),
      }),
    )
    .max(200)
    .default([]),
  machines: z.array(machineReference).max(500).default([]),
  /** Gateway, DNS, DHCP: last off, first on. Machines with the label croft.dev/infrastructure: "true" are, too. */
  infrastructure: z.array(machineReference).max(50).default([]),
  tiers: z
    .array(
      z.strictObject({
        tier: workloadTier,
        namespaces: z.array(logicalName).max(50).default([]),
        labels: labels.default({}),
      }),
    )
    .max(100)
    .default([]),
  hooks: z
    .array(
      z.strictObject({
        name: logicalName,
        tier: anyTier,
        when: z.enum(['off', 'on']),
        on: objectName,
        run: z.array(word).min(1).max(50),
      }),
    )
    .max(50)
    .default([]),
  deadlines: z
    .strictObject({
      scale: deadline('10m', 'abort'),
      detach: deadline('10m', 'abort'),
      drain: deadline('10m', 'abort'),
      stop: deadline('10m', 'wait'),
      start: deadline('15m', 'force'),
    })
    .prefault({}),
  holds: z
    .strictObject({
      people: z.boolean().default(true),
      /** After this long without typing, a login no longer counts as a person at work. */
      peopleIdle: duration.default('8h'),
      backups: z.boolean().default(true),
      jobs: z.boolean().default(true),
      /** A job that runs longer is stuck, and no longer counts as work. */
      jobsAtMost: duration.default('1d'),
    })
    .prefault({}),
  schedule: z
    .strictObject({
      timeZone: matching(
        /^[A-Za-z][A-Za-z0-9_+-]*(?:\/[A-Za-z0-9_+-]+){0,2}$/,
        'a time zone like Europe/Berlin',
        60,
      ).default('UTC'),
      off: z.array(schedule).max(20).default([]),
      on: z.array(schedule).max(20).default([]),
      except: z.array(day).max(400).default([]),
    })
    .optional(),
  idle: duration.default('10m'),
  ups: z
    .strictObject({
      name: matching(/^[A-Za-z0-9][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.:-]*$/, 'a UPS like rack@192.168.4.2', 200),
      levels: z
        .array(z.strictObject({ below: whole(1, 99), level: whole(1, 9) }))
        .min(1)
        .max(9)
        .default([
          { below: 40, level: 1 },
          { below: 20, level: 2 },
          { below: 10, level: 9 },
        ]),
      wakeAbove: whole(0, 100).default(30),
    })
    .optional(),
  ha: z.boolean().default(true),
  strangers: z.enum(['hold', 'shutdown']).default('hold'),
  checks: z
    .strictObject({
      dns: z.array(objectName).max(20).default([]),
      storage: z.array(objectName).max(20).default([]),
    })
    .prefault({}),
})

/** A Power as it is written, with its defaults. */
export type WrittenPower = z.output<typeof powerSchema>
