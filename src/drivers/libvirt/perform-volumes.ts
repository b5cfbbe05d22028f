import { seedImage } from '../../cloudinit/image.ts'
import { withSecrets } from '../../cloudinit/secrets.ts'
import { cleanText } from '../../lib/clean-text.ts'
import type { Outcome } from '../../model/step.ts'
import { mayStandOn, overlaysOn, readOverlays } from './backing.ts'
import { beginJob, jobId } from './jobs.ts'
import { poolCommand, volumeOf } from './names.ts'
import { cannotWrite, type Performing } from './perform-places.ts'
import { element, isBlockPool, printXml, volumePath } from './xml.ts'

export async function makeVolume(performing: Performing, pool: string): Promise<Outcome> {
  const { command, places, uri, write, refused } = performing
  const { name = '', format = 'qcow2', sizeGb, backing, from } = command.options
  const block = isBlockPool(places.pools.get(pool))
  const kind = block ? 'raw' : format
  if (from !== undefined) {
    const source = volumeOf(from)
    if (source === undefined) return refused(...cannotWrite(from))
    const xml = printXml(
      element('volume', {}, [
        element('name', {}, name),
        // At least the source's size, which the copy itself sets.
        element('capacity', { unit: 'bytes' }, '0'),
        element('target', {}, [element('format', { type: kind })]),
      ]),
    )
    return begin(performing, 'copy', name, [uri, pool, xml, source.pool, source.volume])
  }
  const base = backing === undefined ? undefined : volumeOf(backing)
  const basePath = base === undefined ? undefined : volumePath(places, base.pool, base.volume)
  const words = ['vol-create-as', '--pool', pool, '--name', name, '--capacity', `${sizeGb ?? '1'}G`]
  if (!block) words.push('--format', kind)
  if (basePath !== undefined) words.push('--backing-vol', basePath, '--backing-vol-format', formatOf(basePath))
  return write(words, /\bcreated\b/)
}

/** Returns the format by the file's ending: a guest could fake the header of its raw disk. */
function formatOf(path: string): string {
  return path.endsWith('.raw') ? 'raw' : 'qcow2'
}

export async function grow(performing: Performing, pool: string, volume: string): Promise<Outcome> {
  const { command, places, write, refused } = performing
  const { sizeGb = '0', domain, dev = '' } = command.options
  if (domain !== undefined) return write(['blockresize', domain, dev, `${sizeGb}G`], /is resized|resized/)
  if (volumePath(places, pool, volume) === undefined) return refused(...cannotWrite(pool))
  // Never smaller: virsh itself refuses that without `--shrink`.
  return write(['vol-resize', '--pool', pool, volume, `${sizeGb}G`], /successfully changed/)
}

export async function upload(performing: Performing, pool: string, name: string): Promise<Outcome> {
  const { step, deps, places, write, refused } = performing
  if (step.upload === undefined) return refused(...cannotWrite('content'))
  const document = step.upload.document.reveal()
  let bytes: Uint8Array
  try {
    bytes = seedImage(await withSecrets(document, (reference) => deps.resolveSecret(reference)))
  } catch (error) {
    const why = cleanText(error instanceof Error ? error.message : 'unknown')
    return refused('SecretMissing', 'stalled', `the secret for what it reads at first boot could not be read: ${why}`)
  }
  const block = isBlockPool(places.pools.get(pool))
  // Created empty: only the upload makes it as large as required, so that a broken one shows.
  const make = ['vol-create-as', '--pool', pool, '--name', name, '--capacity', block ? String(bytes.length) : '0']
  const made = await write(block ? make : [...make, '--format', 'raw'], /\bcreated\b/)
  if (made.result !== 'done' && !(made.result === 'refused' && made.refusal.reason === 'VolumeTaken')) return made
  return write(['vol-upload', '--pool', pool, name, '/dev/stdin'], /^\s*$/, bytes)
}

/**
 * Deletes a volume without overlays. `goesToo` are volumes, as `pool:volume`, that the same step deletes. virsh itself
 * would delete a backing file silently.
 */
export async function deleteVolume(
  performing: Performing,
  pool: string,
  name: string,
  goesToo: readonly string[] = [],
): Promise<Outcome> {
  const { virsh, places, step, signal, write, refused } = performing
  const path = volumePath(places, pool, name)
  // A disc image backs no overlay.
  if (path !== undefined && !name.endsWith('.iso')) {
    const { on, unread } = await readOverlays(virsh, step.summary, signal)
    const kept = (on.get(path) ?? []).filter((overlay) => !goesToo.includes(overlay))
    if (kept.length > 0) return refused('InUse', 'backoff', overlaysOn(kept))
    const [pool] = unread
    if (pool !== undefined) return refused('NotListed', 'backoff', `${mayStandOn(pool)}; ${poolCommand(pool)}`)
  }
  const outcome = await write(['vol-delete', '--pool', pool, name], /\bdeleted\b/)
  return outcome.result === 'refused' && outcome.refusal.reason === 'NotFound' ? { result: 'done' } : outcome
}

export async function fetchFile(
  performing: Performing,
  pool: string,
  name: string,
  what: 'download' | 'verify',
): Promise<Outcome> {
  const { command, places, uri, refused } = performing
  const directory = places.pools.get(pool)?.path
  if (directory === undefined) return refused(...cannotWrite(pool))
  const { url = '', checksum = '', compression = '', 'checksum-algorithm': algorithm = 'sha256' } = command.options
  return what === 'verify'
    ? begin(performing, 'verify', name, [uri, pool, directory, name, algorithm, checksum])
    : begin(performing, 'fetch', name, [uri, pool, directory, name, url, algorithm, checksum, compression])
}

async function begin(
  { virsh, deps, step, signal, refused }: Performing,
  kind: 'copy' | 'fetch' | 'verify',
  name: string,
  words: readonly string[],
): Promise<Outcome> {
  if (signal.aborted) return { result: 'not-sent', message: `could not ${step.summary}: it was called off` }
  const id = jobId(kind, name, deps.clock.now())
  const ran = await virsh.run(beginJob(id, kind, words), step.summary, signal)
  return ran.code === 0
    ? { result: 'started', taskId: `job|${id}` }
    : refused('Refused', 'backoff', cleanText(ran.stderr))
}
