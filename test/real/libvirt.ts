import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lookOverSsh, lookThroughAgent } from './guest.ts'
import { defineTheirs, startLibvirt, virsh } from './lab.ts'
import { type Declared, type GuestName, labManifests } from './manifests.ts'
import { croft, run, type Said } from './processes.ts'
import { startSshd } from './sshd.ts'

/*
 * The story of two guests on a real libvirtd with QEMU, told with the real binary over SSH. Runs inside the namespaces
 * that run.ts made: every process started here ends with it.
 */

const [scratch = '', cache = ''] = process.argv.slice(2)
const PORT = 2222
const APPLY_MS = 840_000
/** What this program ends with where libvirtd itself does not come up. */
const NO_LIBVIRT = 75
const NAMES: readonly GuestName[] = ['web-1', 'web-2']

const startedMs = Date.now()
const say = (text: string) =>
  process.stdout.write(`${String(Math.round((Date.now() - startedMs) / 1000)).padStart(4)} s  ${text}\n`)

const estate = join(scratch, 'estate')
const state = join(scratch, 'croft.db')
const key = join(scratch, 'key')
const env = { ...process.env, XDG_CACHE_HOME: cache, XDG_STATE_HOME: join(scratch, 'state'), HOME: scratch }

function declare(declared: Declared): void {
  mkdirSync(estate, { recursive: true })
  writeFileSync(join(estate, 'lab.yaml'), labManifests(declared))
}

const call = (words: readonly string[], show = false): Promise<Said> =>
  croft(words, { env, timeoutMs: APPLY_MS + 60_000, ...(show ? { onLine: (line: string) => say(`  ${line}`) } : {}) })

const onMachine = (words: readonly string[]) =>
  call(['machine', '--dir', estate, '--state', state, '--yes', '--timeout', '600s', ...words])

async function apply(): Promise<void> {
  const timeout = `${APPLY_MS / 1000}s`
  const words = ['apply', estate, '--state', state, '--yes', '--progress', 'plain', '--timeout', timeout]
  const said = await call(words, true)
  assert.equal(said.code, 0, said.stderr)
  const plan = await call(['plan', estate, '--state', state])
  assert.equal(plan.code, 0, `there is still something to do: ${plan.stdout}${plan.stderr}`)
}

const images = () => call(['image', 'build', 'debian', '--dir', estate])
const volumes = () => virsh('vol-list', '--pool', 'croft-real')
/** The definition without what the moment decides. */
const definition = (name: string) => virsh('dumpxml', '--inactive', name)

