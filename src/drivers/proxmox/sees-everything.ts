import type { Api } from './api.ts'
import { isRecord } from './foreign.ts'

/**
 * Proxmox leaves out of its lists what a token may not see. With VM.Audit on /vms and everything below, it leaves out
 * nothing but what somebody took away again for a single guest; whoever takes such an id is refused.
 */
export async function seesEverything(api: Api, signal: AbortSignal): Promise<boolean> {
  const held = await api.read('/access/permissions?path=%2Fvms', { doing: 'ask what the token may see' }, signal)
  const here = isRecord(held) ? held['/vms'] : undefined
  return isRecord(here) && Number(here['VM.Audit']) === 1
}
