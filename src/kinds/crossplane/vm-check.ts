import { EXTERNAL_NAME } from '../fields/annotations.ts'
import { show } from '../fields/explain.ts'
import { badValue, missingField } from '../fields/problem.ts'
import { dnsName } from '../fields/text.ts'
import type { FieldProblem, RawManifest } from '../kind.ts'
import type { VmFields } from './vm-schema.ts'

/** Checks fields against each other, beyond the schema. */
export function checkVm(fields: VmFields, manifest: RawManifest): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  const at = (...path: (string | number)[]) => ['spec', 'forProvider', ...path]
  const bad = (path: readonly (string | number)[], message: string, hint?: string) =>
    problems.push(badValue(path, message, hint))

  if (fields.nodeName === undefined) {
    problems.push(missingField(at('nodeName'), 'nodeName is missing; it names the Proxmox host'))
  }
  if (fields.name === undefined && !dnsName.safeParse(manifest.metadata.name).success) {
    bad(['metadata', 'name'], 'metadata.name cannot be the name of a VM', 'give the VM a name with forProvider.name')
  }
  problems.push(...adoption(fields, manifest))

  const slots = new Map<string, string>()
  const take = (slot: string, path: readonly (string | number)[]) => {
    const taken = slots.get(slot)
    if (taken !== undefined)
      bad(path, `${slot} is used twice: here and by ${taken}`, 'give each device its own interface')
    else slots.set(slot, path.slice(2).join('.'))
  }
  for (const [index, disk] of (fields.disk ?? []).entries()) {
    take(disk.interface, at('disk', index, 'interface'))
    if (disk.importFrom !== undefined && disk.fileId !== undefined) {
      bad(at('disk', index, 'fileId'), 'a disk is made from importFrom or from fileId, not from both')
    }
    if (disk.fileId !== undefined && !disk.fileId.includes(':import/')) {
      problems.push({
        code: 'not-kept',
        path: at('disk', index, 'fileId'),
        severity: 'warning',
        message: `croft makes the disk from ${show(disk.fileId)} through the API, which takes images of content type import only`,
        hint: 'store the image with contentType import and name it in importFrom',
      })
    }
  }
  for (const [sort, devices] of [
    ['usb', fields.usb?.map(({ host, mapping }) => [host, mapping])],
    ['hostpci', fields.hostpci?.map(({ id, mapping }) => [id, mapping])],
  ] as const) {
    for (const [index, named] of (devices ?? []).entries()) {
      const count = named.filter((name) => name !== undefined).length
      if (count !== 1)
        bad(
          at(sort, index),
          `a device is given by its ${sort === 'usb' ? 'host' : 'id'} or by its mapping: one of the two`,
        )
    }
  }
  for (const [index, device] of (fields.hostpci ?? []).entries()) take(device.device, at('hostpci', index, 'device'))
  for (const [index, node] of (fields.numa ?? []).entries()) take(node.device, at('numa', index, 'device'))
  for (const [index, drive] of (fields.cdrom ?? []).entries()) {
    if (drive.enabled !== false) take(drive.interface ?? 'ide3', at('cdrom', index, 'interface'))
  }
  if (fields.initialization !== undefined) {
    take(fields.initialization.interface ?? 'ide2', at('initialization', 'interface'))
    problems.push(...initialization(fields.initialization, at))
  }
  if (fields.memory?.floating !== undefined && fields.memory.floating > (fields.memory.dedicated ?? 512)) {
    bad(
      at('memory', 'floating'),
      'memory.floating is more than memory.dedicated',
      'floating is the least the guest keeps',
    )
  }
  return problems
}

function adoption(fields: VmFields, manifest: RawManifest): readonly FieldProblem[] {
  const name = manifest.metadata.annotations[EXTERNAL_NAME]
  if (name === undefined) return []
  const path = ['metadata', 'annotations', EXTERNAL_NAME]
  const match = /^(?:([a-zA-Z0-9-]+)\/)?([1-9][0-9]{2,8})$/.exec(name)
  if (match === null) {
    return [badValue(path, `${EXTERNAL_NAME} is ${show(name)}; expected a VMID like "108" or "host/108"`)]
  }
  if (fields.vmId !== undefined && String(fields.vmId) !== match[2]) {
    return [badValue(path, `${EXTERNAL_NAME} says VM ${match[2]}, vmId says ${fields.vmId}`)]
  }
  if (match[1] !== undefined && fields.nodeName !== undefined && match[1] !== fields.nodeName) {
    return [badValue(path, `${EXTERNAL_NAME} says host ${match[1]}, nodeName says ${fields.nodeName}`)]
  }
  return []
}

function initialization(
  fields: NonNullable<VmFields['initialization']>,
  at: (...path: (string | number)[]) => (string | number)[],
): readonly FieldProblem[] {
  const problems: FieldProblem[] = []
  for (const [index, entry] of (fields.ipConfig ?? []).entries()) {
    for (const family of ['ipv4', 'ipv6'] as const) {
      const setting = entry[family]
      if (
        setting?.gateway !== undefined &&
        (setting.address === undefined || /^(?:dhcp|auto)$/.test(setting.address))
      ) {
        problems.push(
          badValue(
            at('initialization', 'ipConfig', index, family, 'gateway'),
            'a gateway goes with a static address; with dhcp the network gives it',
            'leave gateway out, or give an address',
          ),
        )
      }
    }
  }
  return problems
}
