import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { endAll, estateAt, scratch, start, startSimulator } from './children.ts'
import { webVm } from './web-vm.ts'

after(endAll)

const ADDONS = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: far}
spec: {type: existing, kubeconfig: {file: /nowhere.yaml}}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: one}
spec: {cluster: far, needs: [two], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default}}]}
---
apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: two}
spec: {cluster: far, needs: [one], objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: two, namespace: default}}]}
`

test('[D-06] [D-15] what cannot be is said by plan, refused by apply and never written; a restart is said before it happens', async () => {
  const cwd = scratch()
  const simulator = await startSimulator(['--preset', 'homelab', '--speed', '50'], cwd)
  const vm = path.join(cwd, 'estate/vm.yaml')
  estateAt(path.join(cwd, 'estate'), simulator, { 'vm.yaml': webVm() })
  const env = { HOME: path.join(cwd, 'home'), PROXMOX_TOKEN: simulator.token }
  const croft = (...words: string[]) => start(words, { cwd, env }).ended
  assert.equal((await croft('init', 'estate', '--yes')).code, 0)

  const impossible: readonly (readonly [string, RegExp])[] = [
    [
      webVm().replace('datastoreId: local, size: 4', 'datastoreId: local-zfs, size: 20480'),
      /disks of 20480 GiB are declared on storage local-zfs, which holds \d+ GiB on host fun-bedbug/,
    ],
    [webVm({ memory: 400 * 1024 }), /400 GiB of memory are declared, and host fun-bedbug has \d+(?:\.\d+)? GiB/],
  ]
  for (const [manifest, told] of impossible) {
    writeFileSync(vm, manifest)
    const planned = await croft('plan', 'estate')
    assert.match(planned.stdout, told, planned.stderr)
    assert.match(planned.stdout, /Plan: 0 to add, 0 to change, 0 to destroy/)
    assert.equal(planned.code, 2)
    const applied = await croft('apply', '--yes', '--timeout', '60s', 'estate')
    assert.match(applied.stdout + applied.stderr, told)
    assert.notEqual(applied.code, 0)
  }
  writeFileSync(vm, webVm())
  writeFileSync(path.join(cwd, 'estate/addons.yaml'), ADDONS)
  for (const words of [
    ['plan', 'estate'],
    ['apply', '--yes', 'estate'],
  ]) {
    const circle = await croft(...words)
    assert.match(
      circle.stdout + circle.stderr,
      /addons\.yaml:\d+:\d+[\s\S]*need each other in a circle|need each other in a circle[\s\S]*addons\.yaml:\d+:\d+/,
    )
    assert.equal(circle.code, 1)
  }
  assert.equal((await simulator.stats()).writes, 0, 'something was written')

  // What is possible is made; then a change that restarts it is told as such, in words and in the sum, before it is done.
  writeFileSync(path.join(cwd, 'estate/addons.yaml'), '')
  const made = await croft('apply', '--yes', '--timeout', '240s', 'estate')
  assert.equal(made.code, 0, made.stdout + made.stderr)
  assert.match(made.stdout, /1 to add.*Disruption: none/)
  const { writes } = await simulator.stats()
  writeFileSync(vm, webVm({ memory: 3072, fields: ['rebootAfterUpdate: true'] }))
  const restarts = await croft('plan', 'estate')
  assert.match(restarts.stdout, /Plan: .*1 to change.*Disruption: restart/)
  assert.match(restarts.stdout, /EnvironmentVM\/web-1.* restarts, about 2 min away/)
  assert.equal(restarts.code, 2)
  assert.equal((await simulator.stats()).writes, writes, 'a plan wrote')
})
