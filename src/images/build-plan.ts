import { createHash } from 'node:crypto'
import type { BuildPlan, BuildSpec, BuildStep, DebianBase, DiskBase, FetchedFile } from './build-spec.ts'
import { cleaningSteps } from './cleanliness.ts'
import { bootFiles, diskSteps } from './disk-layout.ts'
import { runStep } from './run-step.ts'

const LONG_MS = 1_800_000
const SHORT_MS = 300_000

/** Packages that all machines need to be reached and to read their seed. */
const NEEDED = [
  'cloud-init',
  'openssh-server',
  'qemu-guest-agent',
  'systemd-sysv',
  'udev',
  'netplan.io',
  // Passes the declared name servers to programs.
  'systemd-resolved',
  'sudo',
  'ca-certificates',
  'iproute2',
  // These receive the request to shut down.
  'dbus',
  'libpam-systemd',
  // With these the root grows to the size of the machine's disk.
  'cloud-guest-utils',
  'e2fsprogs',
]

/** Directory in which K3s looks for preloaded images. */
const AIRGAP = 'var/lib/rancher/k3s/agent/images'

/** Scripts of its packages run here while it is made: another processor must be emulated. */
const RUNS_ARM = [
  'sh',
  '-c',
  'case $(uname -m) in aarch64|arm64) exit 0 ;; esac; arch-test arm64 >/dev/null 2>&1 || { echo "they do not: apt-get install qemu-user-static binfmt-support arch-test" >&2; exit 1; }',
]

/** Debian has GRUB for arm64 only on arm64: there it is taken from the image itself. */
const GRUB_THERE = 'grub-efi-arm64-bin'
const GRUB_HERE: readonly (readonly [string, string])[] = [
  ['grub-mkimage', 'grub-common'],
  ['/usr/lib/grub/x86_64-efi/kernel.img', 'grub-efi-amd64-bin'],
  ['/usr/lib/grub/i386-pc/boot.img', 'grub-pc-bin'],
]
const bootPackages = ({ architecture }: BuildSpec) => (architecture === 'arm64' ? [GRUB_THERE] : [])

/**
 * Returns everything that runs to make an image, in order. `run` names this build: another one of the same image may be
 * at work, or have been cut off, and neither may touch what the other makes. Pure.
 */
export function buildPlan(spec: BuildSpec, directory: string, run: string): BuildPlan {
  // The recipe is part of the inputs: another version of croft may build another image.
  const recipe = stepsOf(spec, '/work', '').map(({ argv, input }) => [argv, String(input ?? '')])
  const inputs = createHash('sha256')
    .update(JSON.stringify([sorted(spec), recipe]))
    .digest('hex')
  const short = inputs.slice(0, 12)
  const work = `${directory}/${spec.name}-${short}.${run}.work`
  return {
    spec,
    inputs,
    work,
    output: `${directory}/${spec.name}-${short}.qcow2`,
    needs: needsOf(spec),
    steps: [...placeSteps(directory, work), ...stepsOf(spec, work, inputs)],
    differences: differencesOf(spec),
  }
}

/** Builds that were cut off leave their work; none takes a day. */
const LEFT_MINUTES = '+1440'

function placeSteps(directory: string, work: string): readonly BuildStep[] {
  const clear = ['-name', '*.work', '-mmin', LEFT_MINUTES, '-exec', 'rm', '-rf', '--one-file-system', '{}', '+']
  const all: readonly (readonly [string, readonly string[]])[] = [
    ['make a place for images', ['mkdir', '-p', directory]],
    ['clear away what builds left that were cut off', ['find', directory, '-maxdepth', '1', ...clear]],
    ['make a place for it', ['mkdir', work]],
  ]
  return all.map(([summary, argv]) => ({ summary, argv, timeoutMs: SHORT_MS }))
}

