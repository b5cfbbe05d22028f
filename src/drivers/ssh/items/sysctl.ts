import { run } from '../command.ts'
import { change, fileWord, type ItemRules, ownFile } from '../item.ts'

/** A kernel setting, now and after the next start. */
export const sysctl: ItemRules<'sysctl'> = {
  type: 'sysctl',
  asks: (item) => [fileOf(item).ask, { ask: 'sysctl', key: item.name }],
  diff(item, seen) {
    const value = seen.sysctl(item.name)
    const live =
      value === undefined
        ? [
            {
              ...change('value', null, item.spec.value),
              blocked: {
                message: `the kernel has no setting ${item.name}`,
                allow: 'load the module that brings it first',
              },
            },
          ]
        : spaced(value) === spaced(item.spec.value)
          ? []
          : [change('value', value.trim(), item.spec.value)]
    const kept = fileOf(item).changes(seen)
    return [
      ...live,
      ...(kept.length === 0
        ? []
        : [change('kept', seen.file(fileOf(item).path).content ?? null, `${item.name} = ${item.spec.value}`)]),
    ]
  },
  commands: (item, _seen, changes) => [
    ...fileOf(item).put,
    // Containers may read settings that they must not write: a right value is not written again.
    ...(changes.some((one) => one.path === 'value')
      ? [run('sysctl', '-q', '-w', `${item.name}=${item.spec.value}`)]
      : []),
  ],
  undo(item, seen) {
    const back = fileOf(item).undo(seen)
    const value = seen.sysctl(item.name)
    if (back === undefined || value === undefined || spaced(value) === spaced(item.spec.value)) return back
    return [...back, run('sysctl', '-q', '-w', `${item.name}=${spaced(value)}`)]
  },
}

function fileOf({ name, spec }: { readonly name: string; readonly spec: { readonly value: string } }) {
  return ownFile(`/etc/sysctl.d/90-croft-${fileWord(name)}.conf`, `${name} = ${spec.value}\n`)
}

function spaced(text: string): string {
  return text.trim().split(/\s+/).join(' ')
}
