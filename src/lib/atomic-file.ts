import { link, mkdir, open, rename, unlink } from 'node:fs/promises'
import path from 'node:path'

/** Writes a whole file, or none: under another name first, then on disk, then in its place; then its directory. */
export async function replaceFile(file: string, content: Uint8Array | string): Promise<void> {
  const temporary = await writeSibling(file, content)
  try {
    await rename(temporary, file)
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
  await syncDirectory(path.dirname(file))
}

/** Creates the file; keeps an existing one. */
export async function createOnce(file: string, content: string): Promise<void> {
  const temporary = await writeSibling(file, content)
  try {
    await link(temporary, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await unlink(temporary).catch(() => undefined)
  }
  await syncDirectory(path.dirname(file))
}

/** Number in temporary names: two writers must not share a file. */
let written = 0

async function writeSibling(file: string, content: Uint8Array | string): Promise<string> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  for (let attempt = 0; ; attempt++) {
    written += 1
    const temporary = `${file}.${process.pid}-${written}.new`
    try {
      const handle = await open(temporary, 'wx', 0o600)
      try {
        await handle.writeFile(content)
        await handle.sync()
      } finally {
        await handle.close()
      }
      return temporary
    } catch (error) {
      // Left over from a crash of an earlier process of the same number.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || attempt >= ATTEMPTS) throw error
    }
  }
}

const ATTEMPTS = 100

/** Flushes the directory: otherwise a power cut may restore the old name. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
