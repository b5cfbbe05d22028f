import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { GUESTS, type GuestName } from './manifests.ts'
import { run, type Said } from './processes.ts'

/** croft with the words of `croft machine`, on the estate of the test. */
export type OnMachine = (words: readonly string[]) => Promise<Said>

export interface Inside {
  readonly bootId: string
  readonly machineId: string
  readonly memoryKb: number
  readonly uefi: boolean
}

const LOOK = [
  'cat /proc/sys/kernel/random/boot_id /etc/machine-id',
  'grep MemTotal /proc/meminfo',
  'hostname',
  'sudo cat /etc/written',
  'cat /etc/croft-test',
  'cat /etc/croft-step',
  'id -gn stepped',
  'ip -4 -o addr show scope global',
  'id -un',
  'sudo id -un',
  'stat -c "mode %a" /etc/written',
  'test -d /sys/firmware/efi && echo uefi',
  'lsblk -bdno SIZE /dev/vda',
  'grep nameserver /run/systemd/resolve/resolv.conf',
].join('; ')

/** Everything that was declared of a guest, asked over SSH. Its host key comes over a way that is already trusted. */
export async function lookOverSsh(
  scratch: string,
  key: string,
  name: GuestName,
  onMachine: OnMachine,
): Promise<Inside> {
  const address = GUESTS[name]
  const hostKey = await onMachine(['read', name, '/etc/ssh/ssh_host_ed25519_key.pub'])
  assert.equal(hostKey.code, 0, hostKey.stderr)
  const known = join(scratch, 'known_hosts')
  writeFileSync(known, `${address} ${hostKey.stdout.trim()}\n`)
  const told = await patiently(() => enter(address, key, known, LOOK))
  assert.match(told, new RegExp(`^${name}$`, 'm'))
  assert.match(told, /^hello from croft$/m)
  assert.match(told, /^put in by the build$/m)
  assert.match(told, /^a step ran on debian as root$/m)
  assert.match(told, /^stepped$/m)
  assert.match(told, new RegExp(`inet ${address.replaceAll('.', '\\.')}/24`))
  assert.doesNotMatch(told, /dynamic/, 'no lease was asked for')
  assert.match(told, /^ops$/m)
  assert.match(told, /^root$/m)
  assert.match(told, /^mode 640$/m)
  assert.match(told, new RegExp(`^${3 * 1024 ** 3}$`, 'm'))
  assert.match(told, /^nameserver 192\.0\.2\.53$/m)
  const [bootId = '', machineId = ''] = told.split('\n')
  const memoryKb = Number(/MemTotal:\s+(\d+)/.exec(told)?.[1])
  return { bootId, machineId, memoryKb, uefi: /^uefi$/m.test(told) }
}

/** The same through the agent, which needs no network; and files and programs go their way there. */
export async function lookThroughAgent(scratch: string, name: GuestName, onMachine: OnMachine): Promise<void> {
  const exec = async (...argv: readonly string[]) => {
    const ran = await onMachine(['exec', name, '--', ...argv])
    assert.equal(ran.code, 0, ran.stderr)
    return ran.stdout
  }
  const told = await exec('sh', '-c', 'hostname; ip -4 -o addr show scope global; id -u ops; cat /etc/written')
  assert.match(told, new RegExp(`^${name}$`, 'm'))
  assert.match(told, new RegExp(`inet ${GUESTS[name].replaceAll('.', '\\.')}/24`))
  assert.match(told, /^\d{4}$/m)
  assert.match(told, /^hello from croft$/m)
  const failing = await onMachine(['exec', name, '--', 'sh', '-c', 'exit 3'])
  assert.equal(failing.code, 3)
  const text = 'first line\nsecond $(reboot) line\n'
  const file = join(scratch, 'to-write')
  writeFileSync(file, text)
  assert.equal((await onMachine(['write', name, file, '/etc/by-agent'])).code, 0)
  const back = await onMachine(['read', name, '/etc/by-agent'])
  assert.equal(back.stdout, text)
  assert.match(await exec('stat', '-c', '%a', '/etc/by-agent'), /^600$/m)
  assert.notEqual((await onMachine(['read', name, '/no/such/file'])).code, 0)
}

/** Ready says that the agent answers; the SSH server may need a moment more. */
async function patiently(ask: () => string): Promise<string> {
  for (let tries = 0; tries < 12; tries++) {
    try {
      return ask()
    } catch {
      await pause(5_000)
    }
  }
  return ask()
}

function enter(address: string, key: string, known: string, command: string): string {
  const options = [
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${known}`,
    'ConnectTimeout=20',
    'LogLevel=ERROR',
  ]
  return run('ssh', '-i', key, ...options.flatMap((option) => ['-o', option]), `ops@${address}`, `${command} || true`)
}
