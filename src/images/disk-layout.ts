import { createHash } from 'node:crypto'
import { wordList } from '../lib/word-list.ts'
import type { BuildStep } from './build-spec.ts'

/*
 * A disk that boots by BIOS and by UEFI: a place for GRUB's core, a small EFI partition and the root. It is assembled
 * from files, without a loop device and without mounts, so that it works where those are not allowed, and is
 * reproducible.
 */

const SECTOR = 512
const MIB = 1024 * 1024
const BIOS_FIRST = 2048
const EFI_FIRST = 4096
const EFI_MB = 64
const ROOT_FIRST = EFI_FIRST + (EFI_MB * MIB) / SECTOR
const GRUB_MODULES = wordList('part_gpt ext2 normal configfile search search_fs_uuid linux test echo serial terminal')

export interface ImageDisk {
  readonly work: string
  readonly root: string
  readonly architecture: 'amd64' | 'arm64'
  readonly sizeMb: number
  readonly epoch: number
  /** Seed of all numbers that are usually random. */
  readonly inputs: string
}

const LONG_MS = 600_000

/**
 * Sets all inodes to one time. The kernel sets an inode's ctime, which programs cannot, and mke2fs before 1.47.1 copies
 * it, and the atime, which reading moves. mke2fs numbers the copied inodes without a gap.
 */
const SAME_TIMES = `set -eu
dumpe2fs -h "$1" 2>/dev/null | awk -v time="$2" -F: '
  $1 == "Inode count" { all = $2 }
  $1 == "Free inodes" { free = $2 }
  $1 == "First inode" { first = $2 }
  END { for (at = first + 0; at <= all - free; at++) printf "sif <%d> ctime @%s\\nsif <%d> atime @%s\\n", at, time, at, time }
' >"$1.times"
debugfs -w -f "$1.times" "$1" >/dev/null
rm "$1.times"`

export function rootUuid(inputs: string): string {
  return uuid(inputs, 'root')
}

/** Returns the files of the root that the disk needs to boot. */
export function bootFiles(
  inputs: string,
  architecture: ImageDisk['architecture'] = 'amd64',
): readonly { readonly path: string; readonly content: string }[] {
  const id = rootUuid(inputs)
  const options =
    architecture === 'arm64'
      ? 'console=tty0 console=ttyAMA0,115200 net.ifnames=1'
      : // A guest that its host leaves waiting while it looks whether timers work would stop for good in its first second.
        'console=tty0 console=ttyS0,115200 net.ifnames=1 no_timer_check'
  const grub = [
    'set timeout=0',
    'if [ -e /vmlinuz ]; then set kernel=/vmlinuz; set initrd=/initrd.img',
    'else set kernel=/boot/vmlinuz; set initrd=/boot/initrd.img; fi',
    'menuentry "Linux" {',
    `  linux $kernel root=UUID=${id} ro ${options}`,
    '  initrd $initrd',
    '}',
    '',
  ]
  return [
    { path: 'etc/fstab', content: `UUID=${id} / ext4 defaults,x-systemd.growfs 0 1\n` },
    { path: 'boot/grub/grub.cfg', content: grub.join('\n') },
  ]
}

/** All steps from a finished root to a finished disk. */
export function diskSteps(disk: ImageDisk): readonly BuildStep[] {
  const { work, inputs, epoch } = disk
  const at = (name: string) => `${work}/${name}`
  const clock = ['env', `SOURCE_DATE_EPOCH=${epoch}`, `E2FSPROGS_FAKE_TIME=${epoch}`]
  const step = (summary: string, argv: readonly string[], input?: string | Uint8Array): BuildStep => ({
    summary,
    argv,
    timeoutMs: LONG_MS,
    ...(input === undefined ? {} : { input }),
  })
  const rootMb = disk.sizeMb - Math.ceil((ROOT_FIRST * SECTOR) / MIB) - 1
  const early = `search --fs-uuid --set=root ${rootUuid(inputs)}\nset prefix=($root)/boot/grub\nconfigfile /boot/grub/grub.cfg\n`
  return [
    step('give everything the same time', [
      'find',
      disk.root,
      '-xdev',
      '-exec',
      'touch',
      '--no-dereference',
      `--date=@${epoch}`,
      '{}',
      '+',
    ]),
    step('make the root file system', [
      ...clock,
      'mke2fs',
      '-q',
      '-t',
      'ext4',
      '-L',
      'croft-root',
      '-U',
      rootUuid(inputs),
      '-m',
      '1',
      '-E',
      `hash_seed=${uuid(inputs, 'hash')},root_owner=0:0,lazy_itable_init=0,lazy_journal_init=0`,
      '-d',
      disk.root,
      at('root.ext4'),
      `${rootMb}M`,
    ]),
    step('take the moment out of it', [...clock, 'sh', '-c', SAME_TIMES, 'croft', at('root.ext4'), String(epoch)]),
    step('write what GRUB reads first', ['tee', at('early.cfg')], early),
    ...efiSteps(disk, step),
    step('lay out the disk', ['truncate', '-s', `${disk.sizeMb}M`, at('disk.raw')]),
    step('write the partition table', ['sfdisk', '--quiet', '--no-reread', at('disk.raw')], table(inputs)),
    step('put in the EFI partition', copyInto(at('efi.img'), at('disk.raw'), EFI_FIRST)),
    step('put in the root', copyInto(at('root.ext4'), at('disk.raw'), ROOT_FIRST)),
    ...(disk.architecture === 'amd64' ? biosSteps(disk, step) : []),
    step('write it as qcow2', ['qemu-img', 'convert', '-O', 'qcow2', at('disk.raw'), at('image.qcow2')]),
  ]
}

