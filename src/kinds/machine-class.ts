import { z } from 'zod'
import { croftKind } from './fields/croft-kind.ts'
import { mebibytes, size } from './fields/number.ts'
import { line, sshKey, tag, userName } from './fields/text.ts'
import { hardwareBlocks } from './hypervisors/registry.ts'
import type { FieldProblem } from './kind.ts'
import { cloudInit, disk, dns, nic, proxmoxHardware, someCpu, userData } from './machines/fields.ts'

const schema = z.strictObject({
  description: line.optional(),
  cpu: someCpu.optional(),
  memory: size.optional(),
  disks: z.array(disk).max(30).default([]),
  networks: z
    .array(nic.omit({ mac: true }))
    .max(32)
    .default([]),
  proxmox: z.strictObject(proxmoxHardware).optional(),
  ...hardwareBlocks,
  user: userName.optional(),
  sshKeys: z.array(sshKey).max(100).optional(),
  userData: userData.optional(),
  cloudInit: cloudInit.optional(),
  dns: dns.optional(),
  onBoot: z.boolean().optional(),
  agent: z.boolean().optional(),
  tags: z.array(tag).max(100).optional(),
})

export type MachineClassSpec = z.output<typeof schema>

/** Settings that machines share. */
export const machineClass = croftKind<MachineClassSpec>({
  kind: 'MachineClass',
  plural: 'machineclasses',
  shortNames: ['class', 'classes'],
  summary: 'What machines of one sort have in common: size, disks, networks, users.',
  schema,

  check(spec) {
    const problems: FieldProblem[] = []
    const bad = (path: readonly (string | number)[], message: string, hint?: string) =>
      problems.push({ code: 'bad-value', path: ['spec', ...path], message, ...(hint === undefined ? {} : { hint }) })
    if (spec.memory !== undefined && (mebibytes(spec.memory) ?? 0) < 16)
      bad(['memory'], `memory is ${spec.memory}; a machine needs 16Mi or more`)
    for (const [index, entry] of spec.disks.entries()) {
      if ((mebibytes(entry.size) ?? 0) % 1024 !== 0)
        bad(['disks', index, 'size'], `size is ${entry.size}; disks grow in whole Gi`, 'write it in Gi')
    }
    for (const [index, card] of spec.networks.entries()) {
      if (card.address !== undefined && card.address !== 'dhcp' && card.address !== 'pool')
        bad(['networks', index, 'address'], 'a fixed address belongs to one machine', 'write pool or dhcp here')
    }
    return problems
  },

  expand: () => ({ role: 'fact' }),
})
