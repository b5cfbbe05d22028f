import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { config, declare, engineFor, settle } from './keep.ts'
import { answers, commandsFor, killedInBetween, untilIn } from './killing.ts'
import { labWith } from './with-lab.ts'

const { lab, within } = labWith(['cow', 'sheep'])

test(
  'static addresses of both families come and stay; one that cuts us off is taken back by the host itself',
  within,
  async () => {
    const one = await lab()
    const sheep = one.hosts[1]
    assert.ok(sheep)
    const { engine } = engineFor(one)
    const addresses = `  addresses:\n    - {interface: eth0, manager: ifupdown, addresses: [${sheep.address}/24, "fd00:77::3/64"], reach: 10.77.0.1}\n`
    const { last } = await settle(engine, await declare(one, config('net', 'sheep', addresses)))
    assert.deepEqual(
      last.plan.entries.map(({ action }) => action.do),
      ['nothing'],
    )
    await engine.close()
    const path = join(sheep.root, 'etc/network/interfaces.d/croft-eth0')
    const good = readFileSync(path, 'utf8')
    const shell = one.shells.open(sheep.target({ name: 'look' }))
    const shown = (await shell.run(['ip', '-o', 'address', 'show', 'dev', 'eth0'])).stdout
    await shell.close()
    assert.match(shown, /10\.77\.0\.3\/24/)
    assert.match(shown, /fd00:77::3\/64/)

    const spec = { manager: 'ifupdown', interface: 'eth0', addresses: ['10.99.0.3/24'], dns: [] } as const
    const commands = await commandsFor(one, sheep, { type: 'network-address', name: 'eth0', spec })
    const isCutOff = () => readFileSync(path, 'utf8').includes('10.99.0.3') && !answers(one, sheep)
    await killedInBetween(one, sheep, commands, isCutOff)
    await untilIn(one, sheep)
    assert.equal(readFileSync(path, 'utf8'), good)
    assert.equal(existsSync(join(sheep.root, 'var/lib/croft/revert/network-eth0')), false, 'it runs once')
  },
)
