import type { ClusterSurroundings } from '../../../drivers/cluster-port.ts'
import { NODE_PROGRAM_TEXT } from '../../../k3s/programs.ts'
import { ShellFailure } from '../../../lib/shell.ts'

/** A snapshot as a file on a server. */
export interface SnapshotFile {
  readonly name: string
  readonly path: string
  readonly server: string
  readonly tokenHash?: string
}

/** Snapshots that lie on servers which answer. The program goes along with the question: a machine made anew has none. */
export async function snapshotFiles(
  { nodes }: ClusterSurroundings,
  signal: AbortSignal,
): Promise<readonly SnapshotFile[]> {
  const found = await Promise.all(
    [...nodes].map(async ([server, { shell }]): Promise<readonly SnapshotFile[]> => {
      if (shell === undefined) return []
      try {
        const { stdout } = await shell.run(['/bin/sh', '-s', '--', 'facts'], { input: NODE_PROGRAM_TEXT, signal })
        const facts: unknown = JSON.parse(stdout)
        const list = (facts as { readonly snapshots?: unknown }).snapshots
        return Array.isArray(list) ? list.flatMap((one: unknown) => readOne(one, server)) : []
      } catch (error) {
        if (error instanceof ShellFailure || error instanceof SyntaxError) return []
        throw error
      }
    }),
  )
  return found.flat()
}

function readOne(value: unknown, server: string): readonly SnapshotFile[] {
  const { name, path, tokenHash } = value as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || typeof path !== 'string') return []
  return [{ name, path, server, ...(typeof tokenHash === 'string' ? { tokenHash } : {}) }]
}
