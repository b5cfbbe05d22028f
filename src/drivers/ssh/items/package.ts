import { apt, aptBack } from '../apt.ts'
import { change, type ItemRules } from '../item.ts'

/** A Debian package, in any or one version. */
export const packageItem: ItemRules<'package'> = {
  type: 'package',
  queues: ['single/apt'],
  asks: ({ name }) => [{ ask: 'package', name }],
  diff({ name, spec }, seen) {
    const there = seen.package(name)
    if (spec.absent === true) return there.installed ? [change('installed', there.version, null)] : []
    // apt installs a provider of a virtual name, and no package of that name ever exists.
    if (!there.installed && there.provided && spec.version === undefined) return []
    if (!there.installed) return [change('installed', null, spec.version ?? true)]
    return spec.version === undefined || spec.version === there.version
      ? []
      : [change('version', there.version, spec.version)]
  },
  commands({ name, spec }) {
    if (spec.absent === true) return [apt('remove', '--', name)]
    const wanted = spec.version === undefined ? name : `${name}=${spec.version}`
    // A person named the version: a downgrade is intended.
    const how = ['--no-install-recommends', ...(spec.version === undefined ? [] : ['--allow-downgrades'])]
    return [apt('install', ...how, '--', wanted)]
  },
  undo({ name }, seen) {
    const { installed, version } = seen.package(name)
    return installed ? aptBack(name, version) : [apt('remove', '--', name)]
  },
}
