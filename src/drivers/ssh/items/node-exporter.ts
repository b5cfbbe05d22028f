import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import { apt } from '../apt.ts'
import { run } from '../command.ts'
import { change, type ItemRules, ownFile } from '../item.ts'

const PACKAGE = 'prometheus-node-exporter'
const UNIT = `${PACKAGE}.service`

/** Prometheus's node exporter from the distribution, listening on the declared address. */
export const nodeExporter: ItemRules<'node-exporter'> = {
  type: 'node-exporter',
  queues: ['single/apt'],
  asks: (item) => [{ ask: 'package', name: PACKAGE }, { ask: 'unit', name: UNIT }, fileOf(item).ask],
  diff(item, seen) {
    const changes: Change[] = []
    if (!seen.package(PACKAGE).installed) changes.push(change('installed', null, true))
    changes.push(...fileOf(item).changes(seen))
    const { active, enabled } = seen.unit(UNIT)
    if (active !== 'active' || enabled !== 'enabled') changes.push(change('running', active, 'active'))
    return changes
  },
  commands: (item, seen) => [
    ...(seen.package(PACKAGE).installed ? [] : [apt('install', '--no-install-recommends', '--', PACKAGE)]),
    ...fileOf(item).put,
    run('systemctl', 'enable', UNIT),
    run('systemctl', 'restart', UNIT),
  ],
  undo(item, seen) {
    const back = fileOf(item).undo(seen)
    if (back === undefined) return undefined
    return seen.package(PACKAGE).installed ? back : [...back, apt('remove', '--', PACKAGE)]
  },
}

function fileOf({ spec }: HostItemOf<'node-exporter'>) {
  const words = [`--web.listen-address=${spec.listen}`, ...spec.collectors.map((one) => `--collector.${one}`)]
  return ownFile('/etc/default/prometheus-node-exporter', `ARGS="${words.join(' ')}"\n`)
}
