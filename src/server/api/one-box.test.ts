import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConnectionView } from '../../model/estate-view.ts'
import { asBoxes } from './one-box.ts'

const connection = (name: string, driver: string): ConnectionView => ({ name, driver, endpoint: '', state: 'ok' })
const connections = [connection('default', 'proxmox'), connection('office', 'proxmox'), connection('host/cow', 'ssh')]
const pve = { connection: 'default', name: 'cow', online: true, load: 0.4 }
const box = { connection: 'host/cow', name: 'cow', online: true, load: 0.9, temperatureC: 51, watts: 38 }

test('a box that a hypervisor shows and that has sensors is one host, with the load of the hypervisor', () => {
  assert.deepEqual(asBoxes({ connections, hosts: [pve, box] }), [{ ...pve, temperatureC: 51, watts: 38 }])
})

test('a box without a hypervisor stands for itself; hosts of one name on two hypervisors stay apart', () => {
  assert.deepEqual(asBoxes({ connections, hosts: [box] }), [box])
  const twice = [pve, { ...pve, connection: 'office' }, box]
  assert.deepEqual(asBoxes({ connections, hosts: twice }), twice)
})
