import { run } from '../command.ts'
import { change, type ItemRules } from '../item.ts'

/** A dataset and its properties. It is never destroyed. */
export const zfsDataset: ItemRules<'zfs-dataset'> = {
  type: 'zfs-dataset',
  asks: ({ name }) => [{ ask: 'run', argv: ['zfs', 'get', '-H', '-p', '-o', 'property,value', 'all', name] }],
  diff({ name, spec }, seen) {
    const { code, out } = seen.run('zfs', 'get', '-H', '-p', '-o', 'property,value', 'all', name)
    if (code !== 0) return [change('dataset', null, name)]
    const there = new Map(out.split('\n').map((line) => line.split('\t') as [string, string]))
    return Object.entries(spec.properties)
      .filter(([property, value]) => there.get(property) !== value)
      .map(([property, value]) => change(`properties.${property}`, there.get(property) ?? null, value))
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
    const { code, out } = seen.run('zfs', 'get', '-H', '-p', '-o', 'property,value', 'all', name)
    if (code !== 0) return undefined
    const there = new Map(out.split('\n').map((line) => line.split('\t') as [string, string]))
    return Object.keys(spec.properties).map((key) => run('zfs', 'set', `${key}=${there.get(key) ?? ''}`, name))
  },
}
