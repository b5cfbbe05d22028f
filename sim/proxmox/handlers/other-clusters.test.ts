import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, type TestClient } from '../../test-client.ts'

type Params = Readonly<Record<string, string>>

/** Calls as root with a password: a token may not do this. */
async function asRoot(client: TestClient) {
  const send = (method: string, path: string, params: Params, headers: Params) =>
    client.clock.runUntil(
      client.datacentre.handle({
        method,
        path: `/api2/json${path}`,
        headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
        ...(method === 'DELETE' || method === 'GET' ? {} : { body: new URLSearchParams(params).toString() }),
      }),
    )
  const login = await send('POST', '/access/ticket', { username: 'root@pam', password: 'rootpw123' }, {})
  const { ticket, CSRFPreventionToken: token } = JSON.parse(login.body).data as Record<string, string>
  const headers = { cookie: `PVEAuthCookie=${encodeURIComponent(ticket ?? '')}`, csrfpreventiontoken: token ?? '' }
  return async (method: string, path: string, params: Params = {}): Promise<string> => {
    const answer = await send(method, path, params, headers)
    const { data } = JSON.parse(answer.body || '{}') as { data?: unknown }
    if (answer.status !== 200) return `${answer.status} ${answer.reason}`
    return typeof data === 'string' && data.startsWith('UPID:') ? exitOf(client, data) : 'done'
  }
}

test('[T-08] a host becomes a cluster once, and others are written into its list', async () => {
  const client = createTestClient({ preset: 'recording' })
  const ask = await asRoot(client)
  const refused = 'Permission check failed (user != root@pam)'
  assert.equal((await client.call('POST', '/cluster/config', { clustername: 'home' })).reason, refused)
  assert.equal(
    await ask('POST', '/cluster/config/nodes/pve2', { new_node_ip: '10.0.0.2' }),
    '500 invalid corosync.conf',
  )
  assert.equal(await ask('POST', '/cluster/config', { clustername: 'home' }), 'OK')
  const again = "500 cluster config '/etc/pve/corosync.conf' already exists"
  assert.equal(await ask('POST', '/cluster/config', { clustername: 'home' }), again)
  const names = async () =>
    (await client.data<{ name: string }[]>('GET', '/cluster/config/nodes')).map(({ name }) => name)
  assert.deepEqual(await names(), ['pve1'])
  const add = (params: Params) => ask('POST', '/cluster/config/nodes/pve2', params)
  assert.equal(await add({}), '500 no links and no fallback ip (new_node_ip) given, cannot join cluster')
  const [first] = await client.data<{ ring0_addr: string }[]>('GET', '/cluster/config/nodes')
  const address = first?.ring0_addr ?? ''
  const used = `500 corosync: address '${address}' already used on link ring0_addr by node 'pve1'`
  assert.equal(await add({ link0: `address=${address}` }), used)
  assert.equal(await add({ new_node_ip: '10.0.0.2' }), 'done')
  assert.equal(await add({ new_node_ip: '10.0.0.2' }), "500 can't add existing node 'pve2'")
  assert.deepEqual(await names(), ['pve1', 'pve2'])
  assert.equal(await ask('DELETE', '/cluster/config/nodes/pve1'), '500 Cannot delete myself from cluster!')
  const unknown = '500 Node/IP: pve9 is not a known host of the cluster.'
  assert.equal(await ask('DELETE', '/cluster/config/nodes/pve9'), unknown)
  assert.equal(await ask('DELETE', '/cluster/config/nodes/pve2'), 'done')
  assert.deepEqual(await names(), ['pve1'])
})

test('[T-08] a cluster of two networks takes in nodes that have both, and tells others how to join', async () => {
  const client = createTestClient({ preset: 'recording' })
  const ask = await asRoot(client)
  const made = { clustername: 'home', link0: '10.0.0.1', link1: 'address=10.1.0.1', votes: '2', nodeid: '7' }
  assert.equal(await ask('POST', '/cluster/config', made), 'OK')
  const [row] = await client.data<Record<string, unknown>[]>('GET', '/cluster/status')
  assert.deepEqual([row?.type, row?.name, row?.nodes], ['cluster', 'home', 1])
  const { interface: links, cluster_name: name } = await client.data<Record<string, unknown>>(
    'GET',
    '/cluster/config/totem',
  )
  assert.deepEqual([links, name], [{ 0: { linknumber: '0' }, 1: { linknumber: '1' } }, 'home'])
  const add = (params: Params) => ask('POST', '/cluster/config/nodes/pve2', params)
  const missing = "500 corosync: link 1 exists in cluster config but wasn't specified for new node"
  const unknown = "500 corosync: link 2 specified for new node doesn't exist in cluster config"
  assert.equal(await add({ link0: '10.0.0.2', apiversion: '1' }), missing)
  assert.equal(await add({ link0: '10.0.0.2', link1: '10.1.0.2', link2: '10.2.0.2' }), unknown)
  assert.equal(await add({ link0: '10.0.0.2' }), '500 cluster has 2 links, but only 1 given')
  assert.equal(
    await add({ new_node_ip: '10.0.0.2' }),
    '500 no links given but multiple links found on other nodes, fallback only supported on single-link clusters',
  )
  const used = "500 corosync: address '10.1.0.1' already used on link ring1_addr by node 'pve1'"
  assert.equal(await add({ link0: '10.0.0.2', link1: '10.1.0.1' }), used)
  assert.equal(await add({ link0: '10.0.0.2', link1: '10.1.0.2' }), 'done')
  const nodes = await client.data<Record<string, unknown>[]>('GET', '/cluster/config/nodes')
  assert.deepEqual(nodes, [
    { name: 'pve1', node: 'pve1', nodeid: '7', quorum_votes: '2', ring0_addr: '10.0.0.1', ring1_addr: '10.1.0.1' },
    { name: 'pve2', node: 'pve2', nodeid: '1', quorum_votes: '1', ring0_addr: '10.0.0.2', ring1_addr: '10.1.0.2' },
  ])
  const info = await client.data<Record<string, unknown>>('GET', '/cluster/config/join?node=pve2')
  assert.equal(info.preferred_node, 'pve2')
  assert.match(String(info.config_digest), /^[0-9a-f]{40}$/)
  assert.equal((await client.call('GET', '/cluster/config/join?node=pve9')).reason, "unknown node 'pve9'")
})

