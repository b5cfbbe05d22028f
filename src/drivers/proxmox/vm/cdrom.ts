import { parseProperties } from '../property-string.ts'
import { textOf, type VmOption } from './option.ts'

/** CD drives: a file, `none` for an empty drive, `cdrom` for the host's own. A disc can be changed at any time. */
export const cdrom: VmOption = {
  create({ spec: vm }, params) {
    for (const { slot, file } of vm.cdrom ?? []) params[slot] = `${file},media=cdrom`
  },
  compare({ spec: vm }, config, changes) {
    for (const { slot, file } of vm.cdrom ?? []) {
      const text = textOf(config[slot])
      const seen = text === undefined ? undefined : parseProperties(text, 'file')
      const isDrive = seen?.get('media') === 'cdrom'
      const from = isDrive ? (seen?.get('file') ?? seen?.get('volume')) : undefined
      if (from === file) continue
      // A new drive is a new device, and the slots it goes to cannot be plugged.
      changes.push({ path: `cdrom.${slot}`, from: from ?? text, to: file, effect: isDrive ? 'live' : 'restart' })
    }
  },
  update({ spec: vm }, _config, params, chosen) {
    for (const { slot, file } of vm.cdrom ?? []) if (chosen.has(`cdrom.${slot}`)) params[slot] = `${file},media=cdrom`
  },
}
