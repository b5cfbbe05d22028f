import { cleanText } from '../../lib/clean-text.ts'
import { ShellFailure } from '../../lib/shell.ts'
import type { ClientCommand } from '../../model/command.ts'
import { versionOf } from '../../model/shown-step.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome } from '../../model/verdict.ts'
import { LookFailed } from '../port.ts'
import { newDomain, writeValue } from './domain-write.ts'
import { digestOf } from './observe.ts'
import { cannotWrite, type Performing, performPlace, refused } from './perform-places.ts'
import { deleteVolume, fetchFile, grow, makeVolume, upload } from './perform-volumes.ts'
import { dumpPlace } from './place-view.ts'
import { commandOf } from './steps.ts'
import { outcomeOf } from './virsh.ts'
import { type HostPlaces, parseXml, printXml, type XmlElement } from './xml.ts'

/** One step: what it says is done, one writing call or a job that is begun. Nothing is waited for. */
export async function performStep(with_: Performing, step: Step, signal: AbortSignal): Promise<Outcome> {
  try {
    const changed = await digestMismatch(with_, step, signal)
    return changed ?? (await dispatch(with_, step, signal))
  } catch (error) {
    // A look before the write failed: nothing was written.
    if (error instanceof LookFailed)
      return error.refusal.connectionWide === true && error.refusal.meaning === 'backoff'
        ? { result: 'not-sent', message: error.refusal.message }
        : { result: 'refused', refusal: error.refusal }
    if (error instanceof ShellFailure) return outcomeOf(error, step.summary)
    throw error
  }
}

function dispatch(with_: Performing, step: Step, signal: AbortSignal): Promise<Outcome> {
  const command = commandOf(step)
  const deletes = command.do === 'delete'
  const [, head, id = '', what, name = '', last] = command.object.split('/').map(decodeURIComponent)
  if (head === 'domains') {
    if (id === '') return define(with_, step, signal)
    if (what === undefined) return deletes ? undefine(with_, step, id, signal) : configure(with_, step, id, signal)
    return domainVerb(with_, step, id, what, signal)
  }
  if (head === 'network' || head === 'pool') return performPlace(with_, step, head, id, what, signal)
  if (name === '') return makeVolume(with_, step, id, signal)
  if (last === 'content') return upload(with_, step, id, name, signal)
  if (last === 'download' || last === 'verify') return fetchFile(with_, step, id, name, last, signal)
  return deletes ? deleteVolume(with_, step, id, name, signal) : grow(with_, step, id, name, signal)
}

/** libvirt has no compare-and-set of its own: the definition is read again right before it is written. */
async function digestMismatch(
  { virsh, uri }: Performing,
  step: Step,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  const digest = versionOf(step)
  if (digest === undefined) return undefined
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  const { object, options } = commandOf(step)
  const [, head = '', id = ''] = object.split('/').map(decodeURIComponent)
  const uuid = options.id ?? id
  const dump = head === 'network' || head === 'pool' ? dumpPlace(head, uri) : ['dumpxml', '--inactive']
  const now = await virsh.read([...dump, uuid], step.summary, signal)
  if (now === undefined) return refused({ reason: 'NotFound', meaning: 'backoff', message: gone(step, uuid) })
  if (digestOf(now) === digest) return undefined
  return refused({
    reason: 'DigestMismatch',
    meaning: 'waiting',
    message: `could not ${step.summary}: somebody changed it in the meantime; it is looked at again`,
  })
}

async function define({ virsh, uri, places }: Performing, step: Step, signal: AbortSignal): Promise<Outcome> {
  const { options, values } = commandOf(step)
  const { uuid = '', name = '', type = 'kvm', machine, bios, architecture } = options
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  // `define` overwrites what has the same UUID and name, so it is looked at first.
  const there = await virsh.read(['domname', uuid], step.summary, signal)
  if (there !== undefined)
    return refused({
      reason: 'IdTaken',
      meaning: 'stalled',
      message: `could not ${step.summary}: the UUID ${uuid} is taken by domain ${cleanText(there)}`,
    })
  const kind = uri.startsWith('test:') ? 'test' : type
  const domain = newDomain({ uuid, name, type: kind, machine, bios, architecture })
  const wrong = writeAll(domain, values, places)
  if (wrong !== undefined) return cannotWrite(step, wrong)
  return virsh.write(
    ['define', '/dev/stdin'],
    { doing: step.summary, says: /\bdefined from\b/, input: printXml(domain) },
    signal,
  )
}

