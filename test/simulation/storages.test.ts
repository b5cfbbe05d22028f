import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estateFrom } from './manifests.ts'
import { quietFor } from './oracle.ts'
import { simulate, storedText } from './run.ts'

const own = (kind: string, name: string, spec: string) => `---
apiVersion: croft.dev/v1alpha1
kind: ${kind}
metadata: {name: ${name}}
spec: ${spec}
`
const CONNECTION = own('Proxmox', 'default', '{endpoint: "https://127.0.0.1:8006", token: {env: PROXMOX_TOKEN}}')
const TANK = own(
  'ProxmoxZfsPool',
  'tank',
  '{host: still-fawn, raid: mirror, devices: [/dev/sdb, /dev/sdc], addStorage: true}',
)

test('[A27] a ZFS pool is created by the API and registered as storage; a second apply is a no-op', async () => {
  const run = simulate({ seed: 27, estate: estateFrom({ 'a.yaml': CONNECTION + TANK }) })
  assert.equal(await run.untilSettled(run.start()), 'settled')
  assert.equal(run.datacentre.world.storages.get('tank')?.type, 'zfspool')
  await quietFor(run, 5, 'tank')
})

test('[A27] [R33] a pool that is there but exported is reported: import needed (SSH lane)', async () => {
  const run = simulate({ seed: 27, estate: estateFrom({ 'a.yaml': CONNECTION + TANK }) })
  run.datacentre.world.shelves.set(
    'zfs-exported/still-fawn',
    new Map([['tank', { devices: ['/dev/sdb', '/dev/sdc'] }]]),
  )
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const record = run.disk.records.get('ProxmoxZfsPool/tank')
  assert.match(record?.failure?.message ?? '', /import needed \(SSH lane\): run zpool import on still-fawn/)
  assert.ok(record?.conditions.some(({ type, status }) => type === 'Stalled' && status === 'True'))
  assert.equal(run.datacentre.world.storages.has('tank'), false)
})

test('[A28] a PBS entry is made with fingerprint and namespace, and its password is a reference only', async () => {
  const fingerprint = Array.from({ length: 32 }, () => 'AB').join(':')
  const pbs = own(
    'ProxmoxStorage',
    'backups',
    `{type: pbs, disabled: true, server: 192.168.4.9, datastore: homelab, namespace: cellar, username: croft@pbs!one, fingerprint: "${fingerprint}", password: {env: PBS_PASSWORD}, content: [backup]}`,
  )
  const run = simulate({ seed: 28, estate: estateFrom({ 'a.yaml': CONNECTION + pbs }) })
  assert.deepEqual(
    run.estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  assert.equal(await run.untilSettled(run.start()), 'settled')
  const options = run.datacentre.world.storages.get('backups')?.options
  assert.deepEqual([options?.namespace, options?.fingerprint], ['cellar', fingerprint])
  // In this simulation every secret is the token.
  assert.ok(!storedText(run.disk).includes(run.datacentre.token))
  await quietFor(run, 3, 'pbs')
})
