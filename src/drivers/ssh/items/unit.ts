import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import type { HostQuestion } from '../ask.ts'
import { type Command, run } from '../command.ts'
import { change, type ItemRules, ownFile } from '../item.ts'

/** Such a unit cannot be enabled or disabled. */
const UNCHANGING = ['static', 'alias', 'generated', 'indirect', 'transient']
const RELOAD = run('systemctl', 'daemon-reload')

/** A unit or timer of systemd: its text, whether it starts at boot, whether it runs now. */
export const unit: ItemRules<'unit'> = {
  type: 'unit',
  queues: ['single/systemd'],
  asks: (item): readonly HostQuestion[] => [{ ask: 'unit', name: item.name }, ...filesOf(item).map((one) => one.ask)],
  diff(item, seen) {
    const { name, spec } = item
    const there = seen.unit(name)
    const changes: Change[] = filesOf(item).flatMap((one) => one.changes(seen))
    if (spec.masked === true) return there.load === 'masked' ? changes : [...changes, change('masked', false, true)]
    const masked = there.load === 'masked'
    const known = there.load === 'loaded' || masked || spec.content !== undefined
    if (!known)
      return [
        {
          ...change('unit', null, name),
          blocked: {
            message: `systemd knows no unit ${name}`,
            allow: 'install the package that brings it, or give its content',
          },
        },
      ]
    if (masked) changes.push(change('masked', true, false))
    const enabled = there.enabled === 'enabled'
    if (spec.enabled !== undefined && enabled !== spec.enabled && !UNCHANGING.includes(there.enabled))
      changes.push(change('enabled', enabled, spec.enabled))
    const active = there.active === 'active' || there.active === 'activating' || there.active === 'reloading'
    if (spec.state !== undefined && active !== (spec.state === 'started'))
      changes.push(change('state', there.active, spec.state))
    return changes
  },
  commands(item, seen, changes) {
    const { name, spec } = item
    const paths = new Set(changes.map((one) => one.path))
    const texts = filesOf(item).flatMap((one) => (one.changes(seen).length === 0 ? [] : one.put))
    const commands: Command[] = [...texts, ...(texts.length === 0 ? [] : [RELOAD])]
    if (spec.masked === true) return [...commands, run('systemctl', 'mask', '--now', '--', name)]
    if (seen.unit(name).load === 'masked') commands.push(run('systemctl', 'unmask', '--', name))
    if (paths.has('enabled')) commands.push(run('systemctl', spec.enabled === true ? 'enable' : 'disable', '--', name))
    if (paths.has('state')) commands.push(run('systemctl', spec.state === 'started' ? 'start' : 'stop', '--', name))
    else if (texts.length > 0 && spec.state === 'started') commands.push(run('systemctl', 'restart', '--', name))
    return commands
  },
  undo(item, seen) {
    const { name, spec } = item
    const there = seen.unit(name)
    const back = filesOf(item).map((one) => one.undo(seen))
    if (back.some((one) => one === undefined)) return undefined
    const was = there.active === 'active'
    const systemctl = (verb: string, ok: readonly number[] = [0]): Command => ({
      do: 'run',
      argv: ['systemctl', verb, '--', name],
      ok,
    })
    return [
      ...(spec.state === 'started' && !was ? [systemctl('stop', [0, 5])] : []),
      ...(spec.enabled === true && there.enabled !== 'enabled' ? [systemctl('disable', [0, 1])] : []),
      ...(spec.masked === true && there.load !== 'masked' ? [systemctl('unmask')] : []),
      ...back.flatMap((one) => one ?? []),
      ...(back.length === 0 ? [] : [RELOAD]),
      ...(spec.enabled === false && there.enabled === 'enabled' ? [systemctl('enable')] : []),
      ...((spec.state === 'stopped' || spec.masked === true) && was ? [systemctl('start')] : []),
      ...(spec.masked !== true && there.load === 'masked' ? [systemctl('mask')] : []),
    ]
  },
}

function filesOf({ name, spec }: HostItemOf<'unit'>) {
  return [
    ...(spec.content === undefined ? [] : [ownFile(`/etc/systemd/system/${name}`, spec.content)]),
    ...(spec.dropIn === undefined ? [] : [ownFile(`/etc/systemd/system/${name}.d/croft.conf`, spec.dropIn)]),
  ]
}
