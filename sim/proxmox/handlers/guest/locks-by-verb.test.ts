import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestClient, exitOf, HOST, type TestClient, WEB } from '../../../test-client.ts'
import { withConfigLock } from './config-lock.ts'

/**
 * What each verb is told while something else works on the guest, as the real code has it: by the mark in the
 * configuration (a backup), and by the lock file (a copy or a move of a disk holds it for the whole time).
 */

type Params = Readonly<Record<string, string>>
/**
 * refused: an error at once. in task: taken, and the task ends with the refusal. late: an error after ten seconds. late in
 * task: the task ends so. passes: taken, and it goes well. Anything else is the text of an error at once.
 */
type Told = 'refused' | 'in task' | 'late' | 'late in task' | 'passes' | (string & {})
/** While a mark is there and it is stopped, the same while it runs, and while it runs and the lock file is held. */
type Row = readonly [verb: string, path: string, params: Params, stopped: Told, running: Told, held: Told]

const OFF = 'VM 114 not running'
const MISMATCH = 'checksum mismatch (file change by other user?)'
const MOVED: Params = { target: 'still-fawn', restart: '1' }
const RUNS = 'VM 114 is running - destroy failed'
const VM_ROWS: readonly Row[] = [
  ['PUT', '/config', { cores: '2' }, 'refused', 'refused', 'late'],
  ['PUT', '/config', { cores: '2', digest: 'a'.repeat(40) }, MISMATCH, MISMATCH, MISMATCH],
  ['POST', '/config', { cores: '2' }, 'refused', 'refused', 'late in task'],
  ['PUT', '/unlink', { idlist: 'unused0' }, 'refused', 'refused', 'late'],
  ['PUT', '/cloudinit', {}, 'refused', 'refused', 'late'],
  ['PUT', '/resize', { disk: 'scsi0', size: '+1G' }, 'in task', 'in task', 'late in task'],
  ['POST', '/move_disk', { disk: 'scsi0', storage: 'local' }, 'refused', 'refused', 'late in task'],
  ['GET', '/migrate', {}, 'refused', 'refused', 'passes'],
  ['POST', '/migrate', { target: 'still-fawn', online: '1' }, 'refused', 'refused', 'task: migration aborted'],
  ['POST', '/snapshot', { snapname: 'two' }, 'in task', 'in task', 'late in task'],
  ['PUT', '/snapshot/one/config', { description: 'x' }, 'refused', 'refused', 'late'],
  ['PUT', '/snapshot/one/config', {}, 'passes', 'passes', 'passes'],
  ['POST', '/snapshot/one/rollback', {}, 'in task', 'in task', 'late in task'],
  ['DELETE', '/snapshot/one', {}, 'in task', 'in task', 'late in task'],
  ['POST', '/template', {}, 'refused', 'refused', 'unable to create template, because VM contains snapshots'],
  ['POST', '/status/start', {}, 'in task', 'passes', 'late in task'],
  ['POST', '/status/stop', {}, 'passes', 'in task', 'late in task'],
  ['POST', '/status/shutdown', {}, 'passes', 'in task', 'late in task'],
  ['POST', '/status/reboot', {}, OFF, 'in task', 'late in task'],
  ['POST', '/status/reset', {}, OFF, 'in task', 'late in task'],
  ['POST', '/status/suspend', {}, OFF, 'passes', 'late in task'],
  ['POST', '/status/resume', {}, OFF, 'passes', 'late in task'],
  ['DELETE', '', {}, 'in task', RUNS, RUNS],
]

const CT_ROWS: readonly Row[] = [
  ['PUT', '/config', { cores: '2' }, 'refused', 'refused', 'late'],
  ['PUT', '/config', { cores: '2', digest: 'a'.repeat(40) }, 'refused', 'refused', 'late'],
  ['PUT', '/resize', { disk: 'rootfs', size: '+1G' }, 'refused', 'refused', 'late in task'],
  ['POST', '/move_volume', { volume: 'rootfs', storage: 'local' }, 'refused', 'refused', 'late'],
  ['GET', '/migrate', {}, 'refused', 'refused', 'passes'],
  ['POST', '/migrate', MOVED, 'task: migration aborted', 'task: migration aborted', 'task: migration aborted'],
  ['POST', '/snapshot', { snapname: 'two' }, 'in task', 'in task', 'late in task'],
  ['PUT', '/snapshot/one/config', { description: 'x' }, 'refused', 'refused', 'late'],
  ['POST', '/snapshot/one/rollback', {}, 'in task', 'in task', 'late in task'],
  ['DELETE', '/snapshot/one', {}, 'in task', 'in task', 'late in task'],
  ['POST', '/template', {}, 'refused', 'refused', 'late'],
  ['POST', '/status/start', {}, 'in task', 'CT 140 already running', 'CT 140 already running'],
  ['POST', '/status/stop', {}, 'CT 140 not running', 'in task', 'late in task'],
  ['POST', '/status/shutdown', {}, 'CT 140 not running', 'in task', 'late in task'],
  ['POST', '/status/suspend', {}, 'CT 140 not running', 'in task', 'late in task'],
  ['DELETE', '', {}, 'refused', 'refused', 'unable to destroy CT 140 - container is running'],
]

