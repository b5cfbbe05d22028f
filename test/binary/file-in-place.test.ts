import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { clusterManifests } from '../browser/cluster-manifests.ts'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const POWER = `apiVersion: croft.dev/v1alpha1
kind: Power
metadata: {name: site}
spec:
  state: on
  hosts: [{name: fun-bedbug, level: 1}]
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: fun-bedbug}
spec: {connection: default, node: fun-bedbug, wake: {mac: "52:54:00:00:00:01"}}
`

async function place(preset: string, files: (hosts: readonly string[]) => Readonly<Record<string, string>>) {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', preset, '--speed', '50'], cwd)
  const { hosts } = await simulator.door<{ readonly hosts: readonly { readonly name: string }[] }>('GET', 'state')
  estateAt(path.join(cwd, 'infra'), simulator, files(hosts.map(({ name }) => name)))
  mkdirSync(path.join(cwd, 'data'))
  const state = path.join(cwd, 'data/croft.db')
  writeFileSync(path.join(cwd, 'croft.yaml'), `state: ${state}\nsources:\n  - {name: home, directory: infra}\n`)
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  return { state, croft: (...words: string[]) => start(words, { cwd, env }).ended }
}

test('[D-14] a configuration in the place of a directory: get and health look into the database that it names', async () => {
  const { state, croft } = await place('homelab', () => ({ 'vm.yaml': webVm({ memory: 2048 }) }))
  const applied = await croft('apply', '--yes', '--timeout', '240s', 'croft.yaml')
  assert.equal(applied.code, 0, applied.stdout + applied.stderr)
  assert.ok(existsSync(state), 'the database of the configuration')
  for (const words of [
    ['get', '--dir', 'croft.yaml'],
    ['get', 'croft.yaml'],
    ['get', 'croft.yaml', 'vm'],
  ]) {
    const got = await croft(...words)
    assert.equal(got.code, 0, got.stderr)
    assert.match(got.stdout, /web-1 .*(?:Running|Ready)/, words.join(' '))
  }
  const planned = await croft('plan', 'croft.yaml')
  assert.equal(planned.code, 0, planned.stdout + planned.stderr)
  // A directory in one plain word, though no kind is called so.
  assert.match((await croft('get', 'infra', 'vm', '-o', 'name')).stdout, /^EnvironmentVM\/web-1$/m)
  const missing = await croft('get', 'nowhere.yaml')
  assert.match(missing.stderr, /nowhere\.yaml/)
})

test('[D-14] a configuration with a cluster is planned like a directory', async () => {
  const { croft } = await place('hosts', clusterManifests)
  const planned = await croft('plan', 'croft.yaml')
  assert.doesNotMatch(planned.stderr, /ENOTDIR/)
  assert.match(planned.stdout, /Cluster\/edge[\s\S]*Plan: \d+ to add/)
})

test('[D-14] a rehearsal goes on where a Power is declared, and says what it leaves out', async () => {
  const { croft } = await place('homelab', () => ({ 'vm.yaml': webVm({ memory: 2048 }), 'power.yaml': POWER }))
  const told = await croft('rehearse', 'infra')
  assert.equal(told.code, 0, told.stdout + told.stderr)
  assert.match(told.stderr, /Powers of this estate .*left out/)
  assert.match(told.stdout, /web-1/)
})

test('[D-14] a Power of machines and hosts alone, without a cluster, is planned and judged like everything else', async () => {
  const { croft } = await place('homelab', () => ({ 'vm.yaml': webVm({ memory: 2048 }), 'power.yaml': POWER }))
  for (const place of ['infra', 'croft.yaml']) {
    const planned = await croft('plan', place)
    assert.equal(planned.code, 2, planned.stdout + planned.stderr)
    assert.match(planned.stdout, /Plan: 1 to add/)
  }
  const judged = await croft('health', 'infra')
  assert.doesNotMatch(judged.stdout + judged.stderr, /was not expected/)
})
