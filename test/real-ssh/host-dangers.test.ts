import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { performCommands } from '../../src/drivers/ssh/perform.ts'
import type { HostItem } from '../../src/model/host-item.ts'
import { commandsFor, killedInBetween, letsUsIn, untilIn } from './killing.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow'])

test(
  'croft is killed when nobody gets in any more: the host takes the change of sshd back by itself',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const item: HostItem = { type: 'sshd', name: 'sshd', spec: { settings: { AllowUsers: 'nobody' } } }
    await killedInBetween(one, cow, await commandsFor(one, cow, item))
    assert.equal(await letsUsIn(one, cow, 'locked out'), false, 'nobody gets in: else nothing is proved')
    await untilIn(one, cow)
    assert.equal(existsSync(join(cow.root, 'etc/ssh/sshd_config.d/00-croft.conf')), false)
    assert.equal(existsSync(join(cow.root, 'var/lib/croft/revert/sshd')), false, 'it runs once')
  },
)

test(
  '[F-22] the timer of a host counts by the clock that nobody sets, and a host that starts anew takes the change back',
  within,
  async () => {
    const one = await lab()
    const [cow] = one.hosts
    assert.ok(cow)
    const item: HostItem = { type: 'sshd', name: 'sshd', spec: { settings: { MaxAuthTries: '3' } } }
    const commands = (await commandsFor(one, cow, item)).map((command) =>
      command.do === 'arm' ? { ...command, seconds: 600 } : command,
    )
    await killedInBetween(one, cow, commands)
    const path = join(cow.root, 'etc/ssh/sshd_config.d/00-croft.conf')
    assert.equal(existsSync(path), true)
    await untilIn(one, cow)
    const shell = one.shells.open(cow.target({ name: 'look' }))
    const shown = async (...argv: readonly string[]) => (await shell.run(argv)).stdout.trim()
    const timer = await shown(
      'systemctl',
      'show',
      'croft-revert-sshd.timer',
      '-p',
      'TimersMonotonic',
      '-p',
      'TimersCalendar',
    )
    assert.match(timer, /^TimersMonotonic=\{ OnActiveUSec=10min/m)
    assert.doesNotMatch(timer, /TimersCalendar=\{/, 'whoever sets the clock of the host moves nothing')
    // What systemd does at the next start: the timer is gone by then, and this is what is left.
    assert.equal(await shown('systemctl', 'is-enabled', 'croft-revert.service'), 'enabled')
    assert.equal(await shown('systemd-analyze', 'verify', '/etc/systemd/system/croft-revert.service'), '')
    await shown('systemctl', 'stop', 'croft-revert-sshd.timer')
    await shown('systemctl', 'start', 'croft-revert.service')
    assert.equal(existsSync(path), false)
    assert.equal(await shown('systemctl', 'is-failed', 'croft-revert.service'), 'inactive')
    // A change that is confirmed leaves nothing behind for the next start.
    const hands = {
      host: 'cow',
      shell,
      prove: async () => undefined,
      resolveSecret: () => Promise.reject(new Error('there is none')),
    }
    const outcome = await performCommands(commands, hands, new AbortController().signal)
    assert.equal(outcome.result, 'done')
    assert.equal(existsSync(path), true)
    assert.equal(existsSync(join(cow.root, 'etc/systemd/system/croft-revert.service')), false)
    assert.equal(await shown('systemctl', 'is-active', 'croft-revert-sshd.timer'), 'inactive')
    await shell.close()
  },
)
