import { run } from '../command.ts'
import { fileWord, type ItemRules, ownFile } from '../item.ts'

const AFTER = [run('udevadm', 'control', '--reload'), run('udevadm', 'trigger')]

/** udev rules for devices. */
export const udev: ItemRules<'udev'> = {
  type: 'udev',
  asks: (item) => [fileOf(item).ask],
  diff: (item, seen) => fileOf(item).changes(seen),
  commands: (item) => fileOf(item).put,
  undo: (item, seen) => fileOf(item).undo(seen),
}

function fileOf({ name, spec }: { readonly name: string; readonly spec: { readonly rules: string } }) {
  return ownFile(`/etc/udev/rules.d/80-croft-${fileWord(name)}.rules`, spec.rules, AFTER)
}
