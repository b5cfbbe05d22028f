import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HostItemOf } from '../../src/model/host-item.ts'
import { config, declare, engineFor, settle } from './keep.ts'
import { answers, commandsFor, killedInBetween, untilIn } from './killing.ts'
import type { Lab, LabHost } from './lab.ts'

/** A manager of networks, and a host that it looks after from the beginning. */
export interface NetworkCase {
  readonly manager: HostItemOf<'network-address'>['spec']['manager']
  /** Where croft writes. */
  readonly file: string
  /** The host as it was installed: its own address in a file, and how the manager is started. */
  readonly setUp: (host: LabHost) => readonly [path: string, text: string, start: string]
}

/** Static addresses come, cut us off and are taken back by the host itself, and go again. */
export async function comesAndGoes(one: Lab, { manager, file, setUp }: NetworkCase): Promise<void> {
  const [host] = one.hosts
  assert.ok(host)
  const shell = one.shells.open(host.target({ name: 'set up' }))
  const [path, text, start] = setUp(host)
  await shell.writeFile(path, text, { mode: 0o600 })
  const started = await shell.run(['sh', '-c', start])
  assert.equal(started.code, 0, `${started.stdout}${started.stderr}`)
  const shown = async () => (await shell.run(['ip', '-o', 'address', 'show', 'dev', 'eth0'])).stdout
  const at6 = 'fd00:77::66/64'
  const addresses = `  addresses:\n    - {interface: eth0, manager: ${manager}, addresses: [${host.address}/24, "${at6}"], reach: 10.77.0.1}\n`
  const estate = await declare(one, config('net', host.name, addresses))

  const { engine } = engineFor(one)
  const { last } = await settle(engine, estate)
  assert.deepEqual(
    last.plan.entries.map(({ action }) => action),
    [{ do: 'nothing' }],
  )
  const there = await shown()
  assert.ok(there.includes(`${host.address}/24`) && there.includes(at6), there)
  assert.equal((await engine.pass(estate, new AbortController().signal)).effects, 0)

  const good = readFileSync(join(host.root, file), 'utf8')
  const spec = { manager, interface: 'eth0', addresses: ['10.99.0.3/24'], dns: [] } as const
  const commands = await commandsFor(one, host, { type: 'network-address', name: 'eth0', spec })
  const isCutOff = () => readFileSync(join(host.root, file), 'utf8').includes('10.99.0.3') && !answers(one, host)
  // Where another file names an address as well, netplan keeps that: then we are not cut off, and are killed proving.
  await killedInBetween(one, host, commands, isCutOff)
  await untilIn(one, host)
  for (let look = 0; look < 240 && readFileSync(join(host.root, file), 'utf8') !== good; look++)
    await new Promise((resolve) => setTimeout(resolve, 500))
  assert.equal(readFileSync(join(host.root, file), 'utf8'), good)

  const base = await declare(one, config('net', host.name, '  directories:\n    - {path: /srv}\n'))
  await settle(engine, base)
  await engine.close()
  assert.equal(existsSync(join(host.root, file)), false)
  const back = one.shells.open(host.target({ name: 'back' }))
  const now = (await back.run(['ip', '-o', 'address', 'show', 'dev', 'eth0'])).stdout
  await back.close()
  assert.ok(now.includes(`${host.address}/24`) && !now.includes(at6), now)
  await shell.close()
}
