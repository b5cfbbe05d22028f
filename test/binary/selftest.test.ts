import assert from 'node:assert/strict'
import path from 'node:path'
import { after, test } from 'node:test'
import { oneServer } from '../cluster-ground.ts'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'

after(endAll)

const VERSION = 'v1.34.3+k3s1'
const CLUSTER = oneServer()

interface Step {
  readonly step: string
  readonly result: string
  readonly seen: string
}

test('croft selftest tests a cluster inside machines that croft made, and names what it does not try; doctor looks there too', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'hosts', '--speed', '60', '--proxy'], cwd)
  estateAt(path.join(cwd, 'estate'), simulator, { 'cluster.yaml': CLUSTER })
  const { proxy } = simulator as unknown as { readonly proxy: string }
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token, HTTPS_PROXY: proxy }
  const croft = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await start(words, { cwd, env }).ended
    return { code, stdout, all: `exit ${code}\n${stdout}\n${stderr}` }
  }
  const tested = async (...more: readonly string[]) => {
    const ran = await croft('selftest', 'homelab', '--dir', 'estate', '-o', 'json', ...more)
    const { steps } = JSON.parse(ran.stdout) as { readonly steps: readonly Step[] }
    return { ...ran, of: (step: string) => steps.find((one) => one.step === step) ?? assert.fail(ran.all) }
  }

  const nothing = await tested()
  assert.equal(nothing.code, 1, nothing.all)
  assert.match(nothing.of('machine of s1').seen, /does not exist yet/)
  assert.match(nothing.of('Kubernetes API').seen, /does not exist yet/)

  const applied = await croft('apply', '--yes', 'estate')
  assert.equal(applied.code, 0, applied.all)
  const doctor = await croft('doctor', 'estate')
  assert.match(doctor.stdout, /s1 \(server\): k3s runs; croft's program is in place/, doctor.all)

  const read = await tested()
  assert.equal(read.code, 0, read.all)
  assert.match(read.of('machine of s1').seen, /k3s runs/)
  assert.equal(read.of('nodes').seen, `1 node Ready with ${VERSION}`)
  assert.match(read.of('etcd').seen, /1 of 1 servers vote/)
  assert.equal(read.of('newest backup').seen, 'there is no backup')
  assert.equal(read.of('snapshot').result, 'not tried')

  const taken = await tested('--snapshot')
  assert.equal(taken.of('snapshot').result, 'ok', taken.all)
  assert.match((await tested()).of('newest backup').seen, /its token is kept/)

  // A node of the cluster is never a spare host.
  const refused = await tested('--drill', 's1')
  assert.equal(refused.code, 1, refused.all)
  assert.match(refused.of('restore on s1').seen, /s1 is a node of homelab/)

  const text = await croft('selftest', 'estate/')
  assert.equal(text.code, 0, text.all)
  assert.match(text.stdout, /^ok +machine of s1 +\d+\.\d s {2}s1 \(server\)/m)
  assert.match(text.stdout, /^not tried +restore, rotations/m)
  assert.match(text.stdout, /^homelab: \d+ ok, \d+ with a warning, 0 failed, 5 not tried\.$/m)
})
