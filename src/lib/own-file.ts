import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * Reads a file that this user owns and no other user can write; undefined for any other file, and for a larger one. Its
 * content is then as trustworthy as the program.
 */
export function readOwnFile(path: string, mostBytes: number): { bytes: Buffer; mtimeMs: number } | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  try {
    const stat = fstatSync(fd)
    const mine = process.getuid === undefined || stat.uid === process.getuid()
    if (!stat.isFile() || !mine || (stat.mode & 0o022) !== 0 || stat.size > mostBytes) return undefined
    return { bytes: readFileSync(fd), mtimeMs: stat.mtimeMs }
  } catch {
    return undefined
  } finally {
    closeSync(fd)
  }
}
