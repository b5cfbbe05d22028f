import { execFileSync } from 'node:child_process'
import path from 'node:path'

const SOURCE = path.join(import.meta.dirname, 'disk-faults.c')

/** How the disk fails: which of the calls, and how. */
export interface DiskFault {
  readonly call: 'write' | 'fsync' | 'rename'
  /** 0: none; they are counted. */
  readonly n: number
  readonly error: 'EIO' | 'ENOSPC'
  /** All after it fail as well, as on a disk that is full. */
  readonly stays?: boolean
}

const ERRNO = { EIO: '5', ENOSPC: '28' } as const

/** Builds the library that makes disks fail. Undefined: there is no compiler here. */
export function buildDiskFaults(directory: string): string | undefined {
  const library = path.join(directory, 'disk-faults.so')
  try {
    execFileSync('gcc', ['-shared', '-fPIC', '-nostdlib', '-O1', '-o', library, SOURCE], { stdio: 'pipe' })
    return library
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** The names that the library reads, for files below a directory. */
export function faultSettings(below: string, { call, n, error, stays = false }: DiskFault): Record<string, string> {
  return {
    CROFT_FAULT_DIR: below,
    CROFT_FAULT_CALL: call,
    CROFT_FAULT_N: String(n),
    CROFT_FAULT_ERRNO: ERRNO[error],
    CROFT_FAULT_STAYS: stays ? '1' : '0',
  }
}
