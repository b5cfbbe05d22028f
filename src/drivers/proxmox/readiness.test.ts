import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ObservedResource } from '../../model/resource.ts'
import type { VmSpec } from '../../model/vm.ts'
import { vmReadiness } from './readiness.ts'
import { proxmoxRules } from './rules.ts'
import { exampleResource } from './testing/vm-example.ts'

const bare: VmSpec = {
  host: 'alpha',
  name: 'web',
  power: 'running',
  agent: { enabled: true },
  disks: [{ slot: 'scsi0', storage: 'local', sizeGb: 10 }],
  nics: [],
}

function running(agent?: 'up' | 'down'): ObservedResource {
  const close = { config: {}, power: 'running' as const, atMs: 0, ...(agent === undefined ? {} : { agent }) }
  return { connection: 'default', type: 'vm', externalId: '100', host: 'alpha', power: 'running', close }
}

test('[R11] nothing waits for the agent of a machine into which nothing brings an operating system', () => {
  const imported: VmSpec = { ...bare, disks: [{ slot: 'scsi0', storage: 'local', importFrom: 'local:import/x.qcow2' }] }
  const table: [string, VmSpec, ObservedResource, boolean, string][] = [
    ['an empty disk', bare, running('down'), false, 'NoSystem'],
    ['an empty disk into which somebody put a system', bare, running('up'), false, 'AgentUp'],
    ['an empty disk in the declaration of a machine that was there before', bare, running('down'), true, 'AgentDown'],
    ['an image', imported, running('down'), false, 'AgentDown'],
    ['an image, not asked', imported, running(), false, 'AgentNotAsked'],
    [
      'an installer',
      { ...bare, cdrom: [{ slot: 'ide2', file: 'local:iso/debian.iso' }] },
      running('down'),
      false,
      'AgentDown',
    ],
    ['the network', { ...bare, bootOrder: ['scsi0', 'net0'] }, running('down'), false, 'AgentDown'],
  ]
  for (const [name, vm, observed, adopted, reason] of table) {
    const judged = vmReadiness(vm, observed, adopted)
    assert.equal(judged.reason, reason, name)
    assert.equal(judged.ready, reason === 'NoSystem' || reason === 'AgentUp', name)
  }
})

test('whether a machine was taken over is asked of its policy: only then may it have a system that nobody declared', () => {
  const asked = (adopt: object) => proxmoxRules.readiness(exampleResource(bare, adopt), running('down'))
  assert.equal(asked({}).reason, 'NoSystem')
  assert.equal(asked({ adopt: '100' }).reason, 'AgentDown')
})
