import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, type TestClient } from '../../../test-client.ts'
import { type AnsweredRow, holds as answeredBy, type Params } from '../../../testing/answered-rows.ts'
import { STALE } from '../../handlers/collection.ts'

/** What PVE::API2::Network::SDN::* and the plugins below it say. */

/** `ok`, the errors of a 400, or the status and the whole message, without the place in the real source. */
async function asked(client: TestClient, method: string, path: string, params?: Params): Promise<unknown> {
  const query = method === 'DELETE' && params ? `?${new URLSearchParams(params)}` : ''
  const answer = await client.call(method, path + query, method === 'DELETE' ? undefined : params)
  if (answer.status === 200) return 'ok'
  const body = JSON.parse(answer.body) as { errors?: unknown; message?: string }
  return answer.status === 400
    ? body.errors
    : `${answer.status} ${body.message?.trimEnd().replace(/ at \/usr\/\S+ line \d+\.$/, ' at …')}`
}

const holds = (client: TestClient, rows: readonly AnsweredRow[]) => answeredBy(client, rows, asked)

const ZONES = '/cluster/sdn/zones'
const VNETS = '/cluster/sdn/vnets'
const CONTROLLERS = '/cluster/sdn/controllers'
const PARAMETER = '400 Parameter verification failed.\n'
const newVnet = `500 create sdn vnet object failed: ${PARAMETER}`

test('zones: each sort has its own options, and some need what must be there', async () => {
  const client = createTestClient({ preset: 'recording' })
  const peers = 'must have exactly one of peers / fabric defined'
  await holds(client, [
    ['POST', ZONES, { zone: 's1', type: 'simple', bridge: 'vmbr0' }, "500 unexpected property 'bridge'"],
    ['POST', ZONES, { zone: 'l1', type: 'vlan' }, "500 missing value for required option 'bridge'"],
    ['POST', ZONES, { zone: 'q1', type: 'qinq', bridge: 'vmbr0' }, "500 missing value for required option 'tag'"],
    [
      'POST',
      ZONES,
      { zone: 'x1', type: 'vxlan' },
      `500 create sdn zone object failed: ${PARAMETER}peers: ${peers}\nfabric: ${peers}`,
    ],
    [
      'POST',
      ZONES,
      { zone: 's1', type: 'simple', ipam: 'other' },
      `500 create sdn zone object failed: ${PARAMETER}ipam: other not existing`,
    ],
    [
      'POST',
      ZONES,
      { zone: 's1', type: 'simple', dnszone: 'lan' },
      `500 create sdn zone object failed: ${PARAMETER}dnszone: missing dns server`,
    ],
    ['POST', ZONES, { zone: 's1', type: 'simple', ipam: 'pve' }, 'ok'],
    ['PUT', `${ZONES}/s1`, { bridge: 'vmbr0' }, "500 update sdn zone object failed: unexpected property 'bridge'"],
    ['PUT', `${ZONES}/s1`, { delete: 'tag' }, "500 update sdn zone object failed: no such option 'tag'"],
    ['PUT', `${ZONES}/s1`, { mtu: '1400', digest: '0'.repeat(40) }, `500 update sdn zone object failed: ${STALE}`],
    ['PUT', `${ZONES}/none`, { mtu: '1400' }, "500 update sdn zone object failed: sdn 'none' does not exist"],
    ['DELETE', `${ZONES}/none`, undefined, "500 delete sdn zone object failed: sdn 'none' does not exist"],
    ['GET', `${ZONES}/none`, undefined, "500 sdn 'none' does not exist"],
    ['POST', ZONES, { zone: 'l1', type: 'vlan', bridge: 'vmbr0' }, 'ok'],
    [
      'PUT',
      `${ZONES}/l1`,
      { delete: 'bridge' },
      "500 update sdn zone object failed: unable to delete required option 'bridge'",
    ],
  ])
})

