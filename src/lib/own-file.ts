import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/**
 * A file that this user owns and nobody else can write; undefined for anything else, and for one that is larger. What is
 * in it is then as trustworthy as the program.
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
