import type { PowerState } from '../../model/sighting.ts'
import type { Api } from './api.ts'
import { nameOf, recordsOf } from './foreign.ts'
import { powerState } from './survey.ts'

/** The host looks at its own processes for this list: it is not the cached status of the survey. */
export async function powersOn(api: Api, host: string, signal: AbortSignal): Promise<ReadonlyMap<string, PowerState>> {
  const about = { doing: `list the VMs of ${host}`, host }
  const data = await api.read(`/nodes/${encodeURIComponent(host)}/qemu`, about, signal)
  return new Map(
    recordsOf(data).flatMap((entry) => {
      const id = nameOf(entry.vmid)
      return id === undefined ? [] : [[id, powerState(entry.status)] as const]
    }),
  )
}