const KINDS = {
  VM: { at: `${HOST}/qemu/114`, vmid: 114, file: '/var/lock/qemu-server/lock-114.conf', rows: VM_ROWS },
  CT: { at: `${HOST}/lxc/140`, vmid: 140, file: '/run/lock/lxc/pve-config-140.lock', rows: CT_ROWS },
} as const

async function site(kind: 'VM' | 'CT', runs: boolean): Promise<TestClient> {
  const client = createTestClient({ timing: { importBytesPerSecond: 4e9, cloneBytesPerSecond: 1e6 } })
  if (kind === 'VM') assert.equal(await client.task('POST', `${HOST}/qemu`, { ...WEB, scsi0: 'local-zfs:1' }), 'OK')
  else {
    const name = 'vztmpl/debian-12-standard_12.7-1_amd64.tar.zst'
    const template = { name, content: 'vztmpl', format: 'tzst', sizeBytes: 617, ctimeSeconds: 1 } as const
    client.datacentre.world.hosts.get('fun-bedbug')?.volumes.get('local')?.set(name, template)
    const made = { vmid: '140', ostemplate: `local:${name}`, rootfs: 'local-zfs:4', hostname: 'box' }
    assert.equal(await client.task('POST', `${HOST}/lxc`, made), 'OK')
  }
  assert.equal(await client.task('POST', `${KINDS[kind].at}/snapshot`, { snapname: 'one' }), 'OK')
  if (runs) assert.equal(await client.task('POST', `${KINDS[kind].at}/status/start`), 'OK')
  return client
}

/** Holds the lock file without a lock in the configuration. */
function hold({ datacentre, clock }: TestClient, vmid: number): void {
  const host = datacentre.world.hosts.get('fun-bedbug') ?? assert.fail()
  void withConfigLock(datacentre.world, host, vmid, () => clock.sleep(3_600_000))
}

async function told(client: TestClient, kind: 'VM' | 'CT', row: Row): Promise<Told> {
  const { at, file } = KINDS[kind]
  const [verb, path, params] = row
  const late = `can't lock file '${file}' - got timeout`
  const refusal = `${kind} is locked (backup)`
  const begunMs = client.clock.now()
  const answer = await client.call(verb, `${at}${path}`, Object.keys(params).length === 0 ? undefined : params)
  const took = client.clock.now() - begunMs
  if (answer.status !== 200) {
    if (answer.reason === late) return took >= 10_000 ? 'late' : `${late}, too early`
    assert.ok(took < 1_000, `${answer.reason} after ${took} ms`)
    return answer.reason === refusal ? 'refused' : answer.reason
  }
  const { data } = JSON.parse(answer.body) as { data: unknown }
  if (typeof data !== 'string' || !data.startsWith('UPID:')) return 'passes'
  const exit = await exitOf(client, data)
  if (exit === 'OK') return 'passes'
  if (exit === late) return client.clock.now() - begunMs >= 10_000 ? 'late in task' : `${late}, too early`
  return exit === refusal ? 'in task' : `task: ${exit}`
}

for (const kind of ['VM', 'CT'] as const)
  for (const [at, state] of ['stopped and marked', 'running and marked', 'running, the file held'].entries())
    test(`[T-08] what each verb is told of a ${kind}: ${state}`, async () => {
      for (const row of KINDS[kind].rows) {
        const client = await site(kind, at > 0)
        if (at < 2) client.datacentre.patchGuest(KINDS[kind].vmid, { lock: 'backup' })
        else hold(client, KINDS[kind].vmid)
        assert.equal(await told(client, kind, row), row[at + 3], `${row[0]} ${row[1]} ${JSON.stringify(row[2])}`)
      }
    })

const VM = KINDS.VM.at
const WAITED = "can't lock file '/var/lock/pve-manager/pve-migrate-114' - got timeout"
const NO_LOCK = 'Failed to obtain guest migration lock - replication running?'

test('[T-08] a guest that moves is locked by its mark, by its file, and for whatever else would move it', async () => {
  const moving = async () => {
    const client = await site('VM', false)
    const upid = await client.data<string>('POST', `${VM}/migrate`, { target: 'still-fawn' })
    await client.pass(2_000)
    return { client, upid }
  }
  const cases: readonly (readonly [string, string, Params | undefined, string])[] = [
    ['POST', '/snapshot/one/rollback', undefined, WAITED],
    ['DELETE', '/snapshot/one', undefined, NO_LOCK],
    ['POST', '/status/start', undefined, "can't lock file '/var/lock/qemu-server/lock-114.conf' - got timeout"],
  ]
  for (const [verb, path, params, exit] of cases) {
    const { client } = await moving()
    assert.equal(await client.task(verb, `${VM}${path}`, params), exit, path)
  }
  const { client } = await moving()
  const begunMs = client.clock.now()
  assert.equal((await client.call('PUT', `${VM}/config`, { cores: '4' })).reason, 'VM is locked (migrate)')
  assert.equal((await client.call('POST', `${VM}/clone`, { newid: '150' })).reason, 'VM is locked (migrate)')
  assert.ok(client.clock.now() - begunMs < 1_000, 'what the configuration refuses does not wait for the file')
})

test('[T-08] a resume asks for the lock before it answers, and goes on without it', async () => {
  const client = await site('VM', false)
  hold(client, 114)
  const begunMs = client.clock.now()
  assert.equal((await client.call('POST', `${VM}/status/resume`)).reason, 'VM 114 not running')
  assert.ok(client.clock.now() - begunMs >= 10_000)
})
