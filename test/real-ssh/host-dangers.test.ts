import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { HostItem } from '../../src/model/host-item.ts'
import { commandsFor, killedInBetween, letsUsIn, untilIn } from './killing.ts'
import { type Lab, labMissing, openLab } from './lab.ts'

const skip = labMissing() ?? false
let opened: Promise<Lab> | undefined
const lab = () => (opened ??= openLab(['cow']))
after(async () => (await opened)?.close())

test('croft is killed when nobody gets in any more: the host takes the change of sshd back by itself', {
  skip,
  timeout: 55_000,
}, async () => {
  const one = await lab()
  const [cow] = one.hosts
  assert.ok(cow)
  const item: HostItem = { type: 'sshd', name: 'sshd', spec: { settings: { AllowUsers: 'nobody' } } }
  await killedInBetween(one, cow, await commandsFor(one, cow, item))
  assert.equal(await letsUsIn(one, cow, 'locked out'), false, 'nobody gets in: else nothing is proved')
  await untilIn(one, cow)
  assert.equal(existsSync(join(cow.root, 'etc/ssh/sshd_config.d/00-croft.conf')), false)
  assert.equal(existsSync(join(cow.root, 'var/lib/croft/revert/sshd')), false, 'it runs once')
})
