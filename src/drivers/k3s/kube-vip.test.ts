import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubernetesWire } from '../../../sim/kubernetes/wire.ts'
import { switchOff } from '../../../sim/metal/box.ts'
import { kubeVipManifest } from '../../k3s/kube-vip.ts'
import { adminCredentials } from './make-secrets.ts'
import { allReady, type DriverLab, driverLab } from './testing/lab.ts'

function admin({ vault, clock }: DriverLab) {
  const secrets = vault.kept.get('homelab')
  const credentials = secrets === undefined ? undefined : adminCredentials(secrets, clock.now())
  assert.ok(credentials)
  return credentials
}

test('[R44] three servers form over an address that kube-vip announces, and keep it when one is lost', async () => {
  const endpoint = { vip: '10.67.0.100', kubeVip: { version: 'v1.0.3' } }
  const lab = driverLab('s1 s2 s3', { endpoint })
  const observed = await lab.until(allReady('s1 s2 s3'))
  assert.equal(observed.api, 'yes')
  const applied = await lab.call('GET', '/apis/apps/v1/namespaces/kube-system/daemonsets/kube-vip')
  assert.equal(applied.status, 200)
  for (const name of ['s1', 's2', 's3']) {
    const text = lab.box(name).machine.files.text('/var/lib/rancher/k3s/server/manifests/croft-kube-vip.yaml')
    assert.equal(text, kubeVipManifest({ endpoint }), name)
  }
  switchOff(lab.world, lab.box('s1'))
  const wire = kubernetesWire(lab.world, { endpoint: `https://${endpoint.vip}:6443`, ...admin(lab) })
  const request = { method: 'GET', path: '/version', headers: {} }
  let status: number | undefined
  for (let second = 0; second < 60 && status === undefined; second++) {
    status = (await lab.clock.runUntil(wire.send(request).catch(() => undefined)))?.status
    await lab.clock.advanceTo(lab.clock.now() + 1_000)
  }
  assert.equal(status, 200)
})
