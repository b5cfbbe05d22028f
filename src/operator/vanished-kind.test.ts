import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at } from '../kubernetes/objects.ts'
import { createGround, VMS } from './testing/harness.ts'
import { madeByCrossplane, providerConfigOf, providerVms } from './testing/made-by-crossplane.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const UNUSED = 'environmentdownloadfiles.virtualenvironmentdownloadfile.proxmoxbpg.crossplane.io'
const A_WHILE = 600_000

/** An operator with one machine that was made by another controller. */
async function withMachine() {
  const ground = await createGround()
  const [vm] = providerVms(1, ['fun-bedbug'])
  assert.ok(vm)
  ground.datacentre.addGuest(vm.vmid, vm.node, providerConfigOf(vm), true)
  const made = await ground.call('POST', VMS, madeByCrossplane(vm))
  const path = `${VMS}/${String(at(made, 'metadata', 'name'))}`
  const operator = await ground.start()
  await ground.pass(120_000)
  return { ground, operator, path, isThere: () => ground.datacentre.world.guests.has(vm.vmid) }
}

test('a definition that nobody uses leaves the cluster: what is deleted afterwards goes', async () => {
  const { ground, operator, path, isThere } = await withMachine()
  await ground.call('DELETE', `${DEFINITIONS}/${UNUSED}`)
  await ground.pass(A_WHILE)
  assert.equal(isThere(), true, 'it removes nothing by itself')
  await ground.call('DELETE', path)
  await ground.pass(A_WHILE)
  assert.equal(await ground.get(path), undefined)
  assert.equal(isThere(), false)
  await operator.stop()
})

test('a definition that leaves the cluster just after one of its objects holds removals up for a while, not for ever', async () => {
  const { ground, operator, path, isThere } = await withMachine()
  const group = 'virtualenvironmentdownloadfile.proxmoxbpg.crossplane.io'
  const files = `/apis/${group}/v1alpha1/environmentdownloadfiles`
  await ground.call('POST', files, {
    apiVersion: `${group}/v1alpha1`,
    kind: 'EnvironmentDownloadFile',
    metadata: { name: 'image' },
    spec: { managementPolicies: ['Observe'], forProvider: {} },
  })
  await ground.pass(5_000)
  await ground.call('DELETE', `${files}/image`)
  await ground.pass(5_000)
  assert.equal(await ground.get(`${files}/image`), undefined)
  await ground.call('DELETE', `${DEFINITIONS}/${UNUSED}`)
  // The server ends each watch after five minutes at the latest: then it is known.
  await ground.pass(320_000)
  await ground.call('DELETE', path)
  await ground.pass(120_000)
  assert.equal(isThere(), true)
  await ground.pass(A_WHILE)
  assert.equal(isThere(), false)
  await operator.stop()
})

test('a definition that comes back is read again', async () => {
  const { ground, operator, path, isThere } = await withMachine()
  const definition = await ground.get(`${DEFINITIONS}/${UNUSED}`)
  assert.ok(definition)
  await ground.call('DELETE', `${DEFINITIONS}/${UNUSED}`)
  await ground.pass(A_WHILE)
  const { apiVersion, kind, spec } = definition
  await ground.call('POST', DEFINITIONS, { apiVersion, kind, metadata: { name: UNUSED }, spec })
  await ground.pass(A_WHILE)
  await ground.call('DELETE', path)
  await ground.pass(A_WHILE)
  assert.equal(isThere(), false)
  await operator.stop()
})
