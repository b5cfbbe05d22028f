import { seedImage } from '../../cloudinit/image.ts'
import { nameOf as nameOfSecret, secretsIn, withSecrets } from '../../cloudinit/secrets.ts'
import { cleanText } from '../../lib/clean-text.ts'
import { ShellFailure } from '../../lib/shell.ts'
import type { Secret } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome, Refusal } from '../../model/verdict.ts'
import { type DriverDeps, LookFailed } from '../port.ts'
import { newDomain, writeValue } from './domain-write.ts'
import { beginJob, jobId } from './jobs.ts'
import { volumeOf } from './names.ts'
import { digestOf } from './observe.ts'
import { isBlockPool, type Places, volumePath } from './places.ts'
import { outcomeOf, type Virsh } from './virsh.ts'
import { element, parseXml, printXml, type XmlElement } from './xml.ts'

export interface Performing {
  readonly virsh: Virsh
  readonly uri: string
  readonly places: Places
  readonly deps: DriverDeps
}

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
  const [, head, id = '', what, name = '', last] = step.call.path.split('/').map(decodeURIComponent)
  const { method } = step.call
  if (head === 'domains') {
    if (id === '') return define(with_, step, signal)
    if (what === undefined)
      return method === 'DELETE' ? undefine(with_, step, id, signal) : configure(with_, step, id, signal)
    return domainVerb(with_, step, id, what, signal)
  }
  if (name === '') return makeVolume(with_, step, id, signal)
  if (last === 'content') return upload(with_, step, id, name, signal)
  if (last === 'download' || last === 'verify') return fetchFile(with_, step, id, name, last, signal)
  return method === 'DELETE' ? deleteVolume(with_, step, id, name, signal) : grow(with_, step, id, name, signal)
}

/** libvirt has no compare-and-set of its own: the definition is read again right before it is written. */
async function digestMismatch({ virsh }: Performing, step: Step, signal: AbortSignal): Promise<Outcome | undefined> {
  const { digest } = step.call.params
  if (digest === undefined) return undefined
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  const uuid = step.call.params.id ?? decodeURIComponent(step.call.path.split('/')[2] ?? '')
  const now = await virsh.read(['dumpxml', '--inactive', uuid], step.summary, signal)
  if (now === undefined) return refused({ reason: 'NotFound', meaning: 'backoff', message: gone(step, uuid) })
  if (digestOf(now) === digest) return undefined
  return refused({
    reason: 'DigestMismatch',
    meaning: 'waiting',
    message: `could not ${step.summary}: somebody changed domain ${uuid} in the meantime; it is looked at again`,
  })
}

async function define({ virsh, uri, places }: Performing, step: Step, signal: AbortSignal): Promise<Outcome> {
  const { uuid = '', name = '', type = 'kvm', machine, bios, architecture, ...values } = step.call.params
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
  const { digest: _digest, ...values } = step.call.params
  // With what protects a display: without it, writing the definition back would take the password away.
  const text = await virsh.read(['dumpxml', '--inactive', '--security-info', uuid], step.summary, signal)
  const domain = text === undefined ? undefined : parseXml(text)
  if (domain === undefined) return refused({ reason: 'NotFound', meaning: 'backoff', message: gone(step, uuid) })
  const wrong = writeAll(domain, values, places)
  if (wrong !== undefined) return cannotWrite(step, wrong)
  return virsh.write(
    ['define', '/dev/stdin'],
    { doing: step.summary, says: /\bdefined from\b/, input: printXml(domain) },
    signal,
  )
}

function writeAll(domain: XmlElement, values: Readonly<Record<string, string>>, places: Places): string | undefined {
  for (const [path, value] of Object.entries(values))
    if (!writeValue(domain, path, JSON.parse(value), places)) return path
  return undefined
}

function cannotWrite(step: Step, path: string): Outcome {
  const message = `could not ${step.summary}: ${path} cannot be written here; is its pool there, and active?`
  return refused({ reason: 'NotPossible', meaning: 'backoff', message })
}

