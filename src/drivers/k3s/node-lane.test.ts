import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NODE_PROGRAM } from '../../k3s/node-program.ts'
import { placeProgram } from './node-lane.ts'
import { driverLab } from './testing/lab.ts'

const NOBODY = new AbortController().signal

function shellOf(lab: ReturnType<typeof driverLab>, name: string) {
  const shell = lab.surroundings().nodes.get(name)?.shell
  if (shell === undefined) throw new Error(`there is no way into ${name}`)
  return shell
}

test('our program finds its place on a plain Debian, which has no directory for it', async () => {
  const lab = driverLab('s1')
  const shell = shellOf(lab, 's1')
  const early = lab.clock.runUntil(shell.writeFile(NODE_PROGRAM, 'x'))
  await assert.rejects(early, { code: 'not-found' }, 'the shell makes no parent directories, as over SSH')
  assert.equal(await lab.clock.runUntil(placeProgram(shell, NOBODY)), undefined)
  assert.equal((await lab.clock.runUntil(shell.run([NODE_PROGRAM, 'facts']))).code, 0)
})

test('what kept a node from answering is said to whoever waits for it', async () => {
  const lab = driverLab('s1 s2 s3')
  lab.box('s1').trouble.diskFull = true
  const outcome = await lab.perform({ verb: 'record-first-server', node: 's1' })
  assert.equal(outcome.result, 'refused')
  assert.match(JSON.stringify(outcome), /holds no data .* could not be copied there: .*No space left on device/)
  // [D-12] Observing writes nothing, so a node with a full disk stays visible.
  const seen = (await lab.look()).observed.nodes.find(({ name }) => name === 's1')
  assert.equal(seen?.silence, undefined)
  assert.ok(typeof seen?.k3s === 'object')
  const { switchOff } = await import('../../../sim/metal/box.ts')
  const around = lab.surroundings()
  switchOff(lab.world, lab.box('s2'))
  const silent = await lab.clock.runUntil(lab.session.observe(around, NOBODY))
  assert.match(silent.nodes.find(({ name }) => name === 's2')?.silence ?? '', /./)
})
