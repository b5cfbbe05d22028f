import type { HostItemOf } from '../../../model/host-item.ts'
import { run } from '../command.ts'
import { change, fileWord, type ItemRules, ownFile } from '../item.ts'

/** A kernel module that is loaded now and at every start; or never. */
export const module: ItemRules<'module'> = {
  type: 'module',
  asks: (item) => [...filesOf(item).map((one) => one.ask), { ask: 'module', name: item.name }],
  diff(item, seen) {
    const loaded = seen.module(item.name)
    const absent = item.spec.absent === true
    const kept = filesOf(item).flatMap((one) => one.changes(seen))
    return [
      ...(loaded === absent ? [change('loaded', loaded, !absent)] : []),
      ...(kept.length === 0 ? [] : [change('kept', null, absent ? `blacklist ${item.name}` : item.name)]),
    ]
  },
  commands: (item) => [
    ...filesOf(item).flatMap((one) => one.put),
    item.spec.absent === true ? run('modprobe', '-r', '--', item.name) : run('modprobe', '--', item.name),
  ],
  undo(item, seen) {
    const back = filesOf(item).map((one) => one.undo(seen))
    if (back.some((one) => one === undefined)) return undefined
    // The driver of a network card must come back too.
    const again = item.spec.absent === true && seen.module(item.name) ? [run('modprobe', '--', item.name)] : []
    return [...back.flatMap((one) => one ?? []), ...again]
  },
}

function filesOf({ name, spec }: HostItemOf<'module'>) {
  const word = fileWord(name)
  if (spec.absent === true)
    return [ownFile(`/etc/modprobe.d/croft-no-${word}.conf`, `blacklist ${name}\ninstall ${name} /bin/false\n`)]
  return [
    ownFile(`/etc/modules-load.d/croft-${word}.conf`, `${name}\n`),
    ...(spec.options === undefined
      ? []
      : [ownFile(`/etc/modprobe.d/croft-${word}.conf`, `options ${name} ${spec.options}\n`)]),
  ]
}
