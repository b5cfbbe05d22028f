import { z } from 'zod'
import { line, macAddress } from '../fields/text.ts'
import type { FieldProblem } from '../kind.ts'

const on = z.boolean().optional()
const number = z.number().min(0).max(4_294_967_295).optional()
const text = line.optional()

/** Fields of the provider that are read and checked for their type, and that croft does not keep. */
export const unkeptFields = {
  deleteUnreferencedDisksOnDestroy: on,
  kvmArguments: text,
  macAddresses: z.array(macAddress).max(32).optional(),
  migrate: on,
  purgeOnDestroy: on,
  reboot: on,
  stopOnDestroy: on,
  timeoutClone: number,
  timeoutCreate: number,
  timeoutMigrate: number,
  timeoutMoveDisk: number,
  timeoutReboot: number,
  timeoutShutdownVm: number,
  timeoutStartVm: number,
  timeoutStopVm: number,
}

/** Fields inside blocks that are kept, which are not kept themselves. */
const UNKEPT_INSIDE = [
  ['agent', 'waitForIp'],
  ['agent', 'timeout'],
  ['clone', 'retries'],
  ['disk', 'pathInDatastore'],
] as const

const NO_WAIT = 'does not need it: it starts work, looks again later and never waits inside a step'
const OWN_WAY = 'has its own way: it shuts a machine down, stops it only if it does not listen, and removes all of it'

/** Reasons why a field is ignored. */
const REASONS: Readonly<Record<string, string>> = {
  timeout: NO_WAIT,
  retries: NO_WAIT,
  waitForIp: 'does not need it: a machine with an agent is Ready when its agent answers',
  macAddresses: 'does not use it: it is what the guest reports',
  migrate: 'never moves a machine because its declaration changed: moving is an operation of its own',
  reboot: 'does not need it: a new machine is started when everything about it is set',
  kvmArguments: 'leaves it alone: only root@pam may set it, and the process takes whatever it says',
  pathInDatastore: 'does not manage it: Proxmox names the volumes',
  stopOnDestroy: OWN_WAY,
  purgeOnDestroy: OWN_WAY,
  deleteUnreferencedDisksOnDestroy: OWN_WAY,
}

/** Warns of each ignored field: silence would look like support. */
export function unkeptWarnings(
  fields: Readonly<Record<string, unknown>>,
  base: readonly string[],
): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const warn = (path: readonly (string | number)[], name: string) => {
    const reason = name.startsWith('timeout') ? REASONS.timeout : REASONS[name]
    problems.push({
      code: 'not-kept',
      path: [...base, ...path],
      severity: 'warning',
      message: `croft reads ${path.filter((step) => typeof step === 'string').join('.')} but ${reason ?? 'does not manage it yet'}`,
    })
  }
  for (const name of Object.keys(unkeptFields)) {
    if (fields[name] !== undefined) warn([name], name)
  }
  for (const [outer, inner] of UNKEPT_INSIDE) {
    const value = fields[outer]
    const several = Array.isArray(value)
    for (const [index, entry] of (several ? value : [value]).entries()) {
      if (entry !== null && typeof entry === 'object' && (entry as Record<string, unknown>)[inner] !== undefined) {
        warn(several ? [outer, index, inner] : [outer, inner], inner)
      }
    }
  }
  return problems
}
