import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource, Survey } from '../model/resource.ts'
import { plan } from './plan.ts'
import { CONNECTION, estateOf, FAKE_RULES, guest, ledgerWith, machine, NOW, survey } from './testing/fixture.ts'
import { observedWorld } from './things/world.ts'

const GIB = 1024 ** 3
const TIB = 1024 * GIB

function withDisks(
  resource: Resource,
  ...disks: readonly { readonly storage: string; readonly sizeGb: number }[]
): Resource {
  const { desired } = resource
  if (desired.type !== 'vm') return resource
  const vm = { ...desired.vm, disks: disks.map((disk, at) => ({ slot: `scsi${at}`, ...disk })) }
  return { ...resource, desired: { type: 'vm', vm } }
}

/** A host of 64 GiB with a storage of 1.9 TiB that has 1 TiB free. */
function seen(resources: Survey['resources'] = []): Survey {
  return {
    ...survey(resources),
    hosts: [{ name: 'alpha', online: true, memoryBytes: 64 * GIB }],
    storages: [
      {
        host: 'alpha',
        name: 'local',
        content: ['images'],
        available: true,
        shared: false,
        totalBytes: 1.9 * TIB,
        usedBytes: 0.9 * TIB,
      },
    ],
  }
}

function told(resource: Resource, resources: Survey['resources'] = []): string {
  const world = observedWorld(CONNECTION, seen(resources), new Map(), new Map(), new Map([['100', 'free']]))
  const planned = plan({
    estate: estateOf([resource]),
    worlds: new Map([['default', world]]),
    ledger: ledgerWith(),
    rules: new Map([['fake', FAKE_RULES]]),
    nowMs: NOW,
  })
  const [entry] = planned.entries
  assert.ok(entry)
  const { action, notes = [] } = entry
  const more = action.do === 'refuse' ? ` ${action.guard}: ${action.reason}` : ''
  return `${action.do}${more}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`
}

test('[D-15] what no host of this size can hold is refused in the plan, with the reason', () => {
  const web = machine('web', { vmid: 100 })
  const table: readonly (readonly [Resource, string])[] = [
    [withDisks(web, { storage: 'local', sizeGb: 20 }), 'create'],
    [
      withDisks(web, { storage: 'local', sizeGb: 20 * 1024 }),
      'refuse room: disks of 20480 GiB are declared on storage local, which holds 1945.6 GiB on host alpha',
    ],
    [
      withDisks(web, { storage: 'local', sizeGb: 1024 }, { storage: 'local', sizeGb: 1024 }),
      'refuse room: disks of 2048 GiB are declared on storage local, which holds 1945.6 GiB on host alpha',
    ],
    [
      withDisks(web, { storage: 'local', sizeGb: 1500 }),
      'create (disks of 1500 GiB on local, where 1024 GiB are free)',
    ],
    [machine('web', { vmid: 100, memory: 64 * 1024 }), 'create'],
    [
      withDisks(machine('web', { vmid: 100, memory: 400 * 1024 }), { storage: 'local', sizeGb: 20 * 1024 }),
      'refuse room: 400 GiB of memory are declared, and host alpha has 64 GiB; disks of 20480 GiB are declared on storage local, which holds 1945.6 GiB on host alpha',
    ],
    [
      machine('web', { vmid: 100, memory: 400 * 1024 }),
      'refuse room: 400 GiB of memory are declared, and host alpha has 64 GiB',
    ],
  ]
  for (const [resource, expected] of table) assert.equal(told(resource), expected)
})

test('[D-15] a machine that is there is not grown beyond its host, and left alone where nothing grows', () => {
  const there = guest(100, { of: 'Machine/web', memory: 1024 })
  assert.equal(
    told(machine('web', { vmid: 100, memory: 400 * 1024 }), [there]),
    'refuse room: 400 GiB of memory are declared, and host alpha has 64 GiB',
  )
  const grown = guest(100, { of: 'Machine/web', memory: 400 * 1024 })
  assert.equal(told(machine('web', { vmid: 100, memory: 400 * 1024 }), [grown]), 'nothing')
})
