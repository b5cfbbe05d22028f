import { cleanText } from '../../lib/clean-text.ts'
import type { ClientCommand } from '../../model/command.ts'
import type { SettingValue } from '../../model/rest.ts'
import type { Outcome, Refusal, Step } from '../../model/step.ts'
import type { DriverDeps } from '../port.ts'
import { dumpPlace, newPlace, type PlaceKind, writePlace } from './place-view.ts'
import type { Virsh } from './virsh.ts'
import { type HostPlaces, parseXml, printXml, type XmlElement } from './xml.ts'

/** A running step: its tools, and virsh with errors about this step. */
export interface Performing {
  readonly virsh: Virsh
  readonly uri: string
  readonly places: HostPlaces
  readonly deps: DriverDeps
  readonly step: Step
  readonly command: ClientCommand
  readonly signal: AbortSignal
  /** Returns undefined if virsh says that the thing does not exist. */
  read(words: readonly string[]): Promise<string | undefined>
  /** `says` is virsh's answer on success. */
  write(words: readonly string[], says: RegExp, input?: string | Uint8Array): Promise<Outcome>
  refused(reason: string, meaning: Refusal['meaning'], why: string): Outcome
}

/** Returns why a declared value cannot be written here, for `refused`. */
export function cannotWrite(path: string): [reason: string, meaning: Refusal['meaning'], why: string] {
  return ['NotPossible', 'backoff', `${path} cannot be written here; is its pool there, and active?`]
}

/** Performs one step on a network or pool: one writing call of virsh. */
export function performPlace(
  performing: Performing,
  kind: PlaceKind,
  uuid: string,
  what: string | undefined,
): Promise<Outcome> {
  const { uri, write } = performing
  const { do: change, options } = performing.command
  const prefix = kind === 'network' ? 'net' : 'pool'
  switch (what) {
    case 'start':
      // The test driver cannot create directories.
      return options.build === '1' && !uri.startsWith('test:')
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
        ? define(performing, kind, newPlace(kind, options.name ?? '', uuid))
        : configure(performing, kind, uuid)
  }
}

async function configure(performing: Performing, kind: PlaceKind, uuid: string): Promise<Outcome> {
  const text = await performing.read([...dumpPlace(kind, performing.uri), uuid])
  const xml = text === undefined ? undefined : parseXml(text)
  if (xml === undefined) return performing.refused('NotFound', 'backoff', 'it is not there any more')
  return define(performing, kind, xml)
}

async function define({ command, write, refused }: Performing, kind: PlaceKind, xml: XmlElement): Promise<Outcome> {
  const wrong = writePlace(kind, xml, (command.values.fields ?? {}) as Readonly<Record<string, SettingValue>>)
  if (wrong !== undefined) return refused(...cannotWrite(cleanText(wrong)))
  return write([kind === 'network' ? 'net-define' : 'pool-define', '/dev/stdin'], /\bdefined from\b/, printXml(xml))
}
