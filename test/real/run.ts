import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensurePackages, findCommand, type Wanted } from '../../scripts/packages.ts'
import { realImage } from './image.ts'

/*
 * `npm run test:real`: real libvirtd and QEMU. The image is made out here, where there are mirrors. Everything else
 * happens in namespaces of its own (network, mounts, processes): nothing gets out, and when the last process has ended
 * nothing is left.
 */

const PACKAGES: readonly Wanted[] = [
  { name: 'libvirt-daemon', command: 'libvirtd' },
  { name: 'libvirt-clients', command: 'virsh' },
  { name: 'qemu-system-x86', command: 'qemu-system-x86_64' },
  { name: 'qemu-utils', command: 'qemu-img' },
  { name: 'mmdebstrap', command: 'mmdebstrap' },
  { name: 'dosfstools', command: 'mkfs.vfat' },
  { name: 'mtools', command: 'mcopy' },
  { name: 'grub-common', command: 'grub-mkimage' },
  { name: 'fdisk', command: 'sfdisk' },
  { name: 'iproute2', command: 'ip' },
  { name: 'openssh-client', command: 'ssh' },
]
/** Packages without a program of their own, beside the one that shows whether they are needed. */
const ALSO = ['grub-pc-bin', 'grub-efi-amd64-bin', 'libvirt-daemon-driver-qemu', 'libvirt-daemon-system']

function cannotRun(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it needs Linux on amd64'
  if (process.getuid?.() !== 0) return 'it needs root'
  const namespaces = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', '--mount-proc', 'true'])
  if (namespaces.status !== 0) return 'this kernel lets us make no namespaces'
  const missing = ensurePackages(PACKAGES)
  if (missing.length > 0) return `these packages are missing: ${missing.join(' ')}`
  if (!existsSync('/usr/lib/grub/i386-pc/boot.img') && findCommand('apt-get') !== undefined)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...ALSO], { stdio: 'ignore' })
  return existsSync('/usr/lib/grub/i386-pc/boot.img') ? undefined : `these packages are missing: ${ALSO.join(' ')}`
}

/** What the inner program ends with where libvirtd itself does not come up. */
const NO_LIBVIRT = 75

const reason = cannotRun()
if (reason !== undefined) {
  process.stdout.write(`test:real is skipped: ${reason}\n`)
  process.exit(0)
}

const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft-test', 'images')
mkdirSync(cache, { recursive: true })
const startedMs = Date.now()
const image = await realImage(cache, (line) => process.stdout.write(`${line}\n`)).catch((error: unknown) => {
  const why = error instanceof Error ? error.message : String(error)
  process.stdout.write(`test:real is skipped: no image can be made here: ${why}\n`)
  process.exit(0)
})
process.stdout.write(`image ${image.sha256.slice(0, 12)} after ${Math.round((Date.now() - startedMs) / 1000)} s\n`)

// QEMU runs as a user of its own, who must be able to get there.
const scratch = mkdtempSync('/var/tmp/croft-real-')
const child = spawn(
  'unshare',
  [
    '--net',
    '--mount',
    '--propagation',
    'private',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
    // Somebody must collect what has ended and belongs to nobody: libvirt waits for its QEMUs to be quite gone.
    'sh',
    '-c',
    '"$@" & wait $!',
    'croft',
    process.execPath,
    join(import.meta.dirname, 'libvirt.ts'),
    scratch,
    image.path,
    image.sha256,
    String(image.bytes),
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill('SIGKILL'))
const code = await new Promise<number>((done) => child.on('exit', (status) => done(status ?? 1)))
rmSync(scratch, { recursive: true, force: true })
if (code === NO_LIBVIRT) {
  process.stdout.write('test:real is skipped: libvirtd does not start here\n')
  process.exit(0)
}
process.stdout.write(
  `test:real ${code === 0 ? 'passed' : 'failed'} after ${Math.round((Date.now() - startedMs) / 1000)} s\n`,
)
process.exit(code)