type MakeStep = (summary: string, argv: readonly string[], input?: string | Uint8Array) => BuildStep

function efiSteps(disk: ImageDisk, step: MakeStep): readonly BuildStep[] {
  const { work, architecture, epoch, inputs } = disk
  const name = architecture === 'amd64' ? 'BOOTX64.EFI' : 'BOOTAA64.EFI'
  const image = `${work}/efi.img`
  // FAT stores local time.
  const clock = ['env', 'TZ=UTC', `SOURCE_DATE_EPOCH=${epoch}`]
  return [
    ...(architecture === 'amd64'
      ? [step('make GRUB for UEFI', efiGrub('x86_64-efi', work, GRUB_MODULES))]
      : armGrub(disk, step)),
    step('make the EFI partition', [
      ...clock,
      'mkfs.vfat',
      '--invariant',
      '-F',
      '32',
      '-n',
      'EFI',
      '-i',
      digits(inputs, 'efi').slice(0, 8),
      '-C',
      image,
      String(EFI_MB * 1024),
    ]),
    step('give GRUB the same time', ['touch', `--date=@${epoch}`, `${work}/grub.efi`]),
    step('make its directories', [...clock, 'mmd', '-i', image, '::EFI', '::EFI/BOOT']),
    step('put GRUB into it', [...clock, 'mcopy', '-m', '-i', image, `${work}/grub.efi`, `::EFI/BOOT/${name}`]),
  ]
}

function efiGrub(format: string, folder: string, modules: readonly string[]): readonly string[] {
  const [image, config] = [`${folder}/grub.efi`, `${folder}/early.cfg`]
  return ['grub-mkimage', '-O', format, '-o', image, '-p', '/EFI/BOOT', '-c', config, ...modules, 'fat']
}

/** Made by the GRUB of the image, whose root file system is finished by now. */
function armGrub({ work, root }: ImageDisk, step: MakeStep): readonly BuildStep[] {
  const modules = GRUB_MODULES.filter((module) => module !== 'serial')
  return [
    step('show it to the GRUB of the image', ['cp', `${work}/early.cfg`, `${root}/run/early.cfg`]),
    step('make GRUB for UEFI', ['chroot', root, ...efiGrub('arm64-efi', '/run', modules)]),
    step('take what it made', ['mv', `${root}/run/grub.efi`, `${work}/grub.efi`]),
    step('leave nothing behind', ['rm', `${root}/run/early.cfg`]),
  ]
}

/**
 * Does what grub-install does, without a device: writes into the boot sector where the core begins, and into the core
 * where it continues. The offsets are from GRUB's sources.
 */
function biosSteps({ work }: ImageDisk, step: MakeStep): readonly BuildStep[] {
  const disk = `${work}/disk.raw`
  const patch = (summary: string, file: string, offset: number, value: number) =>
    step(summary, ['dd', `of=${file}`, 'bs=1', `seek=${offset}`, 'conv=notrunc', 'status=none'], littleEndian(value))
  return [
    step('make GRUB for BIOS', [
      'grub-mkimage',
      '-O',
      'i386-pc',
      '-o',
      `${work}/core.img`,
      '-p',
      '(hd0,gpt3)/boot/grub',
      '-c',
      `${work}/early.cfg`,
      ...GRUB_MODULES,
      'biosdisk',
    ]),
    step('take its boot sector', ['cp', '/usr/lib/grub/i386-pc/boot.img', `${work}/boot.img`]),
    patch('tell it where the core is', `${work}/boot.img`, 0x5c, BIOS_FIRST),
    patch('tell the core where it goes on', `${work}/core.img`, 0x1f4, BIOS_FIRST + 1),
    step('write the boot sector', [
      'dd',
      `if=${work}/boot.img`,
      `of=${disk}`,
      'bs=440',
      'count=1',
      'conv=notrunc',
      'status=none',
    ]),
    step('write the core', copyInto(`${work}/core.img`, disk, BIOS_FIRST)),
  ]
}

function copyInto(from: string, to: string, sector: number): readonly string[] {
  const offset = (sector * SECTOR) / MIB
  return ['dd', `if=${from}`, `of=${to}`, 'bs=1M', `seek=${offset}`, 'conv=notrunc,sparse', 'status=none']
}

function table(inputs: string): string {
  const id = (name: string) => uuid(inputs, name).toUpperCase()
  return [
    'label: gpt',
    `label-id: ${id('disk')}`,
    `first-lba: ${BIOS_FIRST}`,
    `start=${BIOS_FIRST}, size=${EFI_FIRST - BIOS_FIRST}, type=21686148-6449-6E6F-744E-656564454649, uuid=${id('bios')}`,
    `start=${EFI_FIRST}, size=${ROOT_FIRST - EFI_FIRST}, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B, uuid=${id('esp')}`,
    `start=${ROOT_FIRST}, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4, uuid=${id('part')}`,
    '',
  ].join('\n')
}

function littleEndian(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value), true)
  return bytes
}

function digits(inputs: string, what: string): string {
  return createHash('sha256').update(`croft image\0${inputs}\0${what}`).digest('hex')
}

function uuid(inputs: string, what: string): string {
  const text = digits(inputs, what)
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20, 32)}`
}
