import { shellWord } from '../../lib/shell-quoted.ts'
import type { Resource } from '../../model/resource.ts'
import type { VmDisk, VmSpec } from '../../model/vm.ts'
import { wantedMark } from './declared.ts'
import { newDomain } from './domain-write.ts'
import { writeMark } from './marks.ts'
import { VIRSH, volumeOf } from './names.ts'
import { printXml } from './xml.ts'

/**
 * Returns the command that defines a lost domain again, with our mark and without a disk. By its mark croft knows it again, and
 * then puts in what is declared: the volumes that are still there.
 */
export function defineAgain(resource: Resource, vm: VmSpec, uuid: string): string {
  const domain = newDomain({
    uuid,
    name: vm.name,
    type: vm.emulated === true ? 'qemu' : 'kvm',
    machine: vm.machine,
    bios: vm.bios,
    architecture: vm.cpu?.architecture,
  })
  writeMark(domain, wantedMark(resource, vm, undefined), uuid)
  const xml = printXml(domain)
    .replace(/\n\s*/g, '')
    .replace(/='([^'"]*)'/g, '="$1"')
  return `echo ${shellWord(xml)} | ${VIRSH} define /dev/stdin`
}

/** Returns the command that puts an empty disk, or the image, in the place of a volume that is lost for good. */
export function volumeAgain({ importFrom, sizeGb, format }: VmDisk, pool: string, volume: string): string | undefined {
  if (importFrom === undefined)
    return `${VIRSH} vol-create-as --pool ${pool} --name ${volume} --capacity ${sizeGb ?? 1}G --format ${format ?? 'qcow2'}`
  const source = volumeOf(importFrom)
  return source?.pool === pool ? `${VIRSH} vol-clone --pool ${pool} ${source.volume} ${volume}` : undefined
}
