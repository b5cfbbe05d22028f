import { LIMITS } from '../../lib/limits.ts'
import { neighbourProbe, readNeighbours } from '../../lib/neighbour-probe.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import { type AddressUse, usedNear } from '../../model/address-use.ts'

/** Who has these addresses on the networks of a node, where its root lane is declared. */
export async function addressUse(
  shell: Shell | undefined,
  host: string,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<readonly AddressUse[]> {
  if (shell === undefined) return []
  try {
    const { stdout } = await shell.run(neighbourProbe(addresses), { signal, timeoutMs: LIMITS.addressProbeMs })
    return usedNear(host, readNeighbours(stdout, addresses))
  } catch (error) {
    // A node that cannot be asked keeps nobody from being made.
    if (!(error instanceof ShellFailure)) throw error
    return []
  } finally {
    await shell.close()
  }
}
