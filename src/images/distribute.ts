import { cleanText } from '../lib/clean-text.ts'
import type { Shell } from '../lib/shell.ts'
import { BuildFailed, checksumOf } from './build.ts'

/** Bytes per piece: far below a shell's limit, and large enough to hide latency. */
const CHUNK_BYTES = 8 * 1024 * 1024

/**
 * Copies an image to a pool of another computer, unless the right one is there already. It arrives under a temporary
 * name and is checked there; only then does it get the name that machines are made from.
 */
export async function distributeImage(options: {
  readonly from: Shell
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  readonly to: Shell
  readonly uri: string
  readonly pool: string
  readonly fileName: string
  readonly signal: AbortSignal
  /** Names this transfer: another one may be under way. */
  readonly run: string
  onProgress?(bytes: number): void
  /** Says why the file that has the name now must keep its content: disks of machines may stand on it. */
  keptBy(): Promise<string | undefined>
}): Promise<'there' | 'copied'> {
  const { to, path, sha256, signal, pool, uri, fileName } = options
  const virsh = ['env', 'LC_ALL=C', 'virsh', '-c', uri]
  const described = await to.run([...virsh, 'pool-dumpxml', pool], { signal })
  const directory = /<target>\s*<path>([^<]+)<\/path>/.exec(described.stdout)?.[1]
  if (directory === undefined) throw new BuildFailed(`pool ${pool} is not there: ${cleanText(described.stderr)}`)
  const target = `${directory}/${fileName}`
  if ((await checksumOf(target, to, signal))?.sha256 === sha256) return 'there'
  const replaceable = async () => {
    if ((await to.run(['stat', '-c', '%s', '--', target], { signal })).code !== 0) return
    const why = await options.keptBy()
    if (why !== undefined) throw new BuildFailed(why)
  }
  await replaceable()
  const part = `${directory}/.croft-${fileName}.${options.run}.part`
  // Transfers that were cut off leave their part; none takes a day.
  const left = ['-name', '.croft-*.part', '-mmin', '+1440', '-delete']
  await mustRun(to, ['find', directory, '-maxdepth', '1', ...left], signal)
  try {
    await mustRun(to, ['install', '-m', '0600', '/dev/null', part], signal)
    // Made on that very computer: it only has to be copied there.
    if ((await checksumOf(path, to, signal))?.sha256 === sha256)
      await mustRun(to, ['cp', '--sparse=always', path, part], signal)
    else await carry(options, part)
    if ((await checksumOf(part, to, signal))?.sha256 !== sha256)
      throw new BuildFailed(`${fileName} did not arrive whole in ${pool}; run it again`)
    await mustRun(to, ['chmod', '0644', part], signal)
    // A machine may have been made from it while the image was on its way.
    await replaceable()
    await mustRun(to, ['mv', '-f', part, target], signal)
  } finally {
    await to.run(['rm', '-f', '--', part]).catch(() => undefined)
  }
  await mustRun(to, [...virsh, 'pool-refresh', pool], signal)
  return 'copied'
}

type ImageTransfer = Parameters<typeof distributeImage>[0]

async function carry({ from, to, path, bytes, signal, onProgress }: ImageTransfer, part: string): Promise<void> {
  let at = 0
  for await (const chunk of chunksOf({ from, path, bytes, signal })) {
    const write = [
      'dd',
      `of=${part}`,
      `bs=${CHUNK_BYTES}`,
      `seek=${at}`,
      'conv=notrunc',
      'iflag=fullblock',
      'status=none',
    ]
    await mustRun(to, write, signal, chunk)
    at++
    onProgress?.(Math.min(bytes, at * CHUNK_BYTES))
  }
}

/** A file of another computer, piece by piece. */
export async function* chunksOf({
  from,
  path,
  bytes,
  signal,
}: Pick<ImageTransfer, 'from' | 'path' | 'bytes' | 'signal'>): AsyncGenerator<Uint8Array> {
  for (let at = 0; at * CHUNK_BYTES < bytes; at++) {
    const read = await from.run(['sh', '-c', READ, 'croft', path, String(at), String(CHUNK_BYTES)], { signal })
    if (read.code !== 0) throw new BuildFailed(`could not read ${path}: ${cleanText(read.stderr)}`)
    yield Buffer.from(read.stdout, 'base64')
  }
}

const READ = 'dd if="$1" bs="$3" skip="$2" count=1 iflag=fullblock status=none | base64 -w0'

async function mustRun(shell: Shell, argv: readonly string[], signal: AbortSignal, input?: Uint8Array): Promise<void> {
  const ran = await shell.run(argv, { signal, timeoutMs: 600_000, ...(input === undefined ? {} : { input }) })
  if (ran.code !== 0) throw new BuildFailed(`${argv[0]} failed: ${cleanText(ran.stderr)}`)
}
