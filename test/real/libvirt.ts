import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { libvirtDriver } from '../../src/drivers/libvirt/driver.ts'
import { createEngine } from '../../src/engine/create.ts'
import { distributeImage } from '../../src/images/distribute.ts'
import { findKind } from '../../src/kinds/registry.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Estate } from '../../src/model/estate.ts'
import { Secret } from '../../src/model/secret.ts'
import type { Sighting } from '../../src/model/sighting.ts'
import { link } from '../../src/plan/link.ts'
import { readTree } from '../../src/source/read-tree.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { localShell } from './image.ts'
import { manifests } from './manifests.ts'

/** Runs inside the namespaces that run.ts made: whatever is started here ends with it. */

const [scratch = '', imagePath = '', sha256 = '', bytes = '0'] = process.argv.slice(2)
const URI = 'qemu:///system'
const GUEST = '192.168.231.10'
const startedMs = Date.now()
const never = new AbortController().signal
const say = (text: string) =>
  process.stdout.write(`${String(Math.round((Date.now() - startedMs) / 1000)).padStart(4)} s  ${text}\n`)

function run(command: string, ...args: readonly string[]): string {
  const ran = spawnSync(command, args, { encoding: 'utf8', timeout: 120_000 })
  assert.equal(ran.status, 0, `${command} ${args.join(' ')}: ${ran.stderr}${ran.error?.message ?? ''}`)
  return ran.stdout
}

const virsh = (...words: readonly string[]) => run('virsh', '-c', URI, ...words)

async function startLibvirt(): Promise<void> {
  // Its own state, configuration and sockets: a libvirtd of this computer is neither seen nor disturbed.
  cpSync('/etc/libvirt', join(scratch, 'etc'), { recursive: true })
  for (const place of ['/run/libvirt', '/var/lib/libvirt', '/var/log/libvirt', '/var/cache/libvirt']) {
    mkdirSync(place, { recursive: true })
    run('mount', '-t', 'tmpfs', '-o', 'mode=0755', 'tmpfs', place)
  }
  run('mount', '--bind', join(scratch, 'etc'), '/etc/libvirt')
  for (const place of [
    '/var/lib/libvirt/dnsmasq',
    '/var/lib/libvirt/qemu',
    '/var/log/libvirt/qemu',
    '/var/cache/libvirt/qemu',
    '/run/libvirt/qemu',
  ])
    mkdirSync(place, { recursive: true })
  // No confinement: there is none to be had in a container, and it is not what is tried here.
  writeFileSync(
    '/etc/libvirt/qemu.conf',
    'security_driver = "none"\nuser = "root"\ngroup = "root"\nremember_owner = 0\n',
  )
  // Where it is there and does not work, even asking what it can do hangs. Here everything is emulated.
  if (existsSync('/dev/kvm')) run('mount', '--bind', '/dev/null', '/dev/kvm')
  run('ip', 'link', 'set', 'lo', 'up')
  // Its own place also for the file that says it runs: another libvirtd of this computer has the usual one.
  for (const daemon of ['virtlogd', 'libvirtd'])
    spawn(daemon, ['-p', `/run/libvirt/${daemon}.pid`], {
      stdio: ['ignore', 'ignore', 'ignore'],
      detached: false,
    }).unref()
  for (let tries = 0; tries < 60; tries++) {
    // The first question about QEMU makes libvirt try it out, which takes its time.
    if (spawnSync('virsh', ['-c', URI, 'capabilities'], { timeout: 180_000 }).status === 0) return
    await pause(500)
  }
  // This computer cannot: nothing of ours has been tried yet.
  process.exit(75)
}

function preparePlaces(): void {
  const pool = join(scratch, 'pool')
  mkdirSync(pool)
  chmodSync(scratch, 0o755)
  virsh('pool-define-as', 'croft-real', 'dir', '--target', pool)
  virsh('pool-start', 'croft-real')
  const network = join(scratch, 'network.xml')
  writeFileSync(
    network,
    "<network><name>croft-real</name><bridge name='croftreal0'/><dns enable='no'/><ip address='192.168.231.1' netmask='255.255.255.0'/></network>",
  )
  virsh('net-define', network)
  virsh('net-start', 'croft-real')
}

const key = join(scratch, 'key')

/** Ready says that the agent answers; the SSH server may need a moment more. */
async function once(command: string): Promise<string> {
  for (let tries = 0; tries < 12; tries++) {
    try {
      return ssh(command)
    } catch {
      await pause(5_000)
    }
  }
  return ssh(command)
}

function ssh(command: string): string {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'ConnectTimeout=20',
    'LogLevel=ERROR',
  ]
  return run('ssh', '-i', key, ...options.flatMap((option) => ['-o', option]), `ops@${GUEST}`, command)
}

async function declared(memory: string, machine = true): Promise<Estate> {
  const directory = join(scratch, 'estate')
  mkdirSync(directory, { recursive: true })
  writeFileSync(
    join(directory, 'lab.yaml'),
    manifests(readFileSync(`${key}.pub`, 'utf8').trim(), sha256, memory, machine),
  )
  const revision = await readTree(directory)
  const estate = link(revision, { findKind, problemAt: revision.problemAt })
  assert.deepEqual(
    estate.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
    [],
  )
  return estate
}

const shell = localShell()
/** What one controller remembers, the next one finds. */
const { disk } = createMemoryStore()
const deps = {
  clock: systemClock,
  random: { next: () => Math.random() },
  openWire: () => assert.fail('libvirt needs no wire'),
  // One for each: whoever opened it also closes it.
  openShell: () => localShell(),
  resolveSecret: () => Promise.resolve(new Secret('unused')),
}

