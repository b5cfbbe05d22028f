import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SIX } from '../../test/simulation/manifests.ts'
import type { Driver, Session } from '../drivers/port.ts'
import { proxmoxDriver } from '../drivers/proxmox/driver.ts'
import { findKind } from '../kinds/registry.ts'
import { isRecord } from '../lib/is-record.ts'
import type { Rules } from '../model/rules.ts'
import { linking } from '../plan/link.ts'
import type { ControllerOptions } from './controller.ts'
import { type Harness, type HarnessOptions, startHarness } from './testing/harness.ts'

/* If a part of croft throws, only its resource is left alone, with the error reported; the process goes on. */

const TWO = SIX.slice(0, 2)
const [WELL, ILL] = ['EnvironmentVM/server-1', 'EnvironmentVM/server-2']

function planted(): never {
  const nothing = undefined as unknown as { readonly field: { readonly inner: string } }
  throw new TypeError(`planted ${String(nothing?.field?.inner)}`)
}

/** The driver with a rule that fails on one thing. */
function withRule(name: keyof Rules, key = ILL): Driver {
  const rules = new Proxy(proxmoxDriver.rules, {
    get(target, asked) {
      const rule: unknown = Reflect.get(target, asked)
      if (asked !== name || typeof rule !== 'function') return rule
      return (...args: unknown[]): unknown =>
        isRecord(args[0]) && args[0].key === key ? planted() : (Reflect.apply(rule, target, args) as unknown)
    },
  })
  return { ...proxmoxDriver, rules }
}

/** The driver whose sessions fail when asked this the n-th time. */
function withSession(name: keyof Session, isIll: (...args: readonly unknown[]) => boolean): Driver {
  return {
    ...proxmoxDriver,
    connect(connection, deps) {
      const session = proxmoxDriver.connect(connection, deps)
      const method = session[name] as (...args: readonly unknown[]) => unknown
      return {
        ...session,
        [name]: (...args: readonly unknown[]) => (isIll(...args) ? planted() : method.apply(session, [...args])),
      }
    },
  }
}

const isReady = ({ controller }: Harness, key = WELL) =>
  controller
    .view()
    .resources.some(
      (one) => one.key === key && one.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    )

/** The sources of the page, `croft health` and notifications, as one text. */
const told = ({ controller, heard }: Harness) =>
  JSON.stringify([controller.view().problems, controller.view().connections, heard.map(({ message }) => message)])

async function keepsTheRest(options: HarnessOptions, holds = (harness: Harness) => isReady(harness)) {
  const harness = await startHarness({ machines: TWO, ...options })
  try {
    await harness.until(() => !harness.alive() || told(harness).includes('planted'))
    await harness.until(() => !harness.alive() || holds(harness))
    assert.ok(harness.alive(), 'the controller ended')
  } finally {
    await harness.stop()
  }
}

const RULES: readonly (keyof Rules)[] = [
  'keeps',
  'listOf',
  'hostOf',
  'awaits',
  'obstacles',
  'createSteps',
  'readiness',
  'notes',
  'diff',
]

for (const rule of RULES)
  test(`an exception in the rule ${rule} about one machine is told, and the other is made`, () =>
    keepsTheRest({ driver: withRule(rule) }))

test('an exception while a kind expands one declaration is told, and the others are followed', () =>
  keepsTheRest({
    options: {
      link: (revision) =>
        linking(revision, {
          problemAt: revision.problemAt,
          findKind(apiVersion, kind) {
            const found = findKind(apiVersion, kind)
            return (
              found && {
                ...found,
                expand: (declaration, lookup) =>
                  declaration.key === ILL ? planted() : found.expand(declaration, lookup),
              }
            )
          },
        }),
    },
  }))

test('a survey that throws puts its connection off, and is made again', async () => {
  let left = 3
  await keepsTheRest({ driver: withSession('survey', () => left-- > 0) })
})

test('a close look that throws costs that look alone', async () => {
  let left = 2
  await keepsTheRest(
    { driver: withSession('observe', () => left-- > 0) },
    (harness) => isReady(harness) && isReady(harness, ILL),
  ).catch((error: unknown) => {
    // A repeated look has its own result.
    if (left > 0) throw error
  })
})

test('a step that throws is unclear: the world is asked before it is done again, and nothing is made twice', async () => {
  let left = 1
  const harness = await startHarness({ machines: TWO, driver: withSession('perform', () => left-- > 0) })
  await harness.until(() => !harness.alive() || (isReady(harness) && isReady(harness, ILL)))
  assert.ok(harness.alive(), 'the controller ended')
  assert.doesNotMatch(told(harness), /the pass: /)
  assert.deepEqual(
    [...harness.datacentre.world.guests.keys()].filter((id) => id === 201 || id === 202).sort((a, b) => a - b),
    [201, 202],
  )
  await harness.stop()
})

const never: Promise<never> = Promise.reject(new TypeError('planted'))
never.catch(() => {})

const PARTS: readonly (readonly [part: string, options: Partial<ControllerOptions>])[] = [
  ['the history', { history: { note: planted, save: async () => {}, past: planted } as never }],
  ['the checks', { checks: { views: () => [], dueMs: () => 0, look: () => never } as never }],
  ['the previews', { previews: { dueMs: () => 0, look: () => never, poke: () => {} } as never }],
  ['the notices', { notifier: () => ({ dueMs: () => 0, look: () => never, remember: () => '{}' }) as never }],
]

for (const [part, options] of PARTS)
  test(`an exception in ${part} is told, and everything else goes on`, () => keepsTheRest({ options }))

test('a problem of the checks is over when they are looked at again', async () => {
  let left = 1
  const look = async () => (left-- > 0 ? planted() : undefined)
  const checks = { views: () => [], dueMs: () => (left > 0 ? 0 : Number.POSITIVE_INFINITY), look } as never
  const harness = await startHarness({ machines: TWO, options: { checks } })
  await harness.until(() => JSON.stringify(harness.controller.view().problems).includes('planted'))
  await harness.until(() => !JSON.stringify(harness.controller.view().problems).includes('planted'))
  assert.ok(harness.alive())
  await harness.stop()
})

test('a pass that throws as a whole is told and made again', async () => {
  const harness = await startHarness({ machines: TWO })
  const { pass } = harness.engine
  let left = 3
  harness.engine.pass = async (...args) => (left-- > 0 ? planted() : pass(...args))
  await harness.until(() => told(harness).includes('planted'))
  await harness.until(() => !harness.alive() || isReady(harness))
  assert.ok(harness.alive())
  await harness.until(() => !JSON.stringify(harness.controller.view().problems).includes('planted'))
  await harness.stop()
})

test('a view that cannot be made says so in the place of its problems', async () => {
  const harness = await startHarness({ machines: TWO })
  const { pass } = harness.engine
  let ill = true
  harness.engine.pass = async (...args) => {
    const report = await pass(...args)
    return ill
      ? {
          ...report,
          get surveys() {
            return planted()
          },
        }
      : report
  }
  await harness.until(() => JSON.stringify(harness.controller.view().problems).includes('planted'))
  assert.ok(harness.alive())
  ill = false
  await harness.until(() => !harness.alive() || isReady(harness))
  await harness.stop()
})

test('sources that cannot be put in force are tried again', async () => {
  let left = 2
  await keepsTheRest({
    options: { prepare: async (estate) => (left-- > 0 ? planted() : estate) },
  })
})