async function configure(
  { virsh, places }: Performing,
  step: Step,
  uuid: string,
  signal: AbortSignal,
): Promise<Outcome> {
  // With what protects a display: without it, writing the definition back would take the password away.
  const text = await virsh.read(['dumpxml', '--inactive', '--security-info', uuid], step.summary, signal)
  const domain = text === undefined ? undefined : parseXml(text)
  if (domain === undefined) return refused({ reason: 'NotFound', meaning: 'backoff', message: gone(step, uuid) })
  const wrong = writeAll(domain, commandOf(step).values, places)
  if (wrong !== undefined) return cannotWrite(step, wrong)
  return virsh.write(
    ['define', '/dev/stdin'],
    { doing: step.summary, says: /\bdefined from\b/, input: printXml(domain) },
    signal,
  )
}

function writeAll(domain: XmlElement, values: ClientCommand['values'], places: HostPlaces): string | undefined {
  for (const [path, value] of Object.entries(values)) if (!writeValue(domain, path, value, places)) return path
  return undefined
}

async function domainVerb(
  { virsh, deps }: Performing,
  step: Step,
  uuid: string,
  what: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { options } = commandOf(step)
  const write = (words: readonly string[], says: RegExp) => virsh.write(words, { doing: step.summary, says }, signal)
  switch (what) {
    case 'start':
      return write(['start', uuid], /\bstarted\b/)
    case 'resume':
      return write(['resume', uuid], /\bresumed\b/)
    case 'autostart':
      return options.on === '1'
        ? write(['autostart', uuid], /marked as autostarted/)
        : write(['autostart', '--disable', uuid], /unmarked as autostarted/)
    case 'eject':
      return options.device === 'cdrom'
        ? write(['change-media', uuid, options.dev ?? '', '--eject', '--force'], /[Ee]jected/)
        : write(['detach-disk', uuid, options.dev ?? '', '--persistent'], /detached/)
    case 'shutdown': {
      const outcome = await write(['shutdown', uuid], /being shutdown|is being shut/)
      if (outcome.result === 'refused' && outcome.refusal.reason === 'NotRunning') return { result: 'done' }
      const force = options.forceAfterSeconds
      const seconds = Number(force ?? options.timeoutSeconds ?? 180)
      return outcome.result === 'done'
        ? {
            result: 'started',
            taskId: `shutdown|${uuid}|${deps.clock.now()}|${seconds}|${force === undefined ? '' : 'force'}`,
          }
        : outcome
    }
    default:
      return refused({ reason: 'NotPossible', meaning: 'stalled', message: `there is no way to ${cleanText(what)}` })
  }
}

/** Volumes first: while the domain is there, everybody can see what is left to be cleared away. */
async function undefine(with_: Performing, step: Step, uuid: string, signal: AbortSignal): Promise<Outcome> {
  for (const id of (commandOf(step).options.volumes ?? '').split(',').filter((part) => part !== '')) {
    const colon = id.indexOf(':')
    const outcome = await deleteVolume(with_, step, id.slice(0, colon), id.slice(colon + 1), signal)
    if (outcome.result !== 'done') return outcome
  }
  const words = ['undefine', uuid, '--managed-save']
  // Drivers without firmware of their own refuse the option that deletes its variables.
  const plain = with_.uri.startsWith('test:') ? words : [...words, '--nvram', '--checkpoints-metadata']
  return with_.virsh.write(plain, { doing: step.summary, says: /undefined/ }, signal)
}

function gone(step: Step, uuid: string): string {
  return `could not ${step.summary}: ${uuid} is not there any more`
}
