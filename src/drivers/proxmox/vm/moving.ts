import type { VmSpec } from '../../../model/vm.ts'
import type { Moving } from '../move-guest.ts'

/** What of a VM goes along when it is moved to another host. */
export function movingVm(vm: VmSpec): Moving {
  const { host, moveHere, disks, efiDisk, tpm } = vm
  return {
    type: 'vm',
    host,
    ...(moveHere === undefined ? {} : { moveHere }),
    volumes: [
      ...disks.map(({ slot, storage }) => ({ slot, storage })),
      ...(efiDisk === undefined ? [] : [{ slot: 'efidisk0', storage: efiDisk.storage }]),
      ...(tpm === undefined ? [] : [{ slot: 'tpmstate0', storage: tpm.storage }]),
    ],
  }
}