async function domainVerb(
  { virsh, deps }: Performing,
  step: Step,
  uuid: string,
  what: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { params } = step.call
  const write = (words: readonly string[], says: RegExp) => virsh.write(words, { doing: step.summary, says }, signal)
  switch (what) {
    case 'start':
      return write(['start', uuid], /\bstarted\b/)
    case 'resume':
      return write(['resume', uuid], /\bresumed\b/)
    case 'autostart':
      return params.on === '1'
        ? write(['autostart', uuid], /marked as autostarted/)
        : write(['autostart', '--disable', uuid], /unmarked as autostarted/)
    case 'eject':
      return params.device === 'cdrom'
        ? write(['change-media', uuid, params.dev ?? '', '--eject', '--force'], /[Ee]jected/)
        : write(['detach-disk', uuid, params.dev ?? '', '--persistent'], /detached/)
    case 'shutdown': {
      const outcome = await write(['shutdown', uuid], /being shutdown|is being shut/)
      if (outcome.result === 'refused' && outcome.refusal.reason === 'NotRunning') return { result: 'done' }
      const force = params.forceAfterSeconds
      const seconds = Number(force ?? params.timeoutSeconds ?? 180)
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
  for (const id of (step.call.params.volumes ?? '').split(',').filter((part) => part !== '')) {
    const colon = id.indexOf(':')
    const outcome = await deleteVolume(with_, step, id.slice(0, colon), id.slice(colon + 1), signal)
    if (outcome.result !== 'done') return outcome
  }
  const words = ['undefine', uuid, '--managed-save']
  // Drivers without firmware of their own refuse the option that deletes its variables.
  const plain = with_.uri.startsWith('test:') ? words : [...words, '--nvram', '--checkpoints-metadata']
  return with_.virsh.write(plain, { doing: step.summary, says: /undefined/ }, signal)
}

async function makeVolume(with_: Performing, step: Step, pool: string, signal: AbortSignal): Promise<Outcome> {
  const { virsh, places, uri } = with_
  const { name = '', format = 'qcow2', sizeGb, backing, from } = step.call.params
  const block = isBlockPool(places.pools.get(pool))
  const kind = block ? 'raw' : format
  if (from !== undefined) {
    const source = volumeOf(from)
    if (source === undefined) return cannotWrite(step, from)
    const xml = printXml(
      element('volume', {}, [
        element('name', {}, name),
        // At least as much as the source has: the copy itself tells how much that is.
        element('capacity', { unit: 'bytes' }, '0'),
        element('target', {}, [element('format', { type: kind })]),
      ]),
    )
    return begin(
      with_,
      step,
      jobId('copy', name, with_.deps.clock.now()),
      'copy',
      [uri, pool, xml, source.pool, source.volume],
      signal,
    )
  }
  const base = backing === undefined ? undefined : volumeOf(backing)
  const basePath = base === undefined ? undefined : volumePath(places, base.pool, base.volume)
  const words = ['vol-create-as', '--pool', pool, '--name', name, '--capacity', `${sizeGb ?? '1'}G`]
  if (!block) words.push('--format', kind)
  if (basePath !== undefined) words.push('--backing-vol', basePath, '--backing-vol-format', formatOf(basePath))
  return virsh.write(words, { doing: step.summary, says: /\bcreated\b/ }, signal)
}

/** By its ending: libvirt does not guess, because a guest could write a header into its raw disk. */
function formatOf(path: string): string {
  return path.endsWith('.raw') ? 'raw' : 'qcow2'
}

async function grow(
  { virsh, places }: Performing,
  step: Step,
  pool: string,
  volume: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { sizeGb = '0', domain, dev = '' } = step.call.params
  if (domain !== undefined)
    return virsh.write(
      ['blockresize', domain, dev, `${sizeGb}G`],
      { doing: step.summary, says: /is resized|resized/ },
      signal,
    )
  // Never smaller: virsh itself refuses that without `--shrink`.
  const path = volumePath(places, pool, volume)
  return path === undefined
    ? cannotWrite(step, pool)
    : virsh.write(
        ['vol-resize', '--pool', pool, volume, `${sizeGb}G`],
        { doing: step.summary, says: /successfully changed/ },
        signal,
      )
}

async function upload(
  with_: Performing,
  step: Step,
  pool: string,
  name: string,
  signal: AbortSignal,
): Promise<Outcome> {
  if (step.upload === undefined) return cannotWrite(step, 'content')
  const document = step.upload.document.reveal()
  const secrets = new Map<string, Secret>()
  for (const reference of secretsIn(document)) {
    try {
      secrets.set(nameOfSecret(reference), await with_.deps.resolveSecret(reference))
    } catch (error) {
      const why = cleanText(error instanceof Error ? error.message : 'unknown')
      const message = `could not ${step.summary}: the secret for what it reads at first boot could not be read: ${why}`
      return refused({ reason: 'SecretMissing', meaning: 'stalled', message })
    }
  }
  const bytes = seedImage(withSecrets(document, secrets))
  const block = isBlockPool(with_.places.pools.get(pool))
  // Empty at first: only what arrives makes it as large as it must be, so that a broken upload is seen.
  const make = ['vol-create-as', '--pool', pool, '--name', name, '--capacity', block ? String(bytes.length) : '0']
  const made = await with_.virsh.write(
    block ? make : [...make, '--format', 'raw'],
    { doing: step.summary, says: /\bcreated\b/ },
    signal,
  )
  if (made.result !== 'done' && !(made.result === 'refused' && made.refusal.reason === 'VolumeTaken')) return made
  const sent = await with_.virsh.write(
    ['vol-upload', '--pool', pool, name, '/dev/stdin'],
    { doing: step.summary, says: /^\s*$/, input: bytes },
    signal,
  )
  return sent
}

async function deleteVolume(
  { virsh }: Performing,
  step: Step,
  pool: string,
  name: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const outcome = await virsh.write(
    ['vol-delete', '--pool', pool, name],
    { doing: step.summary, says: /\bdeleted\b/ },
    signal,
  )
  return outcome.result === 'refused' && outcome.refusal.reason === 'NotFound' ? { result: 'done' } : outcome
}

async function fetchFile(
  with_: Performing,
  step: Step,
  pool: string,
  name: string,
  what: 'download' | 'verify',
  signal: AbortSignal,
): Promise<Outcome> {
  const directory = with_.places.pools.get(pool)?.path
  if (directory === undefined) return cannotWrite(step, pool)
  const { url = '', checksum = '', compression = '', 'checksum-algorithm': algorithm = 'sha256' } = step.call.params
  const nowMs = with_.deps.clock.now()
  return what === 'verify'
    ? begin(
        with_,
        step,
        jobId('verify', name, nowMs),
        'verify',
        [with_.uri, pool, directory, name, algorithm, checksum],
        signal,
      )
    : begin(
        with_,
        step,
        jobId('fetch', name, nowMs),
        'fetch',
        [with_.uri, pool, directory, name, url, algorithm, checksum, compression],
        signal,
      )
}

async function begin(
  { virsh }: Performing,
  step: Step,
  id: string,
  kind: 'copy' | 'fetch' | 'verify',
  words: readonly string[],
  signal: AbortSignal,
): Promise<Outcome> {
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  const ran = await virsh.run(beginJob(id, kind, words), step.summary, signal)
  if (ran.code === 0) return { result: 'started', taskId: `job|${id}` }
  const message = `could not ${step.summary}: ${cleanText(ran.stderr)}`
  return refused({ reason: 'Refused', meaning: 'backoff', message })
}

function gone(step: Step, uuid: string): string {
  return `could not ${step.summary}: there is no domain ${uuid} any more`
}

function refused(refusal: Refusal): Outcome {
  return { result: 'refused', refusal }
}