test('EVPN: one controller, known to the zone, and one VRF for each zone', async () => {
  const client = createTestClient({ preset: 'recording' })
  const zone = { type: 'evpn', controller: 'c1', 'vrf-vxlan': '10000' }
  await holds(client, [
    ['POST', ZONES, { zone: 'e1', ...zone }, "500 create sdn zone object failed: controller c1 don't exist at …"],
    [
      'POST',
      CONTROLLERS,
      { controller: 'c1', type: 'evpn', asn: '65000' },
      '500 create sdn controller object failed: must have exactly one of peers / fabric defined at …',
    ],
    [
      'POST',
      CONTROLLERS,
      { controller: 'b1', type: 'bgp', asn: '65000' },
      "500 missing value for required option 'node'",
    ],
    ['POST', CONTROLLERS, { controller: 'c1', type: 'evpn', asn: '65000', peers: '10.0.0.1' }, 'ok'],
    [
      'POST',
      CONTROLLERS,
      { controller: 'd1', type: 'evpn', asn: '65000', peers: '10.0.0.1' },
      '500 create sdn controller object failed: only 1 global evpn controller can be defined at …',
    ],
    ['POST', ZONES, { zone: 'e1', ...zone }, 'ok'],
    [
      'POST',
      ZONES,
      { zone: 'f1', ...zone },
      '500 create sdn zone object failed: vrf-vxlan 10000 is already declared in e1 at …',
    ],
    [
      'DELETE',
      `${CONTROLLERS}/c1`,
      undefined,
      '500 delete sdn controller object failed: controller c1 is used by e1 at …',
    ],
    ['POST', VNETS, { vnet: 'v1', zone: 'e1' }, `${newVnet}tag: missing vxlan tag`],
    [
      'POST',
      VNETS,
      { vnet: 'v1', zone: 'e1', tag: '7', vlanaware: '1' },
      `${newVnet}vlan-aware: vlan-aware option can't be enabled with evpn`,
    ],
  ])
})

test('networks: the tag that their zone wants, once', async () => {
  const client = createTestClient({ preset: 'recording' })
  await holds(client, [
    ['POST', ZONES, { zone: 's1', type: 'simple' }, 'ok'],
    ['POST', ZONES, { zone: 'l1', type: 'vlan', bridge: 'vmbr0' }, 'ok'],
    ['POST', ZONES, { zone: 'q1', type: 'qinq', bridge: 'vmbr0', tag: '9' }, 'ok'],
    ['POST', ZONES, { zone: 'x1', type: 'vxlan', peers: '10.0.0.1' }, 'ok'],
    ['POST', ZONES, { zone: 'y1', type: 'vxlan', peers: '10.0.0.1' }, 'ok'],
    [
      'POST',
      VNETS,
      { vnet: 'v1', zone: 'none' },
      '500 create sdn vnet object failed: cannot lookup undefined type! at …',
    ],
    ['POST', VNETS, { vnet: 'v1', zone: 's1', tag: '7' }, `${newVnet}tag: vlan tag is not allowed on simple zone`],
    ['POST', VNETS, { vnet: 'v1', zone: 'l1' }, `${newVnet}tag: missing vlan tag`],
    ['POST', VNETS, { vnet: 'v1', zone: 'l1', tag: '4097' }, `${newVnet}tag: vlan tag max value is 4096`],
    ['POST', VNETS, { vnet: 'v1', zone: 'l1', tag: '7' }, 'ok'],
    ['POST', VNETS, { vnet: 'w1', zone: 'l1', tag: '7' }, `${newVnet}tag: tag 7 already exist in vnet v1`],
    ['POST', VNETS, { vnet: 'qa', zone: 'q1' }, 'ok'],
    ['POST', VNETS, { vnet: 'qb', zone: 'q1' }, `${newVnet}tag: tag-less vnet already exists in zone q1 vnet qa`],
    ['POST', VNETS, { vnet: 'xa', zone: 'x1', tag: '7' }, 'ok'],
    [
      'POST',
      VNETS,
      { vnet: 'ya', zone: 'y1', tag: '7' },
      `${newVnet}tag: vxlan tag 7 already exist in vnet xa in zone x1`,
    ],
    ['DELETE', `${ZONES}/l1`, undefined, '500 delete sdn zone object failed: zone l1 is used by vnet v1 at …'],
    ['PUT', `${VNETS}/none`, { alias: 'a' }, "500 sdn vnet 'none' does not exist"],
    ['DELETE', `${VNETS}/none`, undefined, "500 sdn vnet 'none' does not exist"],
    [
      'PUT',
      `${VNETS}/v1`,
      { delete: 'zone' },
      "500 update sdn vnet object failed: unable to delete required option 'zone'",
    ],
    ['PUT', `${VNETS}/v1`, { delete: 'tag' }, `500 update sdn vnet object failed: ${PARAMETER}tag: missing vlan tag`],
  ])
})

