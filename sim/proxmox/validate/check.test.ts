import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkParams, checkRequest, findOperation, operationsOfPath, withLists } from './index.ts'

function checked(method: string, path: string, params: Record<string, unknown>) {
  const found = findOperation(method, path)
  assert.ok(found)
  return checkParams(found.operation, { ...params, ...found.pathParams })
}

const CONFIG = '/nodes/pve1/qemu/100/config'

test('a path is found with its parameters, literal segments first', () => {
  const found = findOperation('GET', '/nodes/pve1/qemu/100/status/current')
  assert.equal(found?.operation.path, '/nodes/{node}/qemu/{vmid}/status/current')
  assert.deepEqual(found?.pathParams, { node: 'pve1', vmid: '100' })
  assert.equal(findOperation('GET', '/cluster/ha/status/current')?.operation.path, '/cluster/ha/status/current')
})

test('a volume and a network hold slashes', () => {
  const volume = findOperation('DELETE', '/nodes/pve1/storage/local/content/local:100/vm-100-disk-0.qcow2')
  assert.equal(volume?.pathParams.volume, 'local:100/vm-100-disk-0.qcow2')
  assert.equal(findOperation('GET', '/cluster/firewall/ipset/nodes/10.0.0.0/24')?.pathParams.cidr, '10.0.0.0/24')
})

test('an unknown path is told from an unknown method', () => {
  assert.equal(findOperation('GET', '/nope'), undefined)
  assert.equal(findOperation('GET', '/nodes/pve1/qemu/100/nope'), undefined)
  assert.deepEqual(operationsOfPath('/nope'), [])
  assert.deepEqual(
    operationsOfPath(CONFIG).map((operation) => operation.method),
    ['GET', 'POST', 'PUT'],
  )
})

test('facts of an operation', () => {
  const start = findOperation('POST', '/nodes/pve1/qemu/100/status/start')?.operation
  assert.deepEqual([start?.proxyTo, start?.privileged, start?.tokenAllowed, start?.returns], ['node', true, true, 's'])
  assert.equal(findOperation('PUT', '/access/password')?.operation.tokenAllowed, false)
})

const bad: readonly [params: Record<string, unknown>, errors: Record<string, string>][] = [
  [{ frob: '1' }, { frob: 'property is not defined in schema and the schema does not allow additional properties' }],
  [
    { usb14: 'spice' },
    { usb14: 'property is not defined in schema and the schema does not allow additional properties' },
  ],
  [{ onboot: 'true' }, { onboot: "type check ('boolean') failed - got 'true'" }],
  [{ cores: ['1', '2'] }, { cores: "type check ('integer') failed - got ARRAY" }],
  [{ cores: 2.5 }, { cores: "type check ('integer') failed - got '2.5'" }],
  [{ cores: '0' }, { cores: 'value must have a minimum value of 1' }],
  [{ cpulimit: '129' }, { cpulimit: 'value must have a maximum value of 128' }],
  [{ bios: 'efi' }, { bios: "value 'efi' does not have a value in the enumeration 'seabios, ovmf'" }],
  [{ description: 'x'.repeat(8193) }, { description: 'value may only be 8192 characters long' }],
  [{ force: '1' }, { delete: "missing property required by 'force'" }],
  [{ serial0: 'foo' }, { serial0: 'value does not match the regex pattern' }],
  [
    { net0: 'virtio,bridge=vmbr0,bridge=vmbr1' },
    { net0: 'invalid format - duplicate key in comma-separated list property: bridge\n' },
  ],
  [
    { net0: 'bridge=vmbr0' },
    { net0: 'invalid format - format error\nnet0.model: property is missing and it is not optional\n' },
  ],
  [
    { net0: 'virtio=ZZ,bridge=vmbr0' },
    {
      net0: 'invalid format - format error\nnet0.macaddr: invalid format - value does not look like a valid unicast MAC address\n\n',
    },
  ],
  [
    { net0: 'virtio=BC:24:11:00:00:01,e1000=BC:24:11:00:00:02' },
    { net0: "invalid format - key alias 'model' is already defined\n" },
  ],
]

for (const [params, errors] of bad) {
  test(`refused: ${JSON.stringify(params).slice(0, 60)}`, () => {
    assert.deepEqual(checked('PUT', CONFIG, params), { errors })
  })
}

test('good parameters come back as what they mean', () => {
  const params = { cores: '2', cpulimit: '1.5', onboot: true, agent: 'yes', name: '007', net31: 'virtio,bridge=vmbr0' }
  assert.deepEqual(checked('PUT', CONFIG, params), {
    values: { ...params, cores: 2, cpulimit: 1.5, onboot: 1, node: 'pve1', vmid: 100 },
  })
})

test('a missing parameter is named', () => {
  const errors = { vmid: 'property is missing and it is not optional' }
  assert.deepEqual(checked('POST', '/nodes/pve1/qemu', { name: 'x' }), { errors })
})

test('what goes with a type is unknown to the others', () => {
  const rule = { rule: 'na1', type: 'node-affinity', resources: 'vm:100', affinity: 'positive' }
  const unknown = 'property is not defined in schema and the schema does not allow additional properties'
  assert.deepEqual(checked('POST', '/cluster/ha/rules', rule), {
    errors: { affinity: unknown, 'oneOf[node-affinity].nodes': 'property is missing and it is not optional' },
  })
})

test('one value stands for a list, and a list for one value', () => {
  const exec = findOperation('POST', '/nodes/pve1/qemu/100/agent/exec')?.operation
  const config = findOperation('PUT', CONFIG)?.operation
  assert.ok(exec && config)
  assert.deepEqual(withLists(exec, { command: 'ls' }), { command: ['ls'] })
  assert.deepEqual(withLists(config, { delete: ['ciuser', 'onboot'] }), { delete: 'ciuser\0onboot' })
  assert.deepEqual(withLists(config, { cores: ['1', '2'] }), { cores: ['1', '2'] })
})

test('a whole request is judged in sentences', () => {
  assert.deepEqual(checkRequest('PUT', `/api2/json${CONFIG}`, { cores: 2 }), [])
  assert.deepEqual(checkRequest('GET', '/api2/json/cluster/resources?type=vm'), [])
  assert.deepEqual(checkRequest('GET', '/api2/json/nope'), ['no such path: /nope'])
  assert.deepEqual(checkRequest('DELETE', CONFIG), [`no such method: DELETE ${CONFIG} (there is GET, POST, PUT)`])
  assert.deepEqual(checkRequest('PUT', CONFIG, { cores: 0 }), ['cores: value must have a minimum value of 1'])
})
