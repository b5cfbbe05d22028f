import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createTestClient, exitOf, HOST, WEB } from '../../../sim/test-client.ts'
import { simWire } from '../../../sim/wire.ts'
import { seededRandom } from '../../lib/random.ts'
import { Secret } from '../../model/secret.ts'
import { openSession } from './session.ts'
import { EXAMPLE_CONNECTION } from './testing/vm-example.ts'

it('the host tells which user did what to a guest, long after the list of the cluster has moved on', async () => {
  const client = createTestClient()
  const { clock, datacentre } = client
  const sinceMs = clock.now()
  await client.task('POST', `${HOST}/qemu`, WEB)
  await client.data('POST', '/access/users', { userid: 'alice@pve' })
  const { value } = await client.data<{ value: string }>('POST', '/access/users/alice@pve/token/web', { privsep: '0' })
  await client.data('PUT', '/access/acl', { path: '/vms', roles: 'PVEVMAdmin', users: 'alice@pve' })
  const answer = await clock.runUntil(
    datacentre.handle({
      method: 'POST',
      path: `/api2/json${HOST}/qemu/114/config`,
      headers: {
        authorization: `PVEAPIToken=alice@pve!web=${value}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: 'memory=4096',
    }),
  )
  await exitOf(client, (JSON.parse(answer.body) as { data: string }).data)
  for (let vmid = 200; vmid < 230; vmid++) await client.task('POST', `${HOST}/qemu`, { vmid: `${vmid}` })

  const session = openSession(EXAMPLE_CONNECTION, {
    clock,
    random: seededRandom(1),
    openWire: () => simWire(datacentre),
    resolveSecret: () => Promise.resolve(new Secret(datacentre.token)),
  })
  const signal = new AbortController().signal
  const observed = { connection: 'default', type: 'vm', externalId: '114', host: 'fun-bedbug' } as const
  const survey = await clock.runUntil(session.survey(signal))
  assert.ok(!survey.tasks.some(({ subject }) => subject === '114'))
  const tasks = await clock.runUntil(session.hosts?.recentTasks(observed, sinceMs, signal) ?? Promise.resolve([]))
  assert.deepEqual(
    tasks.map(({ verb, user, subject }) => [verb, user, subject]),
    [
      ['qmconfig', 'alice@pve!web', '114'],
      ['qmcreate', 'root@pam!croft', '114'],
    ],
  )
})
