import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { LIMITS } from '../../../lib/limits.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'

/** Transfers files of any size over a shell in pieces, so that neither side holds more than one. */
export interface Carrying {
  readonly mode: number
  readonly signal: AbortSignal
  /** After each piece. */
  readonly onProgress?: (bytes: number, of: number) => void
}

const BEGIN =
  'umask 077; d=$(dirname -- "$1"); [ -d "$d" ] || { echo "there is no folder $d" >&2; exit 3; }; mktemp -- "$1.croft-XXXXXXXX"'
const APPEND = 'cat >>"$1"'
/** Replaces the file only after a complete transfer. */
const FINISH =
  '[ "$(sha256sum <"$1" | cut -d" " -f1)" = "$3" ] || { echo "what arrived is not what was sent" >&2; exit 4; }; ' +
  'chmod -- "$4" "$1" && { sync -d -- "$1" 2>/dev/null || :; } && mv -fT -- "$1" "$2"'
const PIECE = 'tail -c "+$2" -- "$1" | head -c "$3" | base64'
const SIZE = '[ -f "$1" ] || exit 3; stat -c %s -- "$1"; sha256sum <"$1"'

/** Gives the number of bytes that were carried. */
export async function carryThere(shell: Shell, from: string, to: string, how: Carrying): Promise<number> {
  const file = await open(from)
  try {
    const { size } = await file.stat()
    const part = (await must(shell, ['sh', '-c', BEGIN, 'croft', to], how)).trim()
    try {
      const hash = createHash('sha256')
      let sent = 0
      for await (const piece of piecesOf(file)) {
        hash.update(piece)
        await must(shell, ['sh', '-c', APPEND, 'croft', part], how, piece)
        sent += piece.length
        how.onProgress?.(sent, size)
      }
      const mode = how.mode.toString(8).padStart(4, '0')
      await must(shell, ['sh', '-c', FINISH, 'croft', part, to, hash.digest('hex'), mode], how)
      return sent
    } catch (error) {
      // Remove the partial file. On an unreachable host it stays, under a name that no program reads.
      await shell.run(['rm', '-f', '--', part]).catch(() => undefined)
      throw error
    }
  } finally {
    await file.close()
  }
}

/** Copies a file from the host. Undefined: no such file. The local one must not exist yet. */
export async function carryBack(shell: Shell, from: string, to: string, how: Carrying): Promise<number | undefined> {
  const asked = await shell.run(['sh', '-c', SIZE, 'croft', from], { signal: how.signal, timeoutMs: LIMITS.carryMs })
  if (asked.code === 3) return undefined
  const [size = '', sum = ''] = asked.stdout.split('\n')
  const wanted = Number(size)
  const file = await open(to, 'wx', how.mode)
  let kept = false
  try {
    const hash = createHash('sha256')
    let got = 0
    while (got < wanted) {
      const words = ['sh', '-c', PIECE, 'croft', from, String(got + 1), String(LIMITS.carriedPieceBytes)]
      const piece = Buffer.from(await must(shell, words, how), 'base64')
      if (piece.length === 0) break
      hash.update(piece)
      await file.write(piece)
      got += piece.length
      how.onProgress?.(got, wanted)
    }
    if (hash.digest('hex') !== sum.split(' ')[0])
      throw new ShellFailure('maybe', 'changed', `${from} changed while it was fetched`)
    await file.sync()
    kept = true
    return got
  } finally {
    await file.close()
    if (!kept) await rm(to, { force: true })
  }
}

async function* piecesOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(LIMITS.carriedPieceBytes), 0, LIMITS.carriedPieceBytes)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}

async function must(shell: Shell, argv: readonly string[], { signal }: Carrying, input?: Uint8Array): Promise<string> {
  const timeoutMs = LIMITS.carryMs
  const ran = await shell.run(argv, { signal, timeoutMs, ...(input === undefined ? {} : { input }) })
  if (ran.code !== 0) throw new ShellFailure('maybe', 'unwritable', ran.stderr.trim().slice(0, 300))
  return ran.stdout
}
