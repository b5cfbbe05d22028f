import type { ItemFacts } from '../ask.ts'
import { run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'
import { propertiesIn, sameProperty, type ZfsProperty } from './zpool.ts'

/** A dataset and its properties. It is never destroyed. */
export const zfsDataset: ItemRules<'zfs-dataset'> = {
  type: 'zfs-dataset',
  asks: ({ name }) => [{ ask: 'run', argv: getAll(name) }],
  diff({ name, spec }, seen) {
    const there = propertiesOf(name, seen)
    if (there === undefined) return [change('dataset', null, name)]
    return Object.entries(spec.properties)
      .filter(([property, value]) => !sameProperty(there.get(property)?.value, value))
      .map(([property, value]) => change(`properties.${property}`, there.get(property)?.value ?? null, value))
  },
  commands({ name, spec }, _seen, changes) {
    if (changes.some((one) => one.path === 'dataset'))
      return [
        run(
          'zfs',
          'create',
          '-p',
          ...Object.entries(spec.properties).flatMap(([key, value]) => ['-o', `${key}=${value}`]),
          name,
        ),
      ]
    return changes.map((one) => run('zfs', 'set', `${one.path.slice('properties.'.length)}=${String(one.to)}`, name))
  },
  undo({ name, spec }, seen) {
    const there = propertiesOf(name, seen)
    if (there === undefined) return undefined
    return Object.keys(spec.properties).map((key) => {
      const before = there.get(key)
      // An inherited value must be inherited again: if set here, it would no longer follow.
      return before?.isOwn === true
        ? run('zfs', 'set', `${key}=${before.value}`, name)
        : run('zfs', 'inherit', key, name)
    })
  },
}

const getAll = (name: string) => ['zfs', 'get', '-H', '-p', '-o', 'property,value,source', 'all', name]

function propertiesOf(name: string, seen: ItemFacts): ReadonlyMap<string, ZfsProperty> | undefined {
  const { code, out } = seen.run(...getAll(name))
  return code === 0 ? propertiesIn(out) : undefined
}
