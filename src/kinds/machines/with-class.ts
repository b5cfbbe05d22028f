import { defined } from '../../lib/defined.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Declaration } from '../../model/declaration.ts'
import { blocksOf } from '../hypervisors/registry.ts'
import type { FieldProblem, Lookup } from '../kind.ts'
import type { MachineClassSpec } from '../machine-class.ts'
import type { MachineSpec, WrittenMachine } from '../schemas/machine.ts'

type MachineOfClass = { readonly spec: MachineSpec } | { readonly problems: readonly FieldProblem[] }

/** Returns a machine with the missing fields of its class. Blocks are merged by field, lists are replaced. */
export function withClass(written: WrittenMachine, namespace: string | undefined, lookup: Lookup): MachineOfClass {
  const base = written.class === undefined ? undefined : findClass(written.class, namespace, lookup)
  if (written.class !== undefined && base === undefined)
    return { problems: [unknownClass(written.class, ['spec', 'class'], lookup)] }
  const from = base?.spec
  const cpu = { ...from?.cpu, ...defined<{ cores?: number; type?: string }>(written.cpu ?? {}) }
  const memory = written.memory ?? from?.memory
  const { cores } = cpu
  if (cores === undefined || memory === undefined) {
    const missing = cores === undefined ? 'cpu.cores' : 'memory'
    const message = `neither the machine nor MachineClass ${written.class} says ${missing}`
    return { problems: [{ code: 'missing-field', path: ['spec', 'class'], message, hint: `add ${missing} to either` }] }
  }
  return {
    spec: {
      ...written,
      ...defined({ proxmox: block(written.proxmox, from?.proxmox) }),
      ...blocksOf((field) => block(written[field], written.proxmox === undefined ? from?.[field] : undefined)),
      ...defined({ cloudInit: block(written.cloudInit, from?.cloudInit), dns: block(written.dns, from?.dns) }),
      ...defined<Pick<WrittenMachine, 'user' | 'sshKeys' | 'userData' | 'onBoot' | 'tags'>>({
        user: written.user ?? from?.user,
        sshKeys: written.sshKeys ?? from?.sshKeys,
        userData: written.userData ?? from?.userData,
        onBoot: written.onBoot ?? from?.onBoot,
        tags: written.tags ?? from?.tags,
      }),
      disks: written.disks.length > 0 ? written.disks : (from?.disks ?? []),
      networks: written.networks.length > 0 ? written.networks : (from?.networks ?? []),
      agent: written.agent ?? from?.agent ?? true,
      cpu: { ...cpu, cores },
      memory,
    },
  }
}

export function findClass(
  name: string,
  namespace: string | undefined,
  lookup: Lookup,
): Declaration<MachineClassSpec> | undefined {
  const found = lookup.declaration('MachineClass', name, namespace) ?? lookup.declaration('MachineClass', name)
  return found as Declaration<MachineClassSpec> | undefined
}

export function unknownClass(name: string, path: FieldProblem['path'], lookup: Lookup): FieldProblem {
  const known = lookup.all('MachineClass').map((one) => one.name)
  const meant = nearest(name, known)
  return {
    code: 'unknown-reference',
    path,
    message: `there is no MachineClass ${name}`,
    hint:
      meant !== undefined
        ? `did you mean ${meant}?`
        : known.length === 0
          ? `declare MachineClass ${name}`
          : `declared classes: ${known.join(', ')}`,
  }
}

function block<Block extends object>(own: Block | undefined, base: object | undefined): Block | undefined {
  return own === undefined && base === undefined ? undefined : ({ ...base, ...defined<object>(own ?? {}) } as Block)
}
