import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { replaceFile } from '../../lib/atomic-file.ts'
import type { HandedFile } from './hand-over.ts'

/**
 * Writes the files below `to`, readable only by their owner. New folders are closed to others; an existing one keeps
 * its mode: it may be /tmp or a home that others need.
 */
export async function writeHandedFiles(to: string, files: readonly HandedFile[]): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const { path: name, text } of files) {
    const file = path.join(to, name)
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
    await replaceFile(file, text)
  }
}

/** Reads a file that an earlier run handed over. */
export async function readHandedFile(to: string, name: string): Promise<string | undefined> {
  try {
    return await readFile(path.join(to, name), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
