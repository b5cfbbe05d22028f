import { createHash } from 'node:crypto'
import type { Downloadable, Volume } from '../../../world/parts.ts'
import { answers, portOf } from '../../../world/reachable.ts'
import { GIB, MIB } from '../../../world/sizes.ts'
import { startTask, type Work } from '../../../world/tasks.ts'
import type { World } from '../../../world/types.ts'
import { addVolume, checksumOf, filePath, usedBytes, volumesOf } from '../../../world/volumes.ts'
import { badParameter, failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { needStorage } from './storage.ts'

export const downloadRoutes: Routes = {
  'POST /nodes/{node}/storage/{storage}/download-url': download,
  'POST /nodes/{node}/storage/{storage}/upload': upload,
  'GET /nodes/{node}/query-url-metadata': metadata,
}

function metadata(call: Call): Record<string, unknown> {
  const url = param(call, 'url')
  const place = new URL(url)
  if (!answers(call.world, place.hostname, portOf(place))) {
    const address = `${place.hostname}:${portOf(place)}`
    throw failed(`invalid server response: '500 Can't connect to ${address} (Connection refused)'`)
  }
  const file = downloadable(call.world, url)
  if (file.status === 404) throw failed("invalid server response: '404 File not found'")
  return {
    filename: url.replace(/^.*\//, ''),
    size: file.sizeBytes,
    mimetype: file.mimetype ?? 'application/octet-stream',
  }
}

const NAMES: Readonly<Record<string, RegExp>> = {
  iso: /.\.(iso|img)$/i,
  vztmpl: /.\.(tar|tar\.(gz|xz|zst|bz2))$/i,
  import: /.\.(ova|qcow2|raw|vmdk)$/,
}

/** Where the file goes, or the refusal. An upload judges the name first, a download what the storage is for. */
function target(call: Call, way: 'upload' | 'download') {
  const entry = needStorage(call)
  if (!entry.files)
    throw failed(`can't upload to storage type '${entry.type}'${way === 'upload' ? '' : ', not a file based storage!'}`)
  if (way === 'upload' && call.file === undefined) throw failed('missing temporary file name')
  const content = param(call, 'content')
  const takes = entry.content.includes(content)
  if (way === 'download' && !takes)
    throw failed(`storage '${entry.id}' is not configured for content-type '${content}'`)
  const filename = param(call, 'filename')
    .replace(/\n$/, '')
    .replace(/^.*[/\\]/, '')
    .replace(/[^a-zA-Z0-9_.-]/g, '_')
  if (NAMES[content]?.test(filename) !== true)
    throw badParameter(
      'filename',
      content === 'import' ? 'invalid filename or wrong extension' : 'wrong file extension',
    )
  if (!takes) throw failed(`storage '${entry.id}' does not support '${content}' content`)
  const extension = filename.replace(/^.*\./, '')
  const format = content === 'iso' ? 'iso' : content === 'vztmpl' ? `t${extension}` : extension
  return { entry, content, name: `${content}/${filename}`, format }
}

function download(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const { entry, content, name, format } = target(call, 'download')
  const url = param(call, 'url')
  const path = filePath(entry, name)
  return startTask(world, host, 'download', name.replace(/^.*\//, ''), call.who.id, async (work) => {
    if (call.params.compression !== undefined && content !== 'iso')
      throw new Error(`decompression not supported for ${content}`)
    if (call.params.compression !== undefined && !/^(gz|lzo|zst|bz2)$/.test(call.params.compression)) {
      throw new Error('no decompression method found')
    }
    work.log(`downloading ${url} to ${path}`)
    const there = volumesOf(host, entry.id).get(name)
    if (there !== undefined) {
      if (call.params.checksum === undefined) throw new Error(`refusing to override existing file '${path}'`)
      verifyExisting(call, work, there)
      return
    }
    const file = await fetched(call, work, url)
    if (file.sizeBytes > entry.totalBytes - usedBytes(host, entry)) throw new Error('download failed: exit code 3')
    verify(call, work, (algorithm) => sumOf(call, url, file, algorithm))
    addVolume(world, host, entry, {
      name,
      content,
      format,
      sizeBytes: file.sizeBytes,
      virtualBytes: file.virtualBytes,
      ctimeSeconds: Math.floor(world.clock.now() / 1000),
      ...(content === 'vztmpl' ? {} : { system: { agent: true, acpi: true } }),
      checksumSeed: url,
    })
    work.log(`download of '${url}' to '${path}' finished`)
  })
}

async function fetched(call: Call, work: Work, url: string): Promise<Downloadable> {
  const { world } = call
  const place = new URL(url)
  work.log(`--${new Date(world.clock.now()).toISOString().slice(0, 19).replace('T', ' ')}--  ${url}`)
  const address = `${place.hostname}:${portOf(place)}`
  if (!answers(world, place.hostname, portOf(place))) {
    throw new Error(`download failed: Connecting to ${address}... failed: Connection refused.`)
  }
  const file = downloadable(world, url)
  work.log(`Connecting to ${address}... connected.`)
  if (file.status !== undefined && file.status !== 200) {
    work.log(`HTTP request sent, awaiting response... ${file.status} Not Found`)
    throw new Error('download failed: exit code 8')
  }
  work.log('HTTP request sent, awaiting response... 200 OK')
  work.log(`Length: ${file.sizeBytes} (${Math.round(file.sizeBytes / MIB)}M) [application/octet-stream]`)
  await work.pass(Math.ceil((file.sizeBytes / world.timing.downloadBytesPerSecond) * 1000))
  return file
}

/** What an address gives: what was published there, else a file of a size that the address itself decides. */
export function downloadable(world: World, url: string): Downloadable {
  const known = world.downloads.get(url)
  if (known !== undefined) return known
  // What the host itself serves is what was put there and nothing else.
  if (/^https?:\/\/(127\.|localhost|\[::1\])/.test(url)) {
    return { sizeBytes: 0, virtualBytes: 0, sha256: '', sha512: '', status: 404 }
  }
  const sizeBytes = 400 * MIB + (Number.parseInt(checksumOf(url, 'sha256').slice(0, 6), 16) % (300 * MIB))
  return { sizeBytes, virtualBytes: 3.5 * GIB, sha256: '', sha512: '' }
}

/** Returns the checksum of a download. A file that was not published in the simulator has the expected one. */
function sumOf(call: Call, url: string, file: Downloadable, algorithm: string): string {
  if (file.sha256 === '') {
    const expected = param(call, 'checksum').toLowerCase()
    return /^(.)\1*$/.test(expected) ? checksumOf(url, algorithm) : expected
  }
  if (algorithm === 'sha256') return file.sha256
  return algorithm === 'sha512' ? file.sha512 : checksumOf(url, algorithm)
}

/** Never fetches an existing file again: it has the right checksum, or the call fails. */
function verifyExisting(call: Call, work: Work, there: Volume): void {
  const seed = there.checksumSeed ?? there.name
  const expected = param(call, 'checksum')
  const got = sumOf(call, seed, downloadable(call.world, seed), call.params['checksum-algorithm'] ?? 'sha256')
  if (got !== expected.toLowerCase()) {
    work.log('calculating checksum of existing file...')
    throw new Error(`checksum mismatch: got '${got}' != expect '${expected}', aborting`)
  }
  work.log('calculating checksum of existing file...OK, got correct file already, no need to download')
}

function verify(call: Call, work: Work, sum: (algorithm: string) => string): void {
  const expected = call.params.checksum
  if (expected === undefined) return
  const got = sum(call.params['checksum-algorithm'] ?? 'sha256')
  if (got !== expected.toLowerCase()) {
    work.log('calculating checksum...')
    throw new Error(`checksum mismatch: got '${got}' != expect '${expected}'`)
  }
  work.log('calculating checksum...OK, checksum verified')
}

/** What is to become a disk must be what its name says. */
function verifyImage(work: Work, path: string, format: string, bytes: Uint8Array): void {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 265))
  if (format === 'ova' && start.slice(257, 262) !== 'ustar') {
    work.log('tar: This does not look like a tar archive')
    throw new Error(`command 'tar -t -f ${path}' failed: exit code 2`)
  }
  const fits =
    format === 'qcow2' ? start.startsWith('QFI\u00fb') : format !== 'vmdk' || /^(KDMV|COWD|# Disk)/.test(start)
  if (fits) return
  work.log(`command '/usr/bin/qemu-img info '--output=json' ${path} -f ${format}' failed: exit code 1`)
  throw new Error(
    `qemu-img: Could not open '${path}': ${format === 'vmdk' ? 'invalid VMDK image descriptor' : 'Image is not in qcow2 format'}`,
  )
}

/** An upload replaces a file of the same name. */
function upload(call: Call): string {
  const { world } = call
  const host = hostOf(call)
  const { entry, content, name, format } = target(call, 'upload')
  const bytes = call.file?.bytes ?? new Uint8Array()
  return startTask(world, host, 'imgcopy', '', call.who.id, async (work) => {
    const from = `/var/tmp/pveupload-${checksumOf(`${name}${world.clock.now()}`, 'md5')}`
    work.log(`starting file import from: ${from}`)
    verify(call, work, (algorithm) => createHash(algorithm).update(bytes).digest('hex'))
    if (content === 'import') verifyImage(work, from, format, bytes)
    work.log(`target node: ${host.name}`)
    work.log(`target file: ${filePath(entry, name)}`)
    work.log(`file size is: ${bytes.length}`)
    work.log(`command: cp -- ${from} ${filePath(entry, name)}`)
    await work.pass(world.timing.shortTaskMs)
    addVolume(world, host, entry, {
      name,
      content,
      format,
      sizeBytes: bytes.length,
      bytes,
      ctimeSeconds: Math.floor(world.clock.now() / 1000),
    })
    work.log('finished file import successfully')
  })
}
