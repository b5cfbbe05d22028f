import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_PROGRAM, type NodeFacts } from '../../src/k3s/node-program.ts'
import { createLab, FIRST } from '../testing/k3s-lab.ts'
import { switchOff, wake } from './box.ts'
import { redfishWire } from './redfish.ts'
import { metalShell } from './shell.ts'

test('a box is reached by its shell while it is up, and its data outlives its power', async () => {
  const lab = createLab()
  const shell = metalShell(lab.world, 's1')
  const run = (...argv: string[]) => lab.clock.runUntil(shell.run(argv))
  assert.deepEqual(await run('hostname'), { code: 0, stdout: 's1\n', stderr: '' })
  assert.equal((await run(NODE_PROGRAM, 'facts')).code, 127, 'the program is not there before somebody brings it')
  await assert.rejects(lab.clock.runUntil(shell.writeFile(NODE_PROGRAM, '#!/bin/sh\n')), {
    code: 'not-found',
    ran: 'no',
  })
  await run('mkdir', '-p', '/usr/local/lib/croft')
  await lab.clock.runUntil(shell.writeFile(NODE_PROGRAM, '#!/bin/sh\n', { mode: 0o755 }))
  const facts = async () => JSON.parse((await run(NODE_PROGRAM, 'facts')).stdout) as NodeFacts
  assert.equal((await facts()).cloudInit, 'absent')
  lab.start('s1', 'server', FIRST)
  await lab.until(() => lab.isReady('s1'))
  const before = await facts()
  switchOff(lab.world, lab.box('s1'))
  await assert.rejects(run('hostname'), { code: 'unreachable', ran: 'no' })
  wake(lab.world, lab.box('s1').mac.toUpperCase())
  await lab.until(() => lab.box('s1').booted, 200_000)
  await lab.until(() => lab.box('s1').machine.k3s?.state === 'running')
  const after = await facts()
  assert.equal(after.machineId, before.machineId)
  assert.notEqual(after.bootId, before.bootId)
  assert.equal(after.data, before.data)
})

test('an answer of the management controller may get lost although the deed is done', async () => {
  const lab = createLab()
  const box = lab.box('a1')
  const controller = redfishWire(lab.world, 'a1')
  const path = '/redfish/v1/Systems/1/Actions/ComputerSystem.Reset'
  const off = { method: 'POST', path, headers: {}, body: '{"ResetType":"ForceOff"}' }
  box.bmcRepliesLost = 1
  await assert.rejects(lab.clock.runUntil(controller.send(off)), { sent: 'maybe' })
  assert.equal(box.power, 'off')
  const seen = await lab.clock.runUntil(controller.send({ method: 'GET', path: '/redfish/v1/Systems/1', headers: {} }))
  assert.match(seen.body, /"PowerState":"Off"/)
  box.wakeOnLan = false
  wake(lab.world, box.mac)
  assert.equal(box.power, 'off')
})