function stepsOf(spec: BuildSpec, work: string, inputs: string): readonly BuildStep[] {
  const root = `${work}/root`
  const step = (summary: string, argv: readonly string[], input?: string): BuildStep => ({
    summary,
    argv,
    timeoutMs: SHORT_MS,
    ...(input === undefined ? {} : { input }),
  })
  const put = (path: string, content: string, mode = '0644'): readonly BuildStep[] => [
    step(`make room for /${path}`, ['install', '-D', '-m', mode, '/dev/null', `${root}/${path}`]),
    step(`write /${path}`, ['tee', `${root}/${path}`], content),
  ]
  return [
    ...(spec.architecture === 'arm64' ? [step('see that programs for arm64 run here', RUNS_ARM)] : []),
    ...(spec.from.type === 'debian' ? debianSteps(spec, spec.from, root) : diskBaseSteps(spec, spec.from, work, root)),
    ...(spec.k3s === undefined ? [] : fetched(work, root, spec.k3s.binary, 'usr/local/bin/k3s', '0755')),
    ...(spec.k3s?.images === undefined
      ? []
      : fetched(work, root, spec.k3s.images, `${AIRGAP}/k3s-airgap-images-${spec.architecture}.tar.zst`, '0644')),
    ...spec.files.flatMap(({ path, content, mode }) => put(path.replace(/^\//, ''), content, mode)),
    ...spec.run.map((script) => runStep(script, root, plainEnvironment(spec))),
    ...put('etc/hostname', 'localhost\n'),
    // With a single source, cloud-init selects it unchecked: at the second boot, without its disc, it would start over
    // as an instance without a source and ask for a lease. With two it checks first, and then does nothing.
    ...put('etc/cloud/cloud.cfg.d/90-croft.cfg', 'datasource_list: [NoCloud, ConfigDrive, None]\n'),
    ...bootFiles(inputs, spec.architecture).flatMap(({ path, content }) => put(path, content)),
    ...cleaningSteps(root).map((argv) => step('clean it', argv)),
    ...diskSteps({ work, root, architecture: spec.architecture, sizeMb: spec.sizeMb, epoch: spec.epoch, inputs }),
  ]
}

/** Returns a clean environment: package scripts write down theirs, and the builder's must not get into the image. */
function plainEnvironment({ epoch }: BuildSpec): readonly string[] {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
  return ['env', '-i', `PATH=${path}`, 'HOME=/root', 'LC_ALL=C', 'TZ=UTC', `SOURCE_DATE_EPOCH=${epoch}`]
}

function debianSteps(spec: BuildSpec, from: DebianBase, root: string): readonly BuildStep[] {
  const kernel = `linux-image-cloud-${spec.architecture}`
  const packages = [...new Set([kernel, ...NEEDED, ...bootPackages(spec), ...spec.packages])].sort()
  const mirror =
    from.snapshot === undefined ? from.mirror : `http://snapshot.debian.org/archive/debian/${from.snapshot}/`
  return [
    {
      summary: `install ${from.suite} with ${packages.length} packages`,
      argv: [
        ...plainEnvironment(spec),
        'mmdebstrap',
        '--mode=root',
        '--variant=apt',
        `--architectures=${spec.architecture}`,
        `--include=${packages.join(',')}`,
        // A snapshot is old by its nature.
        ...(from.snapshot === undefined ? [] : ['--aptopt=Acquire::Check-Valid-Until "false"']),
        from.suite,
        root,
        ...(mirror === undefined ? [] : [mirror]),
      ],
      timeoutMs: LONG_MS,
    },
    {
      summary: 'let names be looked up as is declared',
      argv: ['ln', '-sfn', '../run/systemd/resolve/stub-resolv.conf', `${root}/etc/resolv.conf`],
      timeoutMs: SHORT_MS,
    },
  ]
}

/** The largest Linux partition of a disk image, copied out with all that belongs to its files. */
const EXTRACT = `set -eu
image=$1 root=$2
start=$(sfdisk --json "$image" | tr -d ' \\t\\n' | sed 's/},{/}\\n{/g' | sed -n 's/.*"start":\\([0-9]*\\),"size":\\([0-9]*\\),.*/\\2 \\1/p' | sort -n | tail -1 | cut -d' ' -f2)
mkdir -p "$root" "$root.mnt"
mount -o ro,noload,loop,offset=$((start * 512)) "$image" "$root.mnt"
cp -a --one-file-system "$root.mnt/." "$root/"
umount "$root.mnt"
rmdir "$root.mnt"`

function diskBaseSteps(spec: BuildSpec, from: DiskBase, work: string, root: string): readonly BuildStep[] {
  const base = `${work}/base`
  const check = `${from.checksum.algorithm}sum`
  const long = (summary: string, argv: readonly string[], input?: string): BuildStep => ({
    summary,
    argv,
    timeoutMs: LONG_MS,
    ...(input === undefined ? {} : { input }),
  })
  const chroot = [...plainEnvironment(spec), 'DEBIAN_FRONTEND=noninteractive', 'chroot', root]
  const wanted = [...new Set(['qemu-guest-agent', ...bootPackages(spec), ...spec.packages])].sort()
  return [
    long('download the base image', download(from.url, base)),
    long('see that it is the right one', [check, '--check', '--strict', '-'], `${from.checksum.value}  ${base}\n`),
    long('unpack it', ['qemu-img', 'convert', '-O', 'raw', base, `${work}/base.raw`]),
    // Uses a private mount namespace, so that a failure leaves no mount behind.
    long('take its root', [
      'unshare',
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-c',
      EXTRACT,
      'croft',
      `${work}/base.raw`,
      root,
    ]),
    // Uses the builder's name servers only while packages are fetched.
    long('put its resolver aside', ['cp', '-a', `${root}/etc/resolv.conf`, `${work}/resolv.conf`]),
    long('let it find its mirrors', ['cp', '--remove-destination', '/etc/resolv.conf', `${root}/etc/resolv.conf`]),
    long('look for packages', [...chroot, 'apt-get', 'update', '-q']),
    long(`install ${wanted.join(', ')}`, [
      ...chroot,
      'apt-get',
      'install',
      '-q',
      '-y',
      '--no-install-recommends',
      ...wanted,
    ]),
    long('give it its resolver back', [
      'cp',
      '-a',
      '--remove-destination',
      `${work}/resolv.conf`,
      `${root}/etc/resolv.conf`,
    ]),
    long('remove the downloaded base', ['rm', '-f', base, `${work}/base.raw`]),
  ]
}

function fetched(work: string, root: string, file: FetchedFile, path: string, mode: string): readonly BuildStep[] {
  const part = `${work}/download`
  return [
    { summary: `download ${file.url}`, argv: download(file.url, part), timeoutMs: LONG_MS },
    {
      summary: `see that it is what it should be`,
      argv: ['sha256sum', '--check', '--strict', '-'],
      input: `${file.sha256}  ${part}\n`,
      timeoutMs: SHORT_MS,
    },
    {
      summary: `put it at /${path}`,
      argv: ['install', '-D', '-m', mode, part, `${root}/${path}`],
      timeoutMs: SHORT_MS,
    },
  ]
}

function download(url: string, to: string): readonly string[] {
  return [
    'curl',
    '--fail',
    '--silent',
    '--show-error',
    '--location',
    '--proto',
    '=http,https',
    '--max-redirs',
    '5',
    '--output',
    to,
    '--',
    url,
  ]
}

function needsOf(spec: BuildSpec): BuildPlan['needs'] {
  const pairs: readonly (readonly [string, string])[] = [
    ['mke2fs', 'e2fsprogs'],
    ['sfdisk', 'fdisk'],
    ['mkfs.vfat', 'dosfstools'],
    ['mcopy', 'mtools'],
    ['qemu-img', 'qemu-utils'],
    ...(spec.architecture === 'amd64' ? GRUB_HERE : []),
    ...(spec.from.type === 'debian' ? ([['mmdebstrap', 'mmdebstrap']] as const) : []),
    ...(spec.from.type === 'disk' || spec.k3s !== undefined ? ([['curl', 'curl']] as const) : []),
  ]
  return pairs.map(([program, name]) => ({ program, package: name }))
}

/** Returns the reasons why two builds of one declaration may differ, for the user to see. */
function differencesOf(spec: BuildSpec): readonly string[] {
  const own =
    spec.run.length === 0 ? [] : ['its own steps run while it is made, and what they fetch or write may change']
  return [...own, ...differencesOfBase(spec)]
}

function differencesOfBase(spec: BuildSpec): readonly string[] {
  if (spec.from.type === 'disk')
    return ['packages are installed from mirrors as they are today, and scripts of packages run while it is made']
  return spec.from.snapshot === undefined
    ? ['the mirror has other packages tomorrow: name a snapshot to have the same ones always']
    : []
}

/** Sorts fields, so that equal specs give equal texts. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, entry]) => entry !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sorted(entry)]),
  )
}
