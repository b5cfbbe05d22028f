import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises'
import type { z } from 'zod'
import { LIMITS } from '../../lib/limits.ts'

/** A small JSON file that another process may change at any time: a revocation must be seen at the next request. */
export interface CredentialFile<T> {
  /** Reads the file's value. Without a file: the empty value. An unreadable file is an error, never "empty". */
  read(): Promise<T>
  /** Changes it in one piece; a reader sees the old or the new file, never half of one. */
  change(edit: (value: T) => T): Promise<void>
}

export class UnusableCredentials extends Error {
  override readonly name = 'UnusableCredentials'
}

export function credentialFile<T>(path: string, schema: z.ZodType<T>, empty: T): CredentialFile<T> {
  let known: { readonly stamp: string; readonly value: T } | undefined
  let last: Promise<unknown> = Promise.resolve()

  async function read(): Promise<T> {
    const stamp = await stampOf(path)
    if (stamp === undefined) return empty
    if (known?.stamp === stamp) return known.value
    const value = parse(await readFile(path, 'utf8'))
    // Store it under the earlier stamp: a change in between is read again next time.
    known = { stamp, value }
    return value
  }

  function parse(text: string): T {
    let json: unknown
    try {
      json = JSON.parse(text)
    } catch {
      throw new UnusableCredentials(`${path} is not JSON. Correct it, or move it away to begin with an empty one.`)
    }
    const parsed = schema.safeParse(json)
    if (!parsed.success) {
      const at = parsed.error.issues[0]?.path.join('.') ?? ''
      throw new UnusableCredentials(`${path} is not as croft writes it${at === '' ? '' : ` (at ${at})`}. Correct it.`)
    }
    return parsed.data
  }

  async function write(edit: (value: T) => T): Promise<void> {
    const release = await lock(`${path}.lock`)
    const draft = `${path}.${process.pid}.new`
    try {
      const next = schema.parse(edit(await read()))
      const handle = await open(draft, 'wx', 0o600)
      try {
        await handle.writeFile(`${JSON.stringify(next, undefined, 2)}\n`)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(draft, path)
      known = undefined
    } finally {
      await rm(draft, { force: true })
      await release()
    }
  }

  return {
    read,
    change(edit) {
      // Write one at a time within a process: two people may act at once.
      const done = last.then(() => write(edit))
      last = done.catch(() => undefined)
      return done
    },
  }
}

/** Size and times to the nanosecond, and the inode: a file that is replaced within one second is still seen as new. */
async function stampOf(path: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true })
    if (size > LIMITS.credentialsBytes)
      throw new UnusableCredentials(`${path} is larger than any file that croft writes.`)
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Two writers at once would lose one of their changes. */
async function lock(path: string): Promise<() => Promise<void>> {
  let handle: FileHandle
  try {
    handle = await open(path, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST')
      throw new UnusableCredentials(`${path} exists: another croft is changing the file. If none is, remove it.`)
    throw error
  }
  return async () => {
    await handle.close()
    await rm(path, { force: true })
  }
}
