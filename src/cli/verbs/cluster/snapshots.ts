import type { ClusterSurroundings } from '../../../drivers/cluster-port.ts'
import { NODE_PROGRAM_TEXT } from '../../../k3s/programs.ts'
import { type Shell, ShellFailure } from '../../../lib/shell.ts'

/** A snapshot as a file on a server. */
export interface SnapshotFile {
  readonly name: string
  readonly path: string
  readonly server: string
}

/** Snapshots that lie on servers which answer. */
export async function snapshotFiles(
  { nodes }: ClusterSurroundings,
  signal: AbortSignal,
): Promise<readonly SnapshotFile[]> {
  const found = await Promise.all(
    [...nodes].map(async ([server, { shell }]): Promise<readonly SnapshotFile[]> => {
      const list = (await ask(shell, ['facts'], signal)).snapshots
      return Array.isArray(list) ? list.flatMap((one: unknown) => readOne(one, server)) : []
    }),
  )
  return found.flat()
}

/**
 * Returns the hash of the token that opens a snapshot, as its file has it. Undefined: the file cannot be read now. K3s
 * forgets the hash when it is restored and finds its snapshots on the disk again; the file does not.
 */
export async function tokenHashIn(
  { nodes }: ClusterSurroundings,
  { path, server }: SnapshotFile,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { tokenHash } = await ask(nodes.get(server)?.shell, ['token-of', path], signal)
  return typeof tokenHash === 'string' && /^[0-9a-f]{12}$/.test(tokenHash) ? tokenHash : undefined
}

/** Sends the program along, because a rebuilt machine has none. Returns nothing if the machine does not answer. */
async function ask(
  shell: Shell | undefined,
  words: readonly string[],
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  if (shell === undefined) return {}
  try {
    const { stdout } = await shell.run(['/bin/sh', '-s', '--', ...words], { input: NODE_PROGRAM_TEXT, signal })
    return Object(JSON.parse(stdout)) as Readonly<Record<string, unknown>>
  } catch (error) {
    if (error instanceof ShellFailure || error instanceof SyntaxError) return {}
    throw error
  }
}

function readOne(value: unknown, server: string): readonly SnapshotFile[] {
  const { name, path } = value as Readonly<Record<string, unknown>>
  return typeof name === 'string' && typeof path === 'string' ? [{ name, path, server }] : []
}
