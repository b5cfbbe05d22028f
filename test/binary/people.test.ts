import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { endAll, estateAt, type Simulator, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

describe('what people type first', () => {
  let cwd = ''
  let env: Record<string, string> = {}
  const croft = (...words: string[]) => start(words, { cwd, env }).ended

  before(async () => {
    cwd = scratch()
    const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
    estateAt(path.join(cwd, 'estate'), simulator, { 'vm.yaml': webVm({ memory: 2048 }) })
    env = {
      HOME: path.join(cwd, 'home'),
      PROXMOX_TOKEN: simulator.token,
      CROFT_STATE: path.join(cwd, 'data/croft.db'),
    }
    mkdirSync(path.join(cwd, 'data'))
  })

  test('a bare name is looked up, and a name of nothing is said to be one', async () => {
    for (const words of [
      ['get', 'web-1', 'estate/'],
      ['get', 'web-1', '--dir', 'estate'],
      ['describe', 'web-1', 'estate/'],
    ]) {
      const said = await croft(...words)
      assert.equal(said.code, 0, said.stderr)
      assert.match(said.stdout, /web-1/)
    }
    const name = await croft('get', 'web-1', 'estate/', '-o', 'jsonpath={.metadata.name}')
    assert.equal(name.stdout, 'web-1\n', name.stderr)
    const none = await croft('get', 'web-9', 'estate/')
    assert.equal(none.code, 1)
    assert.match(none.stderr, /^Error: Nothing is called web-9/)
  })

  test('why says of a thing that is not there that it is not there', async () => {
    const none = await croft('why', 'Machine/no-such', '--dir', 'estate')
    assert.equal(none.code, 1)
    assert.match(none.stderr, /There is no Machine\/no-such in estate/)
    const declared = await croft('why', 'web-1', 'estate/')
    assert.equal(declared.code, 0, declared.stderr)
  })

  test('a field is explained by its path', async () => {
    const said = await croft('explain', 'cluster.spec.upgrade')
    assert.equal(said.code, 0, said.stderr)
    assert.match(said.stdout, /^KIND: {3}Cluster\nFIELD: {2}spec\.upgrade <object>\n\nHow croft rolls out/)
    assert.match(
      said.stdout,
      /\n {2}soak <string> {2}How long a changed node must stay healthy .*\n {2}nodeTimeout <string>\n {6}How long/,
    )
    const wrong = await croft('explain', 'cluster.spec.upgrad')
    assert.equal(wrong.code, 64)
    assert.match(wrong.stderr, /Cluster\.spec has no field upgrad\. Did you mean upgrade\?/)
  })

  test('one manifest is validated with its directory, and planned only as part of it', async () => {
    const valid = await croft('validate', 'estate/vm.yaml')
    assert.equal(valid.code, 0, valid.stderr)
    assert.match(valid.stdout, /1 declaration in 1 file/)
    writeFileSync(
      path.join(cwd, 'estate/wrong.yaml'),
      webVm({ memory: 2048 }).replace('web-1', 'web-2').replace('vmId: 205', 'vmIdd: 206'),
    )
    assert.equal((await croft('validate', 'estate/vm.yaml')).code, 0)
    const wrong = await croft('validate', 'estate/wrong.yaml')
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /estate\/wrong\.yaml:\d+:\d+/)
    writeFileSync(path.join(cwd, 'estate/wrong.yaml'), '')
    const planned = await croft('plan', 'estate/vm.yaml')
    assert.equal(planned.code, 64)
    assert.match(planned.stderr, /is a manifest, and croft works on the whole directory/)
  })

  test('the directory is an argument, --dir or CROFT_DIR, for every verb', async () => {
    for (const verb of ['validate', 'plan', 'get', 'health']) {
      const outputs = await Promise.all([
        croft(verb, 'estate/'),
        croft(verb, '--dir', 'estate/'),
        start([verb], { cwd, env: { ...env, CROFT_DIR: 'estate/' } }).ended,
      ])
      assert.equal(new Set(outputs.map(({ stdout }) => stdout)).size, 1, verb)
      assert.match(outputs[0].stdout + outputs[0].stderr, /web-1|valid/)
    }
  })

  test('a saved plan is performed without a question, once, and not when something changed', async () => {
    const planned = await croft('plan', 'estate', '--out', 'plan.json')
    assert.equal(planned.code, 2, planned.stderr)
    assert.match(planned.stderr, /croft apply plan\.json/)
    const applied = await croft('apply', 'plan.json')
    assert.equal(applied.code, 0, applied.stdout + applied.stderr)
    const again = await croft('apply', 'plan.json')
    assert.equal(again.code, 1, again.stdout)
    assert.match(again.stderr, /Something changed since this plan was saved/)
    assert.equal((await croft('diff', 'estate')).code, 0)
  })

  test('a port that is taken is said in a sentence', async () => {
    const { endpoint } = await startSimulator([], cwd)
    const taken = await croft('sim', '--port', new URL(endpoint).port)
    assert.equal(taken.code, 1)
    assert.match(taken.stderr, /^Error: Port \d+ of 127\.0\.0\.1 is in use by another program/)
  })
})

test('on a fast simulator doctor finds no wrong clock, and a wrong token is said to be one', async () => {
  const cwd = scratch()
  const simulator: Simulator & { readonly clock?: string } = await startSimulator(['--speed', '20'], cwd)
  estateAt(path.join(cwd, 'estate'), simulator, {})
  const doctor = (token: string) => start(['doctor', 'estate'], { cwd, env: { HOME: cwd, PROXMOX_TOKEN: token } }).ended
  // Long enough for twenty seconds a second to tell.
  await new Promise((resolve) => setTimeout(resolve, 3_000))
  const well = await doctor(simulator.token)
  assert.equal(well.code, 0, well.stdout + well.stderr)
  assert.doesNotMatch(well.stdout, /ahead|behind/)
  const token = 'root@pam!croft=00000000-0000-0000-0000-000000000000'
  // By itself, with the clock of sim.env, and with that of a simulator that ran before.
  for (const clock of ['', simulator.clock ?? assert.fail(), '20@1700000000000']) {
    const planned = await start(['plan', 'estate'], {
      cwd,
      env: { HOME: cwd, PROXMOX_TOKEN: token, CROFT_SIM_CLOCK: clock },
    }).ended
    assert.equal(planned.code, 4, planned.stdout + planned.stderr)
    assert.match(planned.stdout, /the token is wrong, expired or was removed/)
    assert.doesNotMatch(planned.stdout, /skew|set the clocks right/)
  }
  const wrong = await doctor(token)
  assert.equal(wrong.code, 4, wrong.stdout + wrong.stderr)
  assert.doesNotMatch(wrong.stdout, /clock is|clocks/)
  assert.match(wrong.stdout, /token/)
})
