import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bootImage } from '../../src/images/boot.ts'
import { judgeBoot } from '../../src/images/boot-judge.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { openLocalShell } from '../../src/ssh/local-shell.ts'
import { croft, run } from './processes.ts'

/** What one start may take in software emulation on a busy computer. */
const BOOT_MS = 1_200_000

/** The image that croft made, started by croft in QEMU. Nothing is wrong with it, and it is not changed. */
export async function bootBuiltImage(estate: string, env: NodeJS.ProcessEnv): Promise<void> {
  const image = onlyImage(join(env.XDG_CACHE_HOME ?? '', 'croft/images'))
  const before = checksum(image)
  // A run that was killed may have left its folder.
  const leftBefore = bootFolders()
  const words = ['image', 'verify', 'debian', '--dir', estate, '--boot', '--timeout', `${BOOT_MS / 1000}s`]
  const said = await croft(words, { env, timeoutMs: 2 * BOOT_MS })
  assert.equal(said.code, 0, `${said.stdout}${said.stderr}`)
  assert.match(
    said.stdout,
    /^Booted .*, agent after \d+ s: guest agent, machine-id, cloud-init, ssh host keys, serial console\.$/m,
  )
  assert.equal(checksum(image), before)
  assert.deepEqual(bootFolders(), leftBefore)
}

function bootFolders(): readonly string[] {
  return readdirSync('/var/tmp').filter((name) => name.startsWith('croft-boot-'))
}

/** Makes the image like one copied from a running machine: with its identity, which the boot keeps. */
const USE = `set -eu
start=$(sfdisk --json "$1" | tr -d ' \\t\\n' | sed 's/},{/}\\n{/g' | sed -n 's/.*"start":\\([0-9]*\\),"size":\\([0-9]*\\),.*/\\2 \\1/p' | sort -n | tail -1 | cut -d' ' -f2)
mount -o loop,offset=$((start * 512)) "$1" "$2"
echo 0123456789abcdef0123456789abcdef >"$2/etc/machine-id"
ssh-keygen -q -t ed25519 -N '' -f "$2/etc/ssh/ssh_host_ed25519_key"
touch --date=@1760000000 "$2/etc/machine-id" "$2"/etc/ssh/ssh_host_*
printf 'ssh_deletekeys: false\\nruncmd: 7\\n' >"$2/etc/cloud/cloud.cfg.d/99-used.cfg"
sed -i 's/ console=ttyS0,115200//' "$2/boot/grub/grub.cfg"
umount "$2"`

/** A copy of the image, used before: it starts, and every check but that of the agent says what is wrong with it. */
export async function refuseUsedImage(scratch: string, images: string): Promise<void> {
  const place = join(scratch, 'used')
  mkdirSync(join(place, 'mnt'), { recursive: true })
  const [raw, used] = [join(place, 'disk.raw'), join(place, 'used.qcow2')]
  run('qemu-img', 'convert', '-O', 'raw', onlyImage(images), raw)
  run('unshare', '--mount', '--propagation', 'private', 'sh', '-c', USE, 'croft', raw, join(place, 'mnt'))
  run('qemu-img', 'convert', '-O', 'qcow2', raw, used)
  const shell = openLocalShell({
    name: 'here',
    env: process.env,
    become: 'none',
    clock: systemClock,
    random: seededRandom(1),
  })
  const boot = { architecture: 'amd64', uuid: '5ec0ffee-0000-4000-8000-000000000001' } as const
  const signal = AbortSignal.timeout(2 * BOOT_MS)
  const { report } = await bootImage(used, boot, shell, { limitMs: BOOT_MS, signal })
  const { findings } = judgeBoot(report, boot.uuid)
  assert.deepEqual(
    [...new Set(findings.map(({ check }) => check))],
    ['machine-id', 'cloud-init', 'ssh host keys', 'serial console'],
    JSON.stringify([findings, report]),
  )
}

function onlyImage(folder: string): string {
  const [file, ...others] = readdirSync(folder).filter((name) => name.endsWith('.qcow2'))
  assert.deepEqual(others, [])
  return join(folder, file ?? assert.fail(`no image is in ${folder}`))
}

function checksum(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}
