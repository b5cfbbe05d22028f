import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules, ownFile } from '../item.ts'

const LOCALTIME = '/etc/localtime'
const zone = (name: string) => `/usr/share/zoneinfo/${name}`

/** The time zone and the time servers. */
export const time: ItemRules<'time'> = {
  type: 'time',
  asks: (item) => [{ ask: 'file', path: LOCALTIME }, ...serversOf(item).map((one) => one.ask)],
  diff(item, seen) {
    const { timezone } = item.spec
    const changes: Change[] = serversOf(item).flatMap((one) => one.changes(seen))
    const there = seen.file(LOCALTIME).target.replace(/^.*\/zoneinfo\//, '')
    if (timezone !== undefined && there !== timezone) changes.push(change('timezone', there || null, timezone))
    return changes
  },
  commands(item, _seen, changes) {
    const { timezone } = item.spec
    const commands: Command[] = []
    if (timezone !== undefined && changes.some((one) => one.path === 'timezone'))
      commands.push(run('test', '-e', zone(timezone)), run('ln', '-sfn', '--', zone(timezone), LOCALTIME))
    for (const one of serversOf(item)) commands.push(...one.put)
    return commands
  },
  undo(item, seen) {
    const back = serversOf(item).map((one) => one.undo(seen))
    if (back.some((one) => one === undefined)) return undefined
    const { kind, target } = seen.file(LOCALTIME)
    const zoneBack =
      item.spec.timezone !== undefined && kind === 'link' ? [run('ln', '-sfn', '--', target, LOCALTIME)] : []
    return [...zoneBack, ...back.flatMap((one) => one ?? [])]
  },
}

function serversOf({ spec }: HostItemOf<'time'>) {
  if (spec.servers.length === 0) return []
  const restart: Command = { do: 'run', argv: ['systemctl', 'try-restart', 'systemd-timesyncd.service'], ok: [0, 1, 5] }
  return [ownFile('/etc/systemd/timesyncd.conf.d/croft.conf', `[Time]\nNTP=${spec.servers.join(' ')}\n`, [restart])]
}
