import { createDatacentre } from '../../../../../sim/datacentre.ts'
import { checkRequest } from '../../../../../sim/proxmox/validate/index.ts'
import { createVirtualClock } from '../../../../../sim/virtual-clock.ts'
import { simWire } from '../../../../../sim/wire.ts'
import { systemClock } from '../../../../lib/clock.ts'
import { seededRandom } from '../../../../lib/random.ts'
import type { Wire } from '../../../../lib/wire.ts'
import { removed } from '../../../../model/destruction.ts'
import type { ObservedResource } from '../../../../model/resource.ts'
import type { SettingSpec } from '../../../../model/rest.ts'
import { Secret, type SecretReference } from '../../../../model/secret.ts'
import type { Step } from '../../../../model/step.ts'
import type { Session } from '../../../port.ts'
import { openSession } from '../../session.ts'
import { settingRules } from '../setting-rules.ts'
import { TEST_KEY } from './certificate.ts'
import { createPaper } from './paper.ts'

/** One setting without an engine: observe, decide, make the first call, observe again. */
export interface Keeper {
  readonly requests: readonly string[]
  /** Complaints of the real API's validation. */
  readonly complaints: readonly string[]
  list(setting: SettingSpec): Promise<readonly ObservedResource[]>
  find(setting: SettingSpec): Promise<ObservedResource | undefined>
  /** Repeats until nothing differs; returns the performed steps. */
  settle(setting: SettingSpec): Promise<readonly Step[]>
  remove(setting: SettingSpec): Promise<readonly Step[]>
}

/** More calls than any of these should ever need. */
const MOST = 40
export const PASSWORD = 'correct horse battery'

class NotSimulated extends Error {}

export function paperKeeper(): Keeper & ReturnType<typeof createPaper> {
  const paper = createPaper()
  const wire: Wire = { send: (request) => Promise.resolve(paper.handle(request)), close: () => Promise.resolve() }
  return { ...paper, ...keeperOn(wire, (promise) => promise, 'root@pam!croft=x') }
}

export function simKeeper(): Keeper & {
  readonly datacentre: ReturnType<typeof createDatacentre>
  readonly clock: ReturnType<typeof createVirtualClock>
} {
  const clock = createVirtualClock(Date.UTC(2026, 0, 1))
  const datacentre = createDatacentre({ clock, random: seededRandom(7) })
  datacentre.addGuest(114, 'still-fawn', { name: 'web' })
  // A host has one default gateway: the test may set it.
  delete datacentre.world.hosts.get('still-fawn')?.interfaces.get('vmbr0')?.gateway
  return {
    datacentre,
    clock,
    ...keeperOn(
      simWire(datacentre),
      (promise) => clock.runUntil(promise),
      datacentre.token,
      () => clock.advanceTo(clock.now() + 60_000),
    ),
  }
}

function keeperOn(
  wire: Wire,
  run: <T>(promise: Promise<T>) => Promise<T>,
  token: string,
  afterTask: () => Promise<void> = () => Promise.resolve(),
): Keeper {
  const requests: string[] = []
  const complaints: string[] = []
  const checked: Wire = {
    ...wire,
    send(request, signal) {
      const form = typeof request.body === 'string' ? listsIn(new URLSearchParams(request.body)) : {}
      requests.push(`${request.method} ${request.path} ${typeof request.body === 'string' ? request.body : ''}`)
      for (const complaint of checkRequest(request.method, request.path, form))
        complaints.push(`${request.method} ${request.path}: ${complaint}`)
      return wire.send(request, signal)
    },
  }
  const session: Session = openSession(
    {
      name: 'default',
      driver: 'proxmox',
      endpoint: 'https://127.0.0.1:8006',
      token: { env: 'TOKEN' },
      estate: 'test',
      ids: { from: 100, to: 999 },
      limits: { perHost: 2, perStorage: 1, reads: 4 },
      origin: { file: 'x.yaml', line: 1, column: 1 },
    },
    {
      clock: systemClock,
      random: seededRandom(1),
      openWire: () => checked,
      resolveSecret: (reference) => Promise.resolve(new Secret(secretFor(reference, token))),
    },
  )
  const signal = new AbortController().signal
  const list = (setting: SettingSpec) => run(session.list(settingRules.listOf(setting), signal))
  const find = async (setting: SettingSpec) => (await list(setting)).find(({ externalId }) => externalId === setting.id)
  const perform = async (step: Step) => {
    if (step.call?.method === 'DELETE' && step.destroys === undefined)
      throw new Error(`${step.summary} carries no destruction`)
    const outcome = await run(session.perform(step, signal))
    if (outcome.result === 'started') await afterTask()
    if (outcome.result === 'refused') {
      if (/is not simulated/.test(outcome.refusal.message)) throw new NotSimulated(outcome.refusal.message)
      throw new Error(outcome.refusal.message)
    }
  }
  const repeat = async (decide: () => Promise<readonly Step[]>) => {
    const taken: Step[] = []
    for (;;) {
      const [step] = await decide()
      if (step === undefined) return taken
      if (taken.push(step) > MOST) throw new Error(`never done: ${taken.map(({ summary }) => summary).join('; ')}`)
      await perform(step)
    }
  }
  return {
    requests,
    complaints,
    list,
    find,
    settle: (setting) =>
      repeat(async () => {
        const seen = await find(setting)
        if (seen === undefined) return settingRules.createSteps(setting)
        if (seen.close === undefined) throw new NotSimulated(`${setting.id} cannot be read by itself`)
        const changes = settingRules.diff(setting, seen)
        if (changes.length === 0) return []
        const steps = settingRules.updateSteps(setting, seen, changes)
        if (steps.length === 0) throw new Error(`no step for ${JSON.stringify(changes)}`)
        return steps
      }),
    remove: (setting) =>
      repeat(async () => {
        const seen = await find(setting)
        return seen === undefined ? [] : settingRules.deleteSteps(removed(seen, []))
      }),
  }
}

export function secretFor(reference: SecretReference, token: string): string {
  if ('env' in reference && reference.env === 'TOKEN') return token
  const isKey = 'file' in reference && reference.file.endsWith('.key')
  return isKey ? TEST_KEY : PASSWORD
}

function listsIn(form: URLSearchParams): Record<string, unknown> {
  return Object.fromEntries(
    [...new Set(form.keys())].map((name) => [name, form.getAll(name).length > 1 ? form.getAll(name) : form.get(name)]),
  )
}