test('subnets: gateway and ranges lie in them, and hold their network in its place', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = `${VNETS}/v1/subnets`
  const subnet = { subnet: '10.5.0.0/24', type: 'subnet' }
  const wrong = `500 create sdn subnet object failed: ${PARAMETER}`
  const range = (start: string, end: string) => ({
    ...subnet,
    'dhcp-range': `start-address=${start},end-address=${end}`,
  })
  await holds(client, [
    ['POST', ZONES, { zone: 's1', type: 'simple', ipam: 'pve' }, 'ok'],
    ['POST', ZONES, { zone: 't1', type: 'simple' }, 'ok'],
    ['POST', at, subnet, "500 sdn vnet 'v1' does not exist"],
    ['POST', VNETS, { vnet: 'v1', zone: 's1' }, 'ok'],
    ['POST', VNETS, { vnet: 'a1', zone: 's1', vlanaware: '1' }, 'ok'],
    ['POST', `${VNETS}/a1/subnets`, subnet, `${wrong}vnet: you can't add a subnet on a vlanaware vnet`],
    ['POST', at, { ...subnet, gateway: '10.6.0.1' }, `${wrong}gateway: 10.6.0.1 is not in subnet 10.5.0.0/24`],
    [
      'POST',
      at,
      range('10.5.0.9', '10.5.0.8'),
      `${wrong}dhcp-range: start-address 10.5.0.9 must be smaller than end-address 10.5.0.8`,
    ],
    [
      'POST',
      at,
      range('10.5.0.9', '10.5.1.8'),
      `${wrong}dhcp-range: end-address 10.5.1.8 is not in subnet 10.5.0.0/24`,
    ],
    ['POST', at, { ...subnet, gateway: '10.5.0.1' }, 'ok'],
    ['POST', at, subnet, "500 create sdn subnet object failed: sdn subnet object ID 's1-10.5.0.0-24' already defined"],
    ['POST', at, { subnet: '10.9.0.1/32', type: 'subnet', gateway: '10.5.0.1' }, 'ok'],
    ['DELETE', `${at}/s1-10.9.0.1-32`, undefined, 'ok'],
    ['DELETE', `${at}/s1-10.9.0.1-32`, undefined, 'ok'],
    [
      'PUT',
      `${at}/s1-10.9.0.1-32`,
      {},
      "500 update sdn subnet object failed: sdn subnet 's1-10.9.0.1-32' does not exist",
    ],
    [
      'PUT',
      `${VNETS}/v1`,
      { zone: 't1' },
      `500 update sdn vnet object failed: ${PARAMETER}zone: can't change zone if subnets exist`,
    ],
    [
      'PUT',
      `${VNETS}/v1`,
      { vlanaware: '1' },
      `500 update sdn vnet object failed: ${PARAMETER}vlanaware: vlanaware vnet is not compatible with subnets`,
    ],
    [
      'DELETE',
      `${VNETS}/v1`,
      undefined,
      `500 delete sdn vnet object failed: ${PARAMETER}vnet: Can't delete vnet if subnets exists`,
    ],
    [
      'PUT',
      `${ZONES}/s1`,
      { delete: 'ipam' },
      `500 update sdn zone object failed: ${PARAMETER}ipam: can't change ipam if a subnet is already defined in this zone`,
    ],
  ])
})

test('while somebody holds the lock only they write', async () => {
  const client = createTestClient({ preset: 'recording' })
  const token = await client.data<string>('POST', '/cluster/sdn/lock')
  await holds(client, [
    [
      'POST',
      ZONES,
      { zone: 's1', type: 'simple' },
      '500 create sdn zone object failed: invalid lock token provided! at …',
    ],
    ['POST', ZONES, { zone: 's1', type: 'simple', 'lock-token': token }, 'ok'],
    ['DELETE', `${ZONES}/s1`, undefined, '500 delete sdn zone object failed: invalid lock token provided! at …'],
    ['DELETE', `${ZONES}/s1`, { 'lock-token': token }, 'ok'],
  ])
  assert.deepEqual(await client.data('GET', ZONES), [])
})

test('sections: what each sort needs, what is there from the start, and what is still to come', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/cluster/sdn'
  await holds(client, [
    ['POST', `${at}/zones`, { zone: 'f1', type: 'faucet' }, "500 missing value for required option 'dp-id'"],
    [
      'POST',
      `${at}/controllers`,
      { controller: 'c2', type: 'bgp', asn: '65000', peers: '10.0.0.1', node: 'pve1' },
      'ok',
    ],
    ['POST', `${at}/zones`, { zone: 'z2', type: 'vlan', bridge: 'vmbr0' }, 'ok'],
    ['POST', `${at}/vnets`, { vnet: 'v2', zone: 'z2', tag: '5' }, 'ok'],
    ['POST', `${at}/vnets/v2/subnets`, { subnet: '10.0.0.0/24', type: 'subnet' }, 'ok'],
    [
      'POST',
      `${at}/vnets/v2/subnets`,
      { subnet: 'x', type: 'subnet' },
      { subnet: 'invalid format - value does not look like a valid CIDR network\n' },
    ],
  ])
  const controller = await client.data<Record<string, unknown>>('GET', `${at}/controllers/c2`)
  assert.equal(controller.node, 'pve1')
  assert.deepEqual(await client.data('GET', `${at}/zones?pending=1`), [
    { type: 'vlan', zone: 'z2', state: 'new', pending: { bridge: 'vmbr0' }, digest: null },
  ])
  const [subnet] = await client.data<Record<string, unknown>[]>('GET', `${at}/vnets/v2/subnets`)
  assert.deepEqual([subnet?.id, subnet?.['dhcp-range']], ['z2-10.0.0.0-24', []])
})
