import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient } from '../../test-client.ts'
import { holds } from '../../testing/answered-rows.ts'

const SDN = '/cluster/sdn'

test('addresses of a virtual network are given out once', async () => {
  const client = createTestClient({ preset: 'recording' })
  const ips = `${SDN}/vnets/v1/ips`
  const zone = { zone: 'z1' }
  const nowhere = "500 can't find any subnet for ip 10.9.0.1 at /usr/share/perl5/PVE/Network/SDN/Subnets.pm line 115."
  await holds(client, [
    ['POST', `${SDN}/zones`, { zone: 'z1', type: 'simple', ipam: 'pve', dhcp: 'dnsmasq' }, 'done'],
    ['POST', `${SDN}/vnets`, { vnet: 'v1', zone: 'z1' }, 'done'],
    ['POST', `${SDN}/vnets/v1/subnets`, { subnet: '10.5.0.0/24', type: 'subnet' }, 'done'],
    ['PUT', SDN, {}, 'task: OK'],
    ['POST', ips, { ...zone, ip: '10.9.0.1' }, nowhere],
    ['POST', ips, { ...zone, ip: '10.5.0.7', mac: 'BC:24:11:00:00:01' }, 'done'],
    ['POST', ips, { ...zone, ip: '10.5.0.7' }, "500 IP '10.5.0.7' already exist"],
    ['PUT', ips, { ...zone, ip: '10.5.0.8', mac: 'BC:24:11:00:00:01', vmid: '100' }, 'done'],
    ['DELETE', ips, { ...zone, ip: '10.5.0.7' }, "500 IP '10.5.0.7' does not exist in IPAM DB"],
  ])
  assert.deepEqual(await client.data('GET', `${SDN}/ipams/pve/status`), [
    { subnet: '10.5.0.0/24', mac: 'BC:24:11:00:00:01', vmid: 100, ip: '10.5.0.8', zone: 'z1', vnet: 'v1' },
  ])
  await holds(client, [
    ['DELETE', ips, { ...zone, ip: '10.5.0.8' }, 'done'],
    ['GET', '/nodes/pve1/sdn/zones/z1/ip-vrf', undefined, { zone: 'zone is not an EVPN zone' }],
    ['GET', '/nodes/pve1/sdn/zones/z9/ip-vrf', undefined, { zone: 'zone does not exist' }],
    ['GET', '/nodes/pve1/sdn/vnets/v1/mac-vrf', undefined, { zone: 'zone z1 is not an EVPN zone.' }],
    ['GET', '/nodes/pve1/sdn/vnets/v9/mac-vrf', undefined, { vnet: 'vnet does not exist' }],
  ])
})

test('[T-08] entries of a prefix list have numbers of their own and lengths that fit', async () => {
  const entries = `${SDN}/prefix-lists/lan/entries`
  const entry = { action: 'permit', prefix: '10.1.0.0/16' }
  await holds(createTestClient({ preset: 'recording' }), [
    ['POST', `${SDN}/prefix-lists`, { id: 'lan', entries: 'action=permit,prefix=10.0.0.0/8' }, 'done'],
    ['POST', entries, { ...entry, seq: '5' }, '500 entry with sequence number 5 already exists!'],
    ['POST', entries, { ...entry, le: '8' }, '500 Prefix <= must not be less than 16'],
    ['POST', entries, { ...entry, ge: '8' }, '500 Prefix >= must not be less than 16'],
    ['POST', entries, { ...entry, ge: '28', le: '24' }, '500 Prefix >= (28) must not be greater than Prefix <= (24)'],
    ['POST', entries, { ...entry, ge: '20', le: '24' }, 'done'],
    ['PUT', `${entries}/10`, { action: 'deny', seq: '5' }, '500 entry with sequence number 5 already exists!'],
    ['PUT', `${entries}/99`, { action: 'deny' }, '500 entry with sequence number 99 does not exist!'],
  ])
})

test('prefix lists and route maps are kept, and take effect with the rest of the network', async () => {
  const client = createTestClient({ preset: 'recording' })
  const lists = `${SDN}/prefix-lists`
  const maps = `${SDN}/route-maps/entries`
  await holds(client, [
    ['POST', lists, { id: 'lan', entries: 'action=permit,prefix=10.0.0.0/8' }, 'done'],
    ['POST', lists, { id: 'lan' }, "500 prefix list 'lan' already exists"],
    ['POST', `${lists}/lan/entries`, { action: 'deny', prefix: '10.1.0.0/16', le: '24' }, 'done'],
    ['GET', `${lists}/wan`, undefined, "500 prefix list 'wan' does not exist"],
    ['POST', maps, { 'route-map-id': 'out', order: '10', action: 'permit' }, 'done'],
    [
      'POST',
      maps,
      { 'route-map-id': 'out', order: '10', action: 'deny' },
      "500 route map entry '10' of 'out' already exists",
    ],
  ])
  assert.deepEqual(await client.data('GET', `${lists}/lan/entries`), [
    { action: 'permit', prefix: '10.0.0.0/8', seq: 5 },
    { action: 'deny', prefix: '10.1.0.0/16', le: 24, seq: 10 },
  ])
  await holds(client, [
    ['PUT', `${lists}/lan/entries/10`, { action: 'permit', seq: '3' }, 'done'],
    ['PUT', `${lists}/lan/entries/3`, { delete: 'le' }, 'done'],
    ['GET', `${lists}/lan/entries/10`, undefined, "500 prefix list 'lan' has no entry '10'"],
    ['DELETE', `${lists}/lan/entries/5`, undefined, 'done'],
  ])
  assert.deepEqual(await client.data('GET', `${lists}/lan/entries`), [
    { action: 'permit', prefix: '10.1.0.0/16', seq: 3 },
  ])
  assert.deepEqual(await client.data('GET', `${maps}?running=1`), [], 'nothing is in effect yet')
  await holds(client, [['PUT', SDN, {}, 'task: OK']])
  assert.deepEqual(await client.data('GET', `${maps}?running=1`), [
    { 'route-map-id': 'out', order: 10, action: 'permit' },
  ])
  assert.deepEqual(await client.data('GET', `${SDN}/route-maps`), [{ id: 'out' }])
  await holds(client, [
    ['DELETE', `${maps}/out/entry/10`, undefined, 'done'],
    ['DELETE', `${maps}/out/entry/10`, undefined, "500 route map entry '10' of 'out' does not exist"],
    ['DELETE', `${lists}/lan`, undefined, 'done'],
  ])
})
