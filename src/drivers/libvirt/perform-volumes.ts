import { seedImage } from '../../cloudinit/image.ts'
import { nameOf as nameOfSecret, secretsIn, withSecrets } from '../../cloudinit/secrets.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Secret } from '../../model/secret.ts'
import type { Step } from '../../model/step.ts'
import type { Outcome } from '../../model/verdict.ts'
import { beginJob, jobId } from './jobs.ts'
import { volumeOf } from './names.ts'
import { cannotWrite, type Performing, refused } from './perform-places.ts'
import { commandOf } from './steps.ts'
import { element, isBlockPool, printXml, volumePath } from './xml.ts'

export async function makeVolume(with_: Performing, step: Step, pool: string, signal: AbortSignal): Promise<Outcome> {
  const { virsh, places, uri } = with_
  const { name = '', format = 'qcow2', sizeGb, backing, from } = commandOf(step).options
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

export async function grow(
  { virsh, places }: Performing,
  step: Step,
  pool: string,
  volume: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { sizeGb = '0', domain, dev = '' } = commandOf(step).options
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

export async function upload(
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

export async function deleteVolume(
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

export async function fetchFile(
  with_: Performing,
  step: Step,
  pool: string,
  name: string,
  what: 'download' | 'verify',
  signal: AbortSignal,
): Promise<Outcome> {
  const directory = with_.places.pools.get(pool)?.path
  if (directory === undefined) return cannotWrite(step, pool)
  const {
    url = '',
    checksum = '',
    compression = '',
    'checksum-algorithm': algorithm = 'sha256',
  } = commandOf(step).options
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