async function settle(estate: Estate): Promise<void> {
  const engine = createEngine({ ...deps, store: createMemoryStore(disk), drivers: [libvirtDriver], driverDeps: deps })
  let last = ''
  const { outcome, last: report } = await engine.settle(estate, {
    signal: never,
    deadlineMs: 600_000,
    onPass: ({ events, records }) => {
      for (const event of events) say(`  ${event.key}: ${event.reason}: ${event.message}`)
      last = JSON.stringify(records.map(({ key: name, status, conditions }) => [name, status, conditions]))
    },
  })
  await engine.close()
  assert.equal(outcome, 'settled', last)
  const refused = report.plan.entries.filter(({ action }) => action.do === 'refuse' || action.do === 'hold')
  assert.deepEqual(
    refused.map(({ action }) => action),
    [],
  )
}

async function seen(estate: Estate): Promise<Sighting> {
  const [connection] = estate.connections
  assert.ok(connection)
  const session = libvirtDriver.connect(connection, deps)
  const [sighting] = (await session.survey(never)).sightings
  assert.ok(sighting)
  return (await session.observe(sighting, { power: true, agent: true }, never)) ?? assert.fail('it is gone')
}

/** The definition without what the moment decides. */
const definition = () => virsh('dumpxml', '--inactive', 'web-1')

async function inside(): Promise<{ bootId: string; machineId: string; memoryKb: number }> {
  const told = await once(
    'cat /proc/sys/kernel/random/boot_id /etc/machine-id; grep MemTotal /proc/meminfo; hostname; cat /etc/written /etc/croft-test; ip -4 -o addr show scope global; id -un; systemctl is-system-running || true',
  )
  assert.match(told, /^web-1$/m)
  assert.match(told, /^hello from croft$/m)
  assert.match(told, /^put in by the build$/m)
  assert.match(told, /inet 192\.168\.231\.10\/24/)
  assert.doesNotMatch(told, /dynamic/)
  assert.match(told, /^ops$/m)
  const [bootId = '', machineId = ''] = told.split('\n')
  return { bootId, machineId, memoryKb: Number(/MemTotal:\s+(\d+)/.exec(told)?.[1]) }
}

async function askAgent(estate: Estate): Promise<void> {
  const sighting = await seen(estate)
  assert.equal(sighting.close?.agent, 'up')
  assert.deepEqual(
    sighting.close.addresses?.filter((address) => address.includes('.')),
    [GUEST],
  )
  const [connection] = estate.connections
  assert.ok(connection)
  const guest = libvirtDriver.connect(connection, deps).shell?.(sighting)
  assert.ok(guest)
  const ran = await guest.run(['sh', '-c', 'cat; exit 3'], { input: 'through the agent' })
  assert.deepEqual([ran.code, ran.stdout], [3, 'through the agent'])
  assert.equal(await guest.readFile('/no/such/file'), undefined)
  await guest.writeFile('/etc/by-agent', 'first\n', { mode: 0o600 })
  await guest.writeFile('/etc/by-agent', 'second\n', { mode: 0o600 })
  assert.equal(Buffer.from((await guest.readFile('/etc/by-agent')) ?? []).toString(), 'second\n')
  assert.equal((await guest.run(['stat', '-c', '%a', '/etc/by-agent'])).stdout.trim(), '600')
  assert.equal(
    Buffer.from((await guest.readFile('/etc/hostname')) ?? [])
      .toString()
      .trim(),
    'web-1',
  )
}

try {
  await startLibvirt()
  preparePlaces()
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  say('libvirtd is up')
  const copy = {
    from: shell,
    to: shell,
    path: imagePath,
    sha256,
    bytes: Number(bytes),
    uri: URI,
    pool: 'croft-real',
    fileName: 'debian.qcow2',
    signal: never,
  }
  assert.equal(await distributeImage(copy), 'copied')
  assert.equal(await distributeImage(copy), 'there')
  say('the image is in its pool, and is not copied twice')

  const estate = await declared('512Mi')
  await settle(estate)
  say('made and Ready')
  const first = await inside()
  await askAgent(estate)
  say('checked over SSH and through the agent')
  assert.deepEqual(readFileSync('/proc/net/arp', 'utf8').includes(GUEST), true)
  assert.ok(!virsh('vol-list', '--pool', 'croft-real').includes('-seed-'), 'the seed was taken away')
  assert.ok(existsSync('/run/libvirt/qemu/web-1.pid'))
  const made = definition()

  const more = await declared('640Mi')
  await settle(more)
  const second = await inside()
  assert.notEqual(second.bootId, first.bootId)
  assert.equal(second.machineId, first.machineId)
  assert.ok(second.memoryKb > first.memoryKb)
  say('changed, restarted, the same machine with more memory')

  await settle(await declared('640Mi', false))
  assert.equal(virsh('list', '--all', '--name').trim(), '')
  assert.doesNotMatch(virsh('vol-list', '--pool', 'croft-real'), /croft-[0-9a-f]{16}-/)
  say('destroyed, nothing left')

  await settle(estate)
  const again = await inside()
  assert.equal(definition(), made)
  // systemd takes its id from the machine's UUID, and that follows from the declaration.
  assert.equal(again.machineId, first.machineId)
  assert.notEqual(again.bootId, first.bootId)
  say('made again, identical')
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  const log = '/var/log/libvirt/qemu/web-1.log'
  if (existsSync(log)) process.stderr.write(readFileSync(log, 'utf8').slice(-2000))
  process.exit(1)
}
process.exit(0)
