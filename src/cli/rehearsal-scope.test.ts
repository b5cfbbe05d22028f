import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../kinds/registry.ts'
import { link } from '../plan/link.ts'
import { readText } from '../source/testing/fixture.ts'
import { isEmptyScope, rehearsalScope } from './rehearsal-scope.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJtzZxhJZ0Tz6i1qJm0c2ZkqRk3m1e7u7n0c2ZkqRk3m'
const HOST = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: cow}
spec: {ssh: {address: 192.0.2.1, hostKeys: ["${KEY}"]}}
---
`
const CLUSTER = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: home}
spec: {version: v1.34.3+k3s1, servers: [{machine: Host/cow}]}
---
`
const CONFIG = `apiVersion: croft.dev/v1alpha1
kind: HostConfig
metadata: {name: cow}
spec: {hosts: [cow], packages: [{name: htop}]}
---
`
const ADDON = `apiVersion: croft.dev/v1alpha1
kind: Addon
metadata: {name: colours}
spec: {cluster: home, objects: [{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}]}
---
`
const PROXMOX = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: pve}
spec: {endpoint: "https://192.0.2.2:8006", token: {env: T}}
---
`

function scopeOf(text: string) {
  const revision = readText(text)
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  return rehearsalScope(estate)
}

const CASES: readonly (readonly [string, string, readonly string[], boolean])[] = [
  ['a cluster on a box', HOST + CLUSTER, ['Cluster/home: cow is not a machine on Proxmox'], true],
  ['items of a host', HOST + CONFIG, ['host/cow: items of the host (1)'], true],
  [
    'objects of add-ons, beside a Proxmox',
    PROXMOX + HOST + CLUSTER + ADDON,
    ['Cluster/home: cow is not a machine on Proxmox', 'cluster/home: objects of add-ons (1)'],
    false,
  ],
  ['a Proxmox alone', PROXMOX, [], false],
]

for (const [name, text, leftOut, empty] of CASES)
  test(`what a rehearsal leaves out is named: ${name}`, () => {
    const scope = scopeOf(text)
    assert.deepEqual(scope.leftOut, leftOut)
    assert.equal(isEmptyScope(scope), empty)
    assert.ok(scope.estate.connections.every(({ driver }) => driver === 'proxmox'))
  })