async function tell(): Promise<void> {
  defineTheirs(scratch)
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  const sshd = await startSshd({ directory: scratch, name: 'first', port: PORT, letsIn: `${key}.pub`, hidden: cache })
  const sshKey = readFileSync(`${key}.pub`, 'utf8').trim()
  const lab: Declared = {
    port: PORT,
    hostKey: sshd.hostKey,
    keyFile: key,
    sshKey,
    poolPath: join(scratch, 'pool'),
    mtu: 1500,
    memory: '512Mi',
    machines: NAMES,
  }
  const theirs = definition('theirs')
  say('libvirtd and sshd are up')

  declare({ ...lab, machines: undefined })
  await apply()
  assert.match(virsh('net-info', 'croft-real'), /Active:\s+yes[\s\S]*Autostart:\s+yes/)
  assert.match(virsh('pool-info', 'croft-real'), /State:\s+running[\s\S]*Autostart:\s+yes/)
  say('pool and network are made')
  declare(lab)

  const copied = await images()
  assert.match(copied.stdout, /croft-real:debian\.qcow2 copied/, copied.stderr)
  const again = await images()
  assert.match(again.stdout, /croft-real:debian\.qcow2 was there/, again.stderr)
  say('the image came to its pool over SSH, and does not come twice')

  await apply()
  say('made and Ready')
  const first = await Promise.all(NAMES.map((name) => lookOverSsh(scratch, key, name, onMachine)))
  assert.deepEqual(
    first.map(({ uefi }) => uefi),
    [false, true],
  )
  assert.equal(new Set(first.map(({ machineId }) => machineId)).size, 2, '[A17] no two have the same machine-id')
  for (const name of NAMES) await lookThroughAgent(scratch, name, onMachine)
  say('checked over SSH and through the agent')
  assert.ok(!volumes().includes('-seed-'), 'the seeds were taken away')
  const backed = NAMES.map((name) => /<backingStore type='file'/.test(virsh('dumpxml', name)))
  assert.deepEqual(backed, [true, false], 'one stands on its image, the other is a copy')
  for (const name of NAMES) assert.match(virsh('dominfo', name), /Autostart:\s+enable/)
  const made = NAMES.map(definition)

  assert.match((await onMachine(['console', 'web-1'])).stdout, /^ssh -t -p 2222 root@127\.0\.0\.1 virsh .* console /)
  assert.equal((await onMachine(['snapshot', 'web-1', 'before'])).code, 0)
  assert.match((await onMachine(['snapshots', 'web-1'])).stdout, /^before {2}\d{4}-.* {2}current$/m)
  assert.equal((await onMachine(['drop-snapshot', 'web-1', 'before'])).code, 0)
  assert.equal((await onMachine(['snapshots', 'web-1'])).stdout, '')
  say('a snapshot was taken, shown and dropped')

  declare({ ...lab, memory: '640Mi', machines: ['web-1'] })
  await apply()
  const second = await lookOverSsh(scratch, key, 'web-1', onMachine)
  assert.notEqual(second.bootId, first[0]?.bootId)
  assert.equal(second.machineId, first[0]?.machineId)
  assert.ok(second.memoryKb > (first[0]?.memoryKb ?? Number.POSITIVE_INFINITY))
  say('changed, restarted, the same machine with more memory; the other one is gone')

  declare({ ...lab, machines: [], mtu: 1400 })
  await apply()
  assert.match(virsh('net-dumpxml', 'croft-real'), /<mtu size='1400'\/>/)
  assert.equal(virsh('list', '--all', '--name').trim(), 'theirs')
  assert.doesNotMatch(volumes(), /croft-[0-9a-f]{16}-/)
  say('destroyed, nothing left; the empty network was changed')

  declare({ ...lab, machines: ['web-1'] })
  await apply()
  assert.match(virsh('net-dumpxml', 'croft-real'), /<mtu size='1500'\/>/)
  assert.equal(definition('web-1'), made[0])
  const third = await lookOverSsh(scratch, key, 'web-1', onMachine)
  // systemd takes its id from the machine's UUID, and that follows from the declaration.
  assert.equal(third.machineId, first[0]?.machineId)
  assert.notEqual(third.bootId, first[0]?.bootId)
  assert.equal(definition('theirs'), theirs)
  say('made again, identical')

  await sshd.stop()
  const impostor = await startSshd({
    directory: scratch,
    name: 'other',
    port: PORT,
    letsIn: `${key}.pub`,
    hidden: cache,
  })
  const refused = await call(['plan', estate, '--state', state])
  assert.equal(refused.code, 4, '[S-05] a host with another key is not spoken to')
  assert.match(`${refused.stdout}${refused.stderr}`, /host key/i)
  assert.doesNotMatch(impostor.log(), /Accepted|publickey/, 'nothing was shown to it, not even a key')
  say('[S-05] another host key is refused before anything is said')
}

try {
  if (!(await startLibvirt(scratch))) process.exit(NO_LIBVIRT)
  await tell()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  for (const name of NAMES) {
    const log = `/var/log/libvirt/qemu/${name}.log`
    if (existsSync(log)) process.stderr.write(readFileSync(log, 'utf8').slice(-2000))
  }
  process.exit(1)
}
process.exit(0)
