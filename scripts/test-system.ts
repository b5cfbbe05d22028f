import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { findCommand, INSIDE, isThere, type Wanted } from './packages.ts'

/*
 * Tests need Debian packages, and a test must not change anybody's computer. So packages go into layers over /usr, /etc
 * and /var which only the processes of a test run see: a separate mount namespace with overlays, and an empty /run, so
 * that no service manager is found that could start what is installed. The layers are kept in the project's cache and
 * lie below a throw-away one, so that two runs at once do not meet.
 */

/** What dpkg writes to. Everything else is the computer's own: home, the clone, /tmp, devices. */
const COVERED = ['usr', 'etc', 'var'] as const
const INSTALL_TIMEOUT_MS = 1_800_000

export interface Situation {
  /** Packages that are not on this computer. */
  readonly missing: readonly string[]
  readonly inside: boolean
  readonly root: boolean
  readonly apt: boolean
  readonly namespaces: boolean
  /** /bin, /sbin and /lib lie in /usr, as on every Debian since 12. */
  readonly merged: boolean
}

/** Undefined: tests can run in layers of their own. Else why they run as things are. Pure. */
export function whyNoLayers(situation: Situation): string | undefined {
  if (situation.inside) return 'it runs in its layers already'
  if (situation.missing.length === 0) return 'nothing is missing'
  if (!situation.root) return 'only root can make mounts'
  if (!situation.apt) return 'there is no apt-get'
  if (!situation.merged) return '/bin does not lie in /usr'
  if (!situation.namespaces) return 'this kernel lets us make no mount namespace'
  return undefined
}

/**
 * Goes on inside the layers: this process is replaced by itself, started there. Comes back only where that cannot be, or
 * need not be. With `make` the layers are made first, which takes minutes the first time.
 */
export function enterTestSystem(wanted: readonly Wanted[], { make }: { readonly make: boolean }): void {
  const missing = [...new Set(wanted.filter((one) => !isThere(one)).map(({ name }) => name))]
  const why = whyNoLayers({
    missing,
    inside: process.env[INSIDE] !== undefined,
    root: process.getuid?.() === 0,
    apt: findCommand('apt-get') !== undefined,
    merged: lstatSync('/bin').isSymbolicLink(),
    namespaces: spawnSync('unshare', ['--mount', 'true']).status === 0,
  })
  if (why !== undefined) return
  const layers = layersFor(missing)
  if (!existsSync(layers)) {
    if (!make) return
    const problem = makeLayers(layers, missing)
    if (problem !== undefined) {
      process.stdout.write(`packages for the tests could not be unpacked beside the system: ${problem}\n`)
      return
    }
  }
  replaceSelf(layers)
}

/** Another list, or another system below, needs other layers. */
function layersFor(missing: readonly string[]): string {
  const status = existsSync('/var/lib/dpkg/status') ? readFileSync('/var/lib/dpkg/status', 'utf8') : ''
  return join(cacheFolder(), `test-system-${short(status)}-${short(missing.toSorted().join(' '))}`)
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12)
}

/** Deletes layers over a system that has changed since, and drafts whose process has ended. */
function forgetOld(layers: string): void {
  const folder = dirname(layers)
  const fits = basename(layers).slice(0, -12)
  for (const name of readdirSync(folder)) {
    const draft = /^test-system-.*\./.test(name)
    const old = draft && Date.now() - statSync(join(folder, name)).mtimeMs > INSTALL_TIMEOUT_MS
    if (old || (!draft && name.startsWith('test-system-') && !name.startsWith(fits)))
      rmSync(join(folder, name), { recursive: true, force: true })
  }
}

function cacheFolder(): string {
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'croft')
}

