import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findKind } from '../../kinds/registry.ts'
import { link } from '../../plan/link.ts'
import { readTexts } from '../../source/testing/fixture.ts'
import { realReach } from './real-reach.ts'

const PROXMOX = (name: string) => `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: ${name}}
spec: {endpoint: https://192.168.4.175:8006, token: {env: T}}
`
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGj1Zr3mQyv9dQm0yq0S3mX8w1vK5n2bJ7cT4uR6hLpA'
const HOST = `apiVersion: croft.dev/v1alpha1
kind: Host
metadata: {name: pve1}
spec: {connection: default, ssh: {address: 192.168.4.9, user: root, hostKeys: [${KEY}]}}
`
const EXISTING = `apiVersion: croft.dev/v1alpha1
kind: Cluster
metadata: {name: old}
spec: {type: existing, kubeconfig: {file: /etc/kubeconfig}}
`

const cases: readonly (readonly [says: string, manifests: string, reach: readonly RegExp[]])[] = [
  ['nothing but its Proxmox', PROXMOX('default'), []],
  [
    'a host over SSH',
    `${PROXMOX('default')}---\n${HOST}`,
    [/^a\.yaml:1:1: Host pve1 is reached over SSH at 192\.168\.4\.9/],
  ],
  [
    'another Proxmox',
    `${PROXMOX('default')}---\n${PROXMOX('other')}`,
    [/^a\.yaml:6:1: proxmox connection other to https:/],
  ],
  ['a cluster of somebody else', `${PROXMOX('default')}---\n${EXISTING}`, [/^a\.yaml:\d+:1: kubernetes connection /]],
]

for (const [says, text, expected] of cases)
  test(`a copy of manifests with ${says} reaches ${expected.length === 0 ? 'nothing real' : 'it'}`, () => {
    const estate = link(readTexts({ 'a.yaml': text }), { findKind })
    assert.deepEqual(
      estate.problems.filter(({ severity }) => severity === 'error'),
      [],
    )
    const reach = realReach(estate, 'default')
    assert.equal(reach.length, expected.length, reach.join('\n'))
    for (const [index, one] of expected.entries()) assert.match(reach[index] ?? '', one)
  })
