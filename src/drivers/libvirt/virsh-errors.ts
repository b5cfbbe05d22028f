import { cleanText } from '../../lib/clean-text.ts'
import type { Refusal } from '../../model/step.ts'
import { VIRSH } from './names.ts'

/** virsh's error output, and what was being done. */
interface VirshOutput {
  readonly text: string
  readonly doing: string
}

interface VirshError {
  readonly match: RegExp
  readonly reason: string
  readonly meaning: Refusal['meaning']
  readonly connectionWide?: true
  /** Advice for a person. */
  readonly advice?: string
}

/** The first matching row counts. The texts are those of libvirt 6 to 11 in the C locale. */
const ROWS: readonly VirshError[] = [
  {
    match: /authentication (?:unavailable|failed|required)|polkit|not authorized|access denied by policy/i,
    reason: 'PermissionDenied',
    meaning: 'stalled',
    connectionWide: true,
    advice: 'add the user to the group libvirt on the host, or let croft use sudo there',
  },
  {
    match:
      /failed to connect to (?:socket|the hypervisor)|cannot recv data|Connection (?:refused|reset)|client socket is closed|No such file or directory.*libvirt-sock/i,
    reason: 'Unreachable',
    meaning: 'backoff',
    connectionWide: true,
    advice: 'see on the host: systemctl status libvirtd',
  },
  {
    match: /virsh: (?:command )?not found|No such file or directory.*virsh|can't execute.*virsh|env: .*virsh/i,
    reason: 'NoVirsh',
    meaning: 'stalled',
    connectionWide: true,
    advice: 'install libvirt-clients on the host',
  },
  { match: /access denied/i, reason: 'PermissionDenied', meaning: 'stalled' },
  {
    match: /already (?:exists|defined) with uuid|domain .* (?:already exists|is already defined)/i,
    reason: 'IdTaken',
    meaning: 'stalled',
    advice: 'choose another name, or take over what has it by its UUID',
  },
  {
    match: /failed to get domain|Domain not found|no domain with matching/i,
    reason: 'NotFound',
    meaning: 'backoff',
  },
  {
    match:
      /failed to get (?:vol|pool|network)|(?:Storage (?:volume|pool)|Network) not found|no (?:storage (?:vol|pool)|network)/i,
    reason: 'NotFound',
    meaning: 'backoff',
  },
  { match: /storage vol(?:ume)? .*(?:exists already|already exists)/i, reason: 'VolumeTaken', meaning: 'stalled' },
  { match: /is still being allocated|volume .* in use/i, reason: 'Locked', meaning: 'waiting' },
  {
    match: /pool .* is not active|storage pool .* not active/i,
    reason: 'PoolInactive',
    meaning: 'backoff',
    advice: `run on the host: ${VIRSH} pool-start NAME`,
  },
  {
    match: /No space left on device|exceeds .* (?:space|capacity)|not enough free space/i,
    reason: 'StorageFull',
    meaning: 'backoff',
    advice: 'make room in the pool',
  },
  {
    match: /Domain is already (?:active|running)|domain is already running/i,
    reason: 'AlreadyRunning',
    meaning: 'backoff',
  },
  { match: /domain is not running|Domain is not running/i, reason: 'NotRunning', meaning: 'backoff' },
  { match: /cannot acquire state change lock|timed out during operation/i, reason: 'Locked', meaning: 'waiting' },
  {
    match: /cannot set up guest memory|Cannot allocate memory/i,
    reason: 'HostFull',
    meaning: 'backoff',
    advice: 'free memory on the host, or move a machine',
  },
  {
    match:
      /KVM is not available|could not access KVM|invalid argument: could not find capabilities|emulator .* (?:does not support|not found)/i,
    reason: 'NoVirtualisation',
    meaning: 'stalled',
    advice: 'switch virtualisation on in the firmware, or set libvirt.emulated: true',
  },
  {
    // libvirt without a part for networks, storage or snapshots: then there are none.
    match: /not supported by the connection driver/i,
    reason: 'NotSupported',
    meaning: 'stalled',
  },
  {
    match:
      /unsupported configuration|XML error|invalid argument|internal error: (?:Unable to find|Unknown)|Requested operation is not valid/i,
    reason: 'NotPossible',
    meaning: 'stalled',
  },
]

/** Translates virsh's error. No other code in this driver reads error texts. */
export function translate({ text, doing }: VirshOutput): Refusal {
  const said = cleanText(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => line.replace(/^error: /, '').trim())
      .join('; '),
  )
  const row = ROWS.find(({ match }) => match.test(text))
  const advice = row?.advice === undefined ? '' : `; ${row.advice}`
  return {
    reason: row?.reason ?? 'Refused',
    meaning: row?.meaning ?? 'backoff',
    message: `could not ${doing}: ${said === '' ? 'virsh failed without saying why' : said}${advice}`,
    ...(row?.connectionWide === true ? { connectionWide: true } : {}),
  }
}
