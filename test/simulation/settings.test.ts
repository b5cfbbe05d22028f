import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom } from './manifests.ts'
import { simulate, storedText } from './run.ts'

const CONNECTION = `apiVersion: croft.dev/v1alpha1
kind: Proxmox
metadata: {name: default}
spec: {endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}}
`

const own = (kind: string, name: string, spec: string) =>
  `apiVersion: croft.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`

/** Settings that the simulator serves whole, in our words and the provider's. */
const SETTINGS: Readonly<Record<string, string>> = {
  'pool.yaml': own('ProxmoxPool', 'web', '{comment: Web}'),
  'role.yaml': own('ProxmoxRole', 'keeper', '{id: Keeper, privileges: [VM.PowerMgmt, VM.Audit]}'),
  'storage.yaml': own('ProxmoxStorage', 'scratch', '{type: dir, path: /srv/scratch, content: [iso, images]}'),
  'bridge.yaml': own('ProxmoxBridge', 'vmbr7', '{host: still-fawn, address: 10.7.0.1/24, autostart: true}'),
  'bridge2.yaml': own('ProxmoxBridge', 'vmbr8', '{host: still-fawn, address: 10.8.0.1/24, autostart: true}'),
  'firewall.yaml': own('ProxmoxClusterFirewall', 'cluster', '{enabled: true, inputPolicy: DROP}'),
  'theirs.yaml':
    'apiVersion: virtualenvironmentpool.crossplane.io/v1alpha1\nkind: EnvironmentPool\nmetadata: {name: theirs}\nspec: {forProvider: {poolId: theirs, comment: c}}\n',
}

const estate = (files: Readonly<Record<string, string>>) => estateFrom({ 'connection.yaml': CONNECTION, ...files })

test('settings are made, stay, and go with their declarations; what was there before stays', async () => {
  const run = simulate({ seed: 3, estate: estate(SETTINGS) })
  assert.deepEqual(
    run.estate.problems.filter(({ severity }) => severity === 'error'),
    [],
  )
  const process = run.start()
  assert.equal(await run.untilSettled(process), 'settled')
  assert.equal(run.datacentre.world.pools.get('web')?.comment, 'Web')
  assert.ok(run.datacentre.world.hosts.get('still-fawn')?.interfaces.has('vmbr7'), 'written and put in force')
  assert.equal(run.datacentre.world.hosts.get('still-fawn')?.newInterfaces, undefined, 'nothing waits')
  const reloads = run.requests.filter((request) => / PUT \/api2\/json\/nodes\/still-fawn\/network /.test(request))
  assert.equal(reloads.length, 1, 'two bridges are put in force together')

  const writes = run.datacentre.writes.length
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.writes.length, writes, 'a settled estate is not written to')

  const { 'pool.yaml': _pool, 'storage.yaml': _storage, 'firewall.yaml': _firewall, ...rest } = SETTINGS
  run.estate = estate(rest)
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.world.pools.has('web'), false)
  assert.equal(run.datacentre.world.storages.has('scratch'), false)
  assert.ok(run.datacentre.world.storages.has('local'), 'not ours')
  assert.ok(run.datacentre.world.pools.has('theirs'))
})

test('a setting that was there before us is kept as declared and never deleted', async () => {
  const run = simulate({ seed: 4, estate: estate({ 'pool.yaml': SETTINGS['pool.yaml'] ?? '' }) })
  run.datacentre.world.pools.set('web', { id: 'web', comment: 'by hand', guests: new Set(), storages: new Set() })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.world.pools.get('web')?.comment, 'Web')
  run.estate = estate({})
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.ok(run.datacentre.world.pools.has('web'))
})

test('[F-01] a controller that dies at any point makes each setting once', async () => {
  const points = simulate({ seed: 5, estate: estate(SETTINGS) })
  const whole = points.start()
  await points.untilSettled(whole)
  const expected = points.datacentre.writes.length
  for (let crashAt = 1; crashAt <= whole.points(); crashAt += 3) {
    const run = simulate({ seed: 5, estate: estate(SETTINGS) })
    assert.equal(await run.untilSettled(run.start({ crashAt })), 'killed')
    assert.equal(await run.untilSettled(run.start()), 'settled')
    assert.ok(run.datacentre.writes.length <= expected + 1, `${crashAt}: ${run.datacentre.writes.length}`)
    assert.ok(!storedText(run.disk).includes(run.datacentre.token.split('=')[1] ?? '!'))
  }
})

test('a setting that is always there waits for what its new value names', async () => {
  const files = {
    'set.yaml': own('ProxmoxFirewallIpSet', 'admins', '{entries: [{cidr: 10.0.0.0/24}]}'),
    'rules.yaml': own('ProxmoxFirewallRules', 'all', '{rules: [{action: ACCEPT, macro: SSH, source: +admins}]}'),
  }
  for (let seed = 1; seed <= 12; seed++) {
    const run = simulate({ seed, estate: estate(files) })
    assert.equal(await run.untilSettled(run.start()), 'settled')
    const refused = run.disk.events.filter(({ type }) => type === 'Warning').map(({ message }) => message)
    assert.deepEqual(refused, [], `seed ${seed}`)
  }
})
