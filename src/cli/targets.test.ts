import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind, KINDS } from '../kinds/registry.ts'
import type { Plan } from '../model/plan.ts'
import { link } from '../plan/link.ts'
import { readTexts } from '../source/testing/fixture.ts'
import { narrowed, targetsIn } from './targets.ts'

const MANIFESTS = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://pve1:8006", fingerprint: "${Array(32).fill('AA').join(':')}", token: {env: TOKEN}}
---
apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: pve1}
spec: {bindings: {networks: {lan: {bridge: vmbr0}}, storages: {fast: local-zfs, files: local}}}
---
apiVersion: croft.dev/v1alpha1
kind: Image
metadata: {name: noble}
spec: {url: "https://images.example.org/noble.qcow2", storage: files, checksum: "sha256:${'0'.repeat(64)}"}
---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-1}
spec: {host: pve1, cpu: {cores: 1}, memory: 1Gi, disks: [{size: 10Gi, image: noble, storage: fast}], networks: [{network: lan}]}
---
apiVersion: croft.dev/v1alpha1
kind: Machine
metadata: {name: web-2}
spec: {host: pve1, cpu: {cores: 1}, memory: 1Gi, disks: [{size: 10Gi, storage: fast}], networks: [{network: lan}]}
---
apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: home}
spec:
  version: v1.34.3+k3s1
  endpoint: {dns: api.example.org}
  network: lan
  servers: [{name: s1, host: pve1, cpu: {cores: 2}, memory: 4Gi, disks: [{size: 20Gi, image: noble, storage: fast}]}]
`
const revision = readTexts({ 'estate.yaml': MANIFESTS })
const estate = link(revision, { findKind, problemAt: revision.problemAt })
const plan = (keys: readonly string[]): Plan => ({
  entries: keys.map((key) => ({
    key,
    uid: key,
    connection: 'default',
    type: 'vm' as const,
    action: { do: 'nothing' as const },
  })),
  notes: [],
  problems: [],
})
const keys = estate.resources.map(({ key }) => key)
const chosen = (...named: string[]) =>
  [...(targetsIn(estate, plan([...keys, 'Machine/leaving']), KINDS, named) ?? [])].sort()

test('a target brings what it needs, and nothing else', () => {
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  assert.deepEqual(chosen('web-2'), ['Machine/web-2'])
  assert.deepEqual(chosen('web-1'), ['Image/noble@pve1', 'Machine/web-1'])
  assert.deepEqual(chosen('machine/web-1', 'Machine/web-2'), ['Image/noble@pve1', 'Machine/web-1', 'Machine/web-2'])
})

test('a cluster brings its machines, an image its copies; what is about to go can be named too', () => {
  assert.deepEqual(chosen('home'), ['Cluster/home', 'Image/noble@pve1', 'Machine/s1'])
  assert.deepEqual(chosen('noble'), ['Image/noble', 'Image/noble@pve1'])
  assert.deepEqual(chosen('Machine/leaving'), ['Machine/leaving'])
})

test('without a target everything is meant; a name that nobody has is an error', () => {
  const whole = plan(keys)
  assert.equal(targetsIn(estate, whole, KINDS, []), undefined)
  assert.equal(narrowed(whole, undefined), whole)
  assert.throws(() => chosen('Machine/nobody'), /nothing here is called that/)
  assert.throws(() => chosen('nobody'), /Nothing is called nobody/)
})

test('a narrowed plan has the entries of its targets alone', () => {
  const only = targetsIn(estate, plan(keys), KINDS, ['web-2'])
  assert.deepEqual(
    narrowed(plan(keys), only).entries.map(({ key }) => key),
    ['Machine/web-2'],
  )
})