const JOIN = {
  hostname: '10.0.0.9',
  password: 'secret',
  fingerprint: Array.from({ length: 32 }, () => 'AA').join(':'),
}

test('[T-08] a host with guests joins no cluster, and one without finds none', async () => {
  const client = createTestClient({ preset: 'recording' })
  const ask = await asRoot(client)
  const nobody = "500 Can't connect to 10.0.0.9:8006 (Connection refused)"
  assert.equal(await ask('POST', '/cluster/config/join', JOIN), nobody)
  await client.task('POST', '/nodes/pve1/qemu', { vmid: '100' })
  assert.equal(await ask('POST', '/cluster/config/join', JOIN), 'Check if node may join a cluster failed!')
  assert.equal(await ask('POST', '/cluster/config/join', { ...JOIN, force: '1' }), nobody)
})

test('[T-08] what keeps a host from joining is listed in the task', async () => {
  const client = createTestClient({ preset: 'recording' })
  const ask = await asRoot(client)
  assert.equal(
    await ask('POST', '/cluster/config/join', { ...JOIN, link0: '10.9.9.9' }),
    'Check if node may join a cluster failed!',
  )
  assert.equal(await ask('POST', '/cluster/config', { clustername: 'home' }), 'OK')
  await ask('POST', '/cluster/config/join', JOIN)
  const logs = client.datacentre.world.hosts
    .get('pve1')
    ?.tasks.filter(({ type }) => type === 'clusterjoin')
    .map(({ log }) => log.slice(1, 4))
  assert.deepEqual(
    logs?.flat().filter((line) => line.startsWith('* ')),
    [
      "* link0: cannot use IP '10.9.9.9', not found on local node!",
      "* authentication key '/etc/corosync/authkey' already exists",
      "* cluster config '/etc/pve/corosync.conf' already exists",
      '* corosync is already running, is this node already in a cluster?!',
    ],
  )
})

test('[T-08] a guest that goes to another cluster is judged here first', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, { vmid: '900', scsi0: 'local-zfs:1' })
  const params = {
    'target-endpoint': 'host=10.0.0.9,apitoken=PVEAPIToken=a@pve!t=x',
    'target-storage': 'local',
    'target-bridge': 'vmbr0',
  }
  const away = async (vmid: number) => {
    const { status, reason, body } = await client.call('POST', `${HOST}/qemu/${vmid}/remote_migrate`, params)
    const { errors } = JSON.parse(body) as { errors?: unknown }
    return errors ?? `${status} ${reason}`
  }
  assert.equal(await away(900), "500 500 Can't connect to 10.0.0.9:8006 (Connection refused)")
  assert.equal(await away(901), "500 Configuration file 'nodes/fun-bedbug/qemu-server/901.conf' does not exist")
  await client.data('POST', '/cluster/ha/resources', { sid: 'vm:900', state: 'stopped' })
  assert.deepEqual(await away(900), { vmid: 'cannot remote-migrate VM that is configured for HA' })
})

test('[T-08] a tunnel that nobody comes through takes its empty guest with it', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, { vmid: '900' })
  const open = (vmid: string, params: Params = {}) => client.call('POST', `${HOST}/qemu/${vmid}/mtunnel`, params)
  const taken = "unable to create empty VM config - VM 900 already exists on node 'fun-bedbug'\n"
  assert.deepEqual(JSON.parse((await open('900')).body).errors, { vmid: taken })
  assert.equal((await open('901', { storages: 'nope' })).reason, "storage 'nope' does not exist")
  assert.equal((await open('901', { bridges: 'nope' })).reason, "bridge 'nope' does not exist")
  const { upid = '', socket } = JSON.parse((await open('901')).body).data as Record<string, string>
  assert.equal(socket, '/run/qemu-server/901.mtunnel')
  assert.equal((await client.data<Record<string, string>>('GET', `${HOST}/qemu/901/config`)).lock, 'create')
  const query = `socket=${encodeURIComponent(socket ?? '')}&ticket=x`
  const answer = await client.call('GET', `${HOST}/qemu/901/mtunnelwebsocket?${query}`)
  assert.deepEqual([answer.status, answer.reason], [401, 'permission denied - invalid PVETUNNEL ticket'])
  assert.equal(await exitOf(client, upid), 'Exiting mtunnel')
  assert.equal((await client.call('GET', `${HOST}/qemu/901/config`)).status, 500)
})

test('[T-08] the helper for connections is of a guest that runs here', async () => {
  const client = createTestClient()
  await client.task('POST', `${HOST}/qemu`, { vmid: '900' })
  const helper = () => client.call('POST', `${HOST}/qemu/900/dbus-vmstate`, { action: 'start' })
  const elsewhere = { node: "VM 900 not running locally on node 'fun-bedbug'" }
  assert.deepEqual(JSON.parse((await helper()).body).errors, elsewhere)
  assert.equal(await client.task('POST', `${HOST}/qemu/900/status/start`), 'OK')
  assert.equal((await helper()).status, 200)
})
