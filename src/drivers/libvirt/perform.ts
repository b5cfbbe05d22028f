import { cleanText } from '../../lib/clean-text.ts'
import { ShellFailure } from '../../lib/shell.ts'
import { versionOf } from '../../model/shown-step.ts'
import type { Outcome, Step } from '../../model/step.ts'
import { ObservationFailed } from '../port.ts'
import { newDomain, writeValue } from './domain-write.ts'
import { digestOf } from './observe.ts'
import { cannotWrite, type Performing, performPlace } from './perform-places.ts'
import { deleteVolume, fetchFile, grow, makeVolume, upload } from './perform-volumes.ts'
import { dumpPlace } from './place-view.ts'
import { commandOf } from './steps.ts'
import { outcomeOf } from './virsh.ts'
import { parseXml, printXml, type XmlElement } from './xml.ts'

/** Performs one step: checks its precondition, and makes one writing call or starts a job. Waits for nothing. */
export async function performStep(
  tools: Pick<Performing, 'virsh' | 'uri' | 'places' | 'deps'>,
  step: Step,
  signal: AbortSignal,
): Promise<Outcome> {
  const doing = step.summary
  const performing: Performing = {
    ...tools,
    step,
    command: commandOf(step),
    signal,
    read: (words) => tools.virsh.read(words, doing, signal),
    write: (words, says, input) =>
      tools.virsh.write(words, { doing, says, ...(input === undefined ? {} : { input }) }, signal),
    refused: (reason, meaning, why) => ({
      result: 'refused',
      refusal: { reason, meaning, message: `could not ${doing}: ${why}` },
    }),
  }
  try {
    return (await digestMismatch(performing)) ?? (await dispatch(performing))
  } catch (error) {
    // A read before the write failed: nothing was written.
    if (error instanceof ObservationFailed)
      return error.refusal.connectionWide === true && error.refusal.meaning === 'backoff'
        ? { result: 'not-sent', message: error.refusal.message }
        : { result: 'refused', refusal: error.refusal }
    if (error instanceof ShellFailure) return outcomeOf(error, doing)
    throw error
  }
}

function dispatch(performing: Performing): Promise<Outcome> {
  const { command } = performing
  const deletes = command.do === 'delete'
  const [, head, id = '', what, name = '', last] = command.object.split('/').map(decodeURIComponent)
  if (head === 'domains') {
    if (id === '') return define(performing)
    if (what === undefined) return deletes ? undefine(performing, id) : configure(performing, id)
    return domainVerb(performing, id, what)
  }
  if (head === 'network' || head === 'pool') return performPlace(performing, head, id, what)
  if (name === '') return makeVolume(performing, id)
  if (last === 'content') return upload(performing, id, name)
  if (last === 'download' || last === 'verify') return fetchFile(performing, id, name, last)
  return deletes ? deleteVolume(performing, id, name) : grow(performing, id, name)
}

/** libvirt has no compare-and-set: read the definition again right before writing it. */
async function digestMismatch({ uri, step, command, signal, read, refused }: Performing): Promise<Outcome | undefined> {
  const digest = versionOf(step)
  if (digest === undefined) return undefined
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  const [, head = '', id = ''] = command.object.split('/').map(decodeURIComponent)
  const uuid = command.options.id ?? id
  const now = await read([
    ...(head === 'network' || head === 'pool' ? dumpPlace(head, uri) : ['dumpxml', '--inactive']),
    uuid,
  ])
  if (now === undefined) return refused('NotFound', 'backoff', `${uuid} is not there any more`)
  if (digestOf(now) === digest) return undefined
  return refused('DigestMismatch', 'waiting', 'somebody changed it in the meantime; it is looked at again')
}

async function define(performing: Performing): Promise<Outcome> {
  const { uri, step, command, signal, read, refused } = performing
  const { uuid = '', name = '', type = 'kvm', machine, bios, architecture } = command.options
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  // `define` overwrites a domain with the same UUID and name, so check first.
  const there = await read(['domname', uuid])
  if (there !== undefined)
    return refused('IdTaken', 'stalled', `the UUID ${uuid} is taken by domain ${cleanText(there)}`)
  const kind = uri.startsWith('test:') ? 'test' : type
  return writeDomain(performing, newDomain({ uuid, name, type: kind, machine, bios, architecture }))
}

async function configure(performing: Performing, uuid: string): Promise<Outcome> {
  // Includes the display's password: without it, writing the definition back would remove it.
  const text = await performing.read(['dumpxml', '--inactive', '--security-info', uuid])
  const domain = text === undefined ? undefined : parseXml(text)
  if (domain === undefined) return performing.refused('NotFound', 'backoff', `${uuid} is not there any more`)
  return writeDomain(performing, domain)
}

async function writeDomain({ command, places, write, refused }: Performing, domain: XmlElement): Promise<Outcome> {
  for (const [path, value] of Object.entries(command.values))
    if (!writeValue(domain, path, value, places)) return refused(...cannotWrite(path))
  return write(['define', '/dev/stdin'], /\bdefined from\b/, printXml(domain))
}

async function domainVerb(performing: Performing, uuid: string, what: string): Promise<Outcome> {
  const { command, deps, write } = performing
  const { options } = command
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
      if (outcome.result !== 'done') return outcome
      const force = options.forceAfterSeconds
      const seconds = Number(force ?? options.timeoutSeconds ?? 180)
      const taskId = `shutdown|${uuid}|${deps.clock.now()}|${seconds}|${force === undefined ? '' : 'force'}`
      return { result: 'started', taskId }
    }
    default: {
      const message = `there is no way to ${cleanText(what)}`
      return { result: 'refused', refusal: { reason: 'NotPossible', meaning: 'stalled', message } }
    }
  }
}

/** Volumes first: while the domain exists, it shows what is left to delete. */
async function undefine(performing: Performing, uuid: string): Promise<Outcome> {
  const snapshots = await performing.read(['snapshot-list', '--name', uuid])
  if (snapshots !== undefined && snapshots.trim() !== '')
    return performing.refused('InUse', 'backoff', `domain ${uuid} has snapshots, which somebody made to come back to`)
  const volumes = (performing.command.options.volumes ?? '').split(',').filter((part) => part !== '')
  for (const id of volumes) {
    const colon = id.indexOf(':')
    const outcome = await deleteVolume(performing, id.slice(0, colon), id.slice(colon + 1), volumes)
    if (outcome.result !== 'done') return outcome
  }
  const words = ['undefine', uuid, '--managed-save']
  // Drivers without own firmware refuse the option that deletes its variables.
  const plain = performing.uri.startsWith('test:') ? words : [...words, '--nvram', '--checkpoints-metadata']
  return performing.write(plain, /undefined/)
}
