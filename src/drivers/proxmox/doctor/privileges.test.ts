import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allowed, type Operation, permissionOf } from '../../../../sim/proxmox/validate/index.ts'
import { allOperations } from '../../../../sim/proxmox/validate/operations.ts'
import type { PrivilegeSet } from './need.ts'
import { CALL_RULES, needsOfCall } from './privileges.ts'

const AREAS = [
  'version',
  'access',
  'cluster',
  'pools',
  'storage',
  'nodes-qemu',
  'nodes-lxc',
  'nodes-storage',
  'nodes-other',
]
const OPERATIONS = allOperations(AREAS as Parameters<typeof allOperations>[0])

/** Values for every placeholder, and for the parameters that a permission checks. */
const VALUES: Readonly<Record<string, string>> = {
  node: 'pve1',
  vmid: '114',
  newid: '115',
  storage: 'local',
  poolid: 'team',
  pool: 'team',
  userid: 'ann@pve',
  realm: 'pve',
  zone: 'lan',
  path: '/vms/114',
  id: '100-0',
  volume: 'local:iso/x.iso',
}

/** Checks in the code of operations, which the API's table lacks. */
const IN_CODE = new Set([
  'POST /nodes/{node}/qemu/{vmid}/move_disk',
  'POST /nodes/{node}/lxc/{vmid}/move_volume',
  'DELETE /nodes/{node}/storage/{storage}/content/{volume}',
  'POST /cluster/backup',
  'PUT /cluster/backup/{id}',
  'POST /cluster/replication',
  'PUT /cluster/replication/{id}',
  'DELETE /cluster/replication/{id}',
  'PUT /cluster/sdn/vnets/{vnet}',
  'DELETE /cluster/sdn/vnets/{vnet}',
  'POST /cluster/sdn/vnets/{vnet}/subnets',
  'PUT /cluster/sdn/vnets/{vnet}/subnets/{subnet}',
  'DELETE /cluster/sdn/vnets/{vnet}/subnets/{subnet}',
])

function callOf({ method, path }: Operation) {
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => VALUES[name] ?? 'x1')
  return { method: method as 'GET', path: filled, params: VALUES }
}

/** A user with exactly these privileges. */
function holder(ways: readonly PrivilegeSet[]) {
  return {
    id: 'bob@pve!t',
    privilegesAt: (path: string) => new Set(ways.filter((one) => one.path === path).flatMap((one) => one.privileges)),
    userExists: () => true,
    groups: () => ['ops'],
    membersOf: () => ['ann@pve'],
  }
}

function paramsOf(operation: Operation): Record<string, string> {
  const named = [...operation.path.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => [name, VALUES[name] ?? 'x1'])
  return { ...VALUES, ...Object.fromEntries(named) }
}

describe('[R47] what a call needs, by our table and by the API', () => {
  let compared = 0
  for (const operation of OPERATIONS) {
    const name = `${operation.method} ${operation.path}`
    const needs = needsOfCall(callOf(operation))
    if (needs === undefined) continue
    const permission = permissionOf(operation)
    compared++
    test(name, () => {
      if (needs === 'root') return assert.deepEqual(permission, { kind: 'root' })
      const params = paramsOf(operation)
      const least = needs.map((ways) => ways[0] as PrivilegeSet)
      assert.equal(allowed(permission, params, holder(least)), true, 'the first ways are enough')
      for (const [at, ways] of needs.entries()) {
        const others = least.filter((_, index) => index !== at)
        for (const one of ways)
          assert.equal(allowed(permission, params, holder([...others, one])), true, 'any way is enough')
        if (IN_CODE.has(name)) continue
        assert.notEqual(allowed(permission, params, holder(others)), true, `without ${JSON.stringify(ways[0])}`)
      }
    })
  }
  test('most of the table was compared', () => assert.ok(compared > 180, String(compared)))
})

test('every line of the table is about a call that there is', () => {
  const calls = OPERATIONS.map(callOf).map(({ method, path }) => `${method} ${path}`)
  const idle = CALL_RULES.filter(({ call }) => !calls.some((text) => call.test(text)))
  assert.deepEqual(
    idle.map(({ call }) => call.source),
    [],
  )
})

test('a call that nobody knows is not guessed at', () => {
  assert.equal(needsOfCall({ method: 'POST', path: '/nodes/pve1/ceph/init', params: {} }), undefined)
})
