import type { HostItemOf } from '../../../model/host-item.ts'
import { run } from '../command.ts'
import { type ItemRules, ownFile } from '../item.ts'

const AFTER = [run('udevadm', 'control', '--reload'), run('udevadm', 'trigger')]
/** The stick has another identity before its firmware is loaded. */
const USB =
  'SUBSYSTEM=="usb", ATTRS{idVendor}=="1a6e", ATTRS{idProduct}=="089a", MODE="0660", GROUP="plugdev"\n' +
  'SUBSYSTEM=="usb", ATTRS{idVendor}=="18d1", ATTRS{idProduct}=="9302", MODE="0660", GROUP="plugdev"\n'
const PCIE = 'SUBSYSTEM=="apex", MODE="0660", GROUP="apex"\n'

/** A Coral accelerator, for users in its group. Its driver for PCIe comes as a package. */
export const coral: ItemRules<'coral'> = {
  type: 'coral',
  asks: (item) => [fileOf(item).ask],
  diff: (item, seen) => fileOf(item).changes(seen),
  commands: (item) => [
    { do: 'run', argv: ['groupadd', '--force', '--system', '--', item.spec.bus === 'usb' ? 'plugdev' : 'apex'] },
    ...fileOf(item).put,
    ...(item.spec.bus === 'pcie' ? [run('modprobe', '--', 'apex')] : []),
  ],
  undo: (item, seen) => fileOf(item).undo(seen),
}

function fileOf({ spec }: HostItemOf<'coral'>) {
  return ownFile('/etc/udev/rules.d/80-croft-coral.rules', spec.bus === 'usb' ? USB : PCIE, AFTER)
}
