import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, HOST } from '../../../test-client.ts'
import { askForTicket } from '../../../testing/ask-for-ticket.ts'

/** What PVE::API2::APT, ::ACMEAccount and ::Nodes (appliances) say. */

test('versions: every package of a host, the two that matter first', async () => {
  const client = createTestClient({ preset: 'recording' })
  const rows = await client.data<Record<string, string>[]>('GET', '/nodes/pve1/apt/versions')
  const { version, repoid } = await client.data<{ version: string; repoid: string }>('GET', '/version')
  const status = await client.data<{ 'current-kernel': { release: string } }>('GET', '/nodes/pve1/status')
  assert.deepEqual(
    rows.slice(0, 2).map(({ Package }) => Package),
    ['proxmox-ve', 'pve-manager'],
  )
  assert.equal(rows[0]?.RunningKernel, status['current-kernel'].release)
  assert.equal(rows[1]?.ManagerVersion, `${version}/${repoid}`)
  const names = rows
    .map(({ Package }) => Package ?? '')
    .filter((name) => !/^(proxmox-(ve|kernel-6.*)|pve-manager)$/.test(name))
  assert.deepEqual(names, [...names].sort())
  assert.ok(
    rows.every(({ CurrentState, Version, OldVersion }) => CurrentState === 'Installed' && Version === OldVersion),
  )
  const log = await client.data<string>('GET', '/nodes/pve1/apt/changelog?name=swtpm')
  assert.match(log, /^swtpm /)
})

test('ACME: what can be challenged, and what an account leaves in its log', async () => {
  const client = createTestClient({ preset: 'recording' })
  const kinds = await client.data<Record<string, unknown>[]>('GET', '/cluster/acme/challenge-schema')
  assert.ok(kinds.length > 100)
  assert.deepEqual(kinds.at(-1), { id: 'standalone', name: 'standalone', type: 'standalone', schema: {} })
  assert.deepEqual(kinds[0], { id: '1984hosting', name: '1984hosting', type: 'dns', schema: {} })
  const log = async (upid: string) => {
    await client.pass(60_000)
    return (await client.data<{ t: string }[]>('GET', `/nodes/pve1/tasks/${upid}/log`)).map(({ t }) => t)
  }
  const root = await askForTicket(client, { username: 'root@pam', password: 'rootpw123' })
  const asRoot = async (method: string, path: string, params: Readonly<Record<string, string>>) => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: `PVEAuthCookie=${encodeURIComponent(root.ticket)}`,
      csrfpreventiontoken: root.CSRFPreventionToken,
    }
    const body = new URLSearchParams(params).toString()
    const request = { method, path: `/api2/json/cluster/acme/account${path}`, headers, body }
    return JSON.parse((await client.clock.runUntil(client.datacentre.handle(request))).body).data as string
  }
  const made = await asRoot('POST', '', { name: 'acc', contact: 'a@b.de' })
  assert.deepEqual((await log(made)).slice(0, 2), ['Generating ACME account key..', 'Registering ACME account..'])
  const gone = await asRoot('DELETE', '/acc', {})
  assert.equal(
    (await log(gone))[0],
    "Renaming account file from '/etc/pve/priv/acme/acc' to '/etc/pve/priv/acme/_deactivated_acc_0'",
  )
  assert.deepEqual(await client.data('GET', '/cluster/acme/account'), [])
})

test('templates of containers: offered once a daemon has fetched the list, and fetched into a storage that takes them', async () => {
  assert.deepEqual(await createTestClient({ preset: 'recording' }).data('GET', '/nodes/pve1/aplinfo'), [])
  const client = createTestClient()
  const offered = await client.data<Record<string, string>[]>('GET', `${HOST}/aplinfo`)
  const template = offered.find(({ os }) => os === 'debian-13')?.template ?? ''
  assert.match(template, /^debian-13-standard_.*_amd64\.tar\.zst$/)
  const reason = async (storage: string, name: string) =>
    (await client.call('POST', `${HOST}/aplinfo`, { storage, template: name })).reason
  assert.equal(await reason('local', 'none'), 'Parameter verification failed.')
  assert.equal(await reason('nowhere', template), "storage 'nowhere' does not exist")
  assert.equal(await reason('local-zfs', template), "storage 'local-zfs' does not support templates")
  assert.equal(await client.task('POST', `${HOST}/aplinfo`, { storage: 'local', template }), 'OK')
  const volumes = await client.data<{ volid: string }[]>('GET', `${HOST}/storage/local/content?content=vztmpl`)
  assert.ok(volumes.some(({ volid }) => volid === `local:vztmpl/${template}`))
  assert.equal(await client.task('POST', `${HOST}/aplinfo`, { storage: 'local', template }), 'OK', 'it is there')
})

test('repositories: what cannot be read is refused first, and a switch stays in its place', async () => {
  const client = createTestClient({ preset: 'recording' })
  const at = '/nodes/pve1/apt/repositories'
  const [path, index] = ['/etc/apt/sources.list.d/pve-enterprise.sources', '0']
  const answer = await client.call('POST', at, { path: '/nope', index: '-1', digest: 'abc' })
  assert.equal(answer.reason, 'error: invalid value: integer `-1`, expected usize')
  interface Read {
    readonly files: {
      readonly path: string
      readonly repositories: { readonly Options: { Key: string; Values: string[] }[] }[]
    }[]
  }
  const options = async () => {
    const { files } = await client.data<Read>('GET', at)
    return files
      .find((file) => file.path === path)
      ?.repositories[0]?.Options.map(({ Key, Values }) => `${Key}=${Values.join()}`)
  }
  await client.data('POST', at, { path, index, enabled: '0' })
  const first = await options()
  await client.data('POST', at, { path, index, enabled: '1' })
  assert.deepEqual(
    await options(),
    first?.map((option) => option.replace('Enabled=false', 'Enabled=true')),
  )
  assert.equal(first?.at(-1), 'Enabled=false')
})