/** Installs into new layers; answers why that failed. */
export function makeLayers(layers: string, packages: readonly string[]): string | undefined {
  process.stdout.write(`unpacking for the tests, in ${layers}: ${packages.join(' ')}\n`)
  mkdirSync(dirname(layers), { recursive: true })
  forgetOld(layers)
  const draft = mkdtempSync(`${layers}.`)
  try {
    const install = ['sh', '-c', INSTALL, 'install', ...packages]
    const ran = spawnSync('unshare', inLayers({ below: undefined, top: draft }, install), {
      encoding: 'utf8',
      timeout: INSTALL_TIMEOUT_MS,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      maxBuffer: 64 * 1024 * 1024,
    })
    if (ran.status !== 0)
      return (ran.error?.message ?? `${ran.stdout}${ran.stderr}`).trim().split('\n').slice(-3).join(' ')
    for (const part of ['work', 'keep']) rmSync(join(draft, part), { recursive: true, force: true })
    renameSync(draft, layers)
    return undefined
  } catch (error) {
    // Another run may have been first.
    return existsSync(layers) ? undefined : String(error)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const INSTALL = `set -e
patience='-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Dpkg::Options::=--force-unsafe-io -o Dpkg::Use-Pty=0'
# Programs are wanted, not services: nothing is started.
printf '#!/bin/sh\\nexit 101\\n' > /usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
apt-get $patience update -qq
apt-get $patience install -y -qq --no-install-recommends "$@"
apt-get clean
mkdir -p /etc/cloud
touch /etc/cloud/cloud-init.disabled`

/** Arguments of `unshare` that run a command in layers: new files go to the topmost, others lie below it. */
export function inLayers(
  { below, top }: { readonly below: string | undefined; readonly top: string },
  command: readonly string[],
): readonly string[] {
  const kept = ['/var/tmp', process.cwd(), dirname(import.meta.dirname), cacheFolder()]
  const covered = kept.filter((path) => COVERED.some((part) => path.startsWith(`/${part}/`)) && existsSync(path))
  return [
    '--mount',
    '--propagation',
    'private',
    'sh',
    '-c',
    ENTER,
    'enter',
    top,
    below ?? '',
    covered.join('\n'),
    process.cwd(),
    ...command,
  ]
}

const ENTER = `set -eu
top=$1 below=$2 kept=$3 here=$4
shift 4
resolver=$(cat /etc/resolv.conf 2>/dev/null || true)
mount -t tmpfs -o mode=755 croft-tests /run
mkdir -p "$top/keep" /run/lock
# What the tests share with the computer is set aside before it is covered, and put back above the cover.
each_kept() {
  number=0
  printf '%s\\n' "$kept" | while read -r path; do
    [ -n "$path" ] || continue
    number=$((number + 1))
    "$1" "$top/keep/$number" "$path"
  done
}
set_aside() { mkdir -p "$1"; mount --rbind "$2" "$1"; }
put_back() { mkdir -p "$2"; mount --rbind "$1" "$2"; }
each_kept set_aside
for part in ${COVERED.join(' ')}; do
  mkdir -p "$top/$part" "$top/work/$part"
  mount -t overlay croft-tests -o "lowerdir=\${below:+$below/$part:}/$part,upperdir=$top/$part,workdir=$top/work/$part" "/$part"
done
each_kept put_back
if [ -L /etc/resolv.conf ]; then rm /etc/resolv.conf; printf '%s\\n' "$resolver" > /etc/resolv.conf; fi
cd "$here"
exec "$@"`

/** Says to a run in layers which process started it, and waits for it. */
export const STARTER = 'CROFT_TEST_STARTER'

/** The topmost layer of a run: in the namespace's own /run, in memory, so that it is gone when the last process is. */
const THROW_AWAY = '/run/croft-tests'

function replaceSelf(layers: string): never {
  // The channel to the process that started this one cannot go along; its number must not either.
  const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const unshare = findCommand('unshare') ?? 'unshare'
  const { execve } = process
  if (execve === undefined) throw new Error('this Node cannot replace itself')
  return execve(unshare, [unshare, ...inLayers({ below: layers, top: THROW_AWAY }, again)], {
    ...(env as Record<string, string>),
    [INSIDE]: layers,
    ...(!process.connected ? {} : { [STARTER]: String(process.ppid) }),
  })
}
