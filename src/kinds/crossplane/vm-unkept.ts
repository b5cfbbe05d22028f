import { z } from 'zod'
import { block, blocks } from '../fields/block.ts'
import { line, macAddress } from '../fields/text.ts'
import type { FieldProblem } from '../kind.ts'

const on = z.boolean().optional()
const number = z.number().min(0).max(4_294_967_295).optional()
const text = line.optional()

/** Fields of the provider that are read and checked for their type, and that croft does not keep yet. */
export const unkeptFields = {
  acpi: on,
  amdSev: block(z.strictObject({ allowSmt: on, kernelHashes: on, noDebug: on, noKeySharing: on, type: text })),
  audioDevice: block(z.strictObject({ device: text, driver: text, enabled: on })),
  clone: block(z.strictObject({ datastoreId: text, full: on, nodeName: text, retries: number, vmId: number })),
  deleteUnreferencedDisksOnDestroy: on,
  hookScriptFileId: text,
  hostpci: blocks(
    z.strictObject({
      device: text,
      id: text,
      mapping: text,
      mdev: text,
      pcie: on,
      romFile: text,
      rombar: on,
      xvga: on,
    }),
    16,
  ),
  hotplug: text,
  kvmArguments: text,
  macAddresses: z.array(macAddress).max(32).optional(),
  migrate: on,
  numa: blocks(z.strictObject({ cpus: text, device: text, hostnodes: text, memory: number, policy: text }), 8),
  purgeOnDestroy: on,
  reboot: on,
  rebootAfterUpdate: on,
  rng: block(z.strictObject({ maxBytes: number, period: number, source: text })),
  smbios: block(
    z.strictObject({
      family: text,
      manufacturer: text,
      product: text,
      serial: text,
      sku: text,
      uuid: text,
      version: text,
    }),
  ),
  stopOnDestroy: on,
  timeoutClone: number,
  timeoutCreate: number,
  timeoutMigrate: number,
  timeoutMoveDisk: number,
  timeoutReboot: number,
  timeoutShutdownVm: number,
  timeoutStartVm: number,
  timeoutStopVm: number,
  tpmState: block(z.strictObject({ datastoreId: text, version: text })),
  usb: blocks(z.strictObject({ host: text, mapping: text, usb3: on }), 14),
  virtiofs: blocks(z.strictObject({ cache: text, directIo: on, exposeAcl: on, exposeXattr: on, mapping: text }), 10),
  watchdog: block(z.strictObject({ action: text, enabled: on, model: text })),
}

/** Fields inside blocks that are kept, which are not kept themselves. */
const UNKEPT_INSIDE = [
  ['agent', 'waitForIp'],
  ['agent', 'timeout'],
  ['cpu', 'affinity'],
  ['cpu', 'architecture'],
  ['disk', 'pathInDatastore'],
  ['disk', 'queues'],
  ['disk', 'speed'],
  ['efiDisk', 'fileFormat'],
  ['initialization', 'fileFormat'],
  ['memory', 'hugepages'],
  ['memory', 'keepHugepages'],
  ['vga', 'clipboard'],
] as const

/** Why a field is not needed, where "not yet" would be the wrong word. */
const REASONS: Readonly<Record<string, string>> = {
  timeout: 'does not need it: it starts work, looks again later and never waits inside a step',
  macAddresses: 'does not use it: it is what the guest reports',
}

/** One warning for each field that is read and not kept: silence would look like a promise. */
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
