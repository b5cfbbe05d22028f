import { cleanText } from '../../lib/clean-text.ts'
import type { SettingValue } from '../../model/rest.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import type { DriverDeps } from '../port.ts'
import { dumpPlace, newPlace, type PlaceKind, writePlace } from './place-view.ts'
import { commandOf } from './steps.ts'
import type { Virsh } from './virsh.ts'
import { type HostPlaces, parseXml, printXml, type XmlElement } from './xml.ts'

/** One step about a network or pool: one call of virsh that writes. */
export function performPlace(
  with_: Performing,
  step: Step,
  kind: PlaceKind,
  uuid: string,
  what: string | undefined,
  signal: AbortSignal,
): Promise<Outcome> {
  const { do: change, options } = commandOf(step)
  const prefix = kind === 'network' ? 'net' : 'pool'
  const write = (words: readonly string[], says: RegExp) =>
    with_.virsh.write(words, { doing: step.summary, says }, signal)
  switch (what) {
    case 'start':
      // The driver that only pretends has no directories to make.
      return options.build === '1' && !with_.uri.startsWith('test:')
        ? write([`${prefix}-start`, uuid, '--build'], /\bstarted\b/)
        : write([`${prefix}-start`, uuid], /\bstarted\b/)
    case 'stop':
      return write([`${prefix}-destroy`, uuid], /\bdestroyed\b/)
    case 'autostart':
      return options.on === '1'
        ? write([`${prefix}-autostart`, uuid], /marked as autostarted/)
        : write([`${prefix}-autostart`, uuid, '--disable'], /unmarked as autostarted/)
    default:
      if (change === 'delete') return write([`${prefix}-undefine`, uuid], /undefined/)
      return change === 'make'
        ? define(with_, step, kind, newPlace(kind, options.name ?? '', uuid), signal)
        : configure(with_, step, kind, uuid, signal)
  }
}

async function configure(
  with_: Performing,
  step: Step,
  kind: PlaceKind,
  uuid: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const text = await with_.virsh.read([...dumpPlace(kind, with_.uri), uuid], step.summary, signal)
  const xml = text === undefined ? undefined : parseXml(text)
  if (xml === undefined)
    return refused({
      reason: 'NotFound',
      meaning: 'backoff',
      message: `could not ${step.summary}: it is not there any more`,
    })
  return define(with_, step, kind, xml, signal)
}

function define(
  { virsh }: Performing,
  step: Step,
  kind: PlaceKind,
  xml: XmlElement,
  signal: AbortSignal,
): Promise<Outcome> {
  const fields = (commandOf(step).values.fields ?? {}) as Readonly<Record<string, SettingValue>>
  const wrong = writePlace(kind, xml, fields)
  if (wrong !== undefined) return Promise.resolve(cannotWrite(step, cleanText(wrong)))
  const verb = kind === 'network' ? 'net-define' : 'pool-define'
  return virsh.write(
    [verb, '/dev/stdin'],
    { doing: step.summary, says: /\bdefined from\b/, input: printXml(xml) },
    signal,
  )
}

/** What every step is performed with. */
export interface Performing {
  readonly virsh: Virsh
  readonly uri: string
  readonly places: HostPlaces
  readonly deps: DriverDeps
}

export function cannotWrite(step: Step, path: string): Outcome {
  const message = `could not ${step.summary}: ${path} cannot be written here; is its pool there, and active?`
  return refused({ reason: 'NotPossible', meaning: 'backoff', message })
}

export function refused(refusal: Refusal): Outcome {
  return { result: 'refused', refusal }
}
