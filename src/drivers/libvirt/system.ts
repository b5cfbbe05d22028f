import { cleanText } from '../../lib/clean-text.ts'
import { type Shell, ShellFailure } from '../../lib/shell.ts'
import { HOST_UUID, type SystemReading } from '../../model/system-id.ts'
import { UUID, VIRSH } from './names.ts'
import { find, parseXml, textIn } from './xml.ts'

/** The firmware's placeholder UUIDs, which identify nothing. */
const NO_UUID = /^(?:[0-]+|[f-]+|03000200-0400-0500-0006-000700080009)$/

/** virsh's command for the UUID. Its answer is long and never changes while the host runs. */
export const CAPABILITIES = ['capabilities'] as const

/** Returns the connection's host: its board's UUID in libvirt, and the id of its installed system. */
export async function readSystem(capabilities: string, shell: Shell, signal: AbortSignal): Promise<SystemReading> {
  const uuid = textIn(find(parseXml(capabilities), 'host/uuid'))
    .trim()
    .toLowerCase()
  try {
    const file = await shell.readFile('/etc/machine-id', signal)
    return systemOf(uuid, new TextDecoder().decode(file).trim())
  } catch (error) {
    if (!(error instanceof ShellFailure)) throw error
    return { is: 'unread', why: `/etc/machine-id cannot be read: ${cleanText(error.message)}` }
  }
}

/** Combines both: boards of a series may share a UUID, and hosts from one image a machine-id. */
export function systemOf(uuid: string, machineId: string): SystemReading {
  if (uuid === '')
    return { is: 'unread', why: `libvirt does not say the UUID of its host: run ${VIRSH} capabilities there` }
  if (!UUID.test(uuid) || NO_UUID.test(uuid))
    return {
      is: 'unread',
      why: `the host has no UUID of its own (${cleanText(uuid)}): set host_uuid in /etc/libvirt/libvirtd.conf`,
    }
  if (!/^[0-9a-f]{32}$/.test(machineId))
    return { is: 'unread', why: '/etc/machine-id of the host holds no id: run systemd-machine-id-setup there' }
  return { is: 'seen', id: { [HOST_UUID]: uuid, 'machine-id': machineId } }
}
