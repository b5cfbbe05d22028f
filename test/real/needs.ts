import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { ensurePackages, findCommand, type Wanted } from '../../scripts/packages.ts'

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
  { name: 'openssh-server', command: 'sshd' },
]

/** Packages without a program of their own, by a file that shows whether they are there. */
const LIBRARIES: readonly (readonly [string, string])[] = [
  ['grub-pc-bin', '/usr/lib/grub/i386-pc/boot.img'],
  ['grub-efi-amd64-bin', '/usr/lib/grub/x86_64-efi/kernel.img'],
  ['libvirt-daemon-driver-qemu', '/usr/lib/x86_64-linux-gnu/libvirt/connection-driver/libvirt_driver_qemu.so'],
  ['libvirt-daemon-system', '/etc/libvirt/qemu.conf'],
  ['ovmf', '/usr/share/OVMF/OVMF_CODE.fd'],
]

/** Why the real test cannot run here; undefined when it can. Installs what is missing where that is allowed. */
export function cannotRun(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'it needs Linux on amd64'
  if (process.getuid?.() !== 0) return 'it needs root'
  const namespaces = spawnSync('unshare', ['--net', '--mount', '--pid', '--fork', '--mount-proc', 'true'])
  if (namespaces.status !== 0) return 'this kernel lets us make no namespaces'
  const programs = ensurePackages(PACKAGES)
  const missing = () => LIBRARIES.filter(([, file]) => !existsSync(file)).map(([name]) => name)
  const libraries = missing()
  if (libraries.length > 0 && findCommand('apt-get') !== undefined)
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...libraries], {
      stdio: 'ignore',
      timeout: 300_000,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  const still = [...programs, ...missing()]
  return still.length === 0 ? undefined : `these packages are missing: ${still.join(' ')}`
}
