import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LIBVIRT_PACKAGES, REAL_PACKAGES, TEST_PACKAGES } from '../../scripts/packages.ts'
import { enterTestSystem } from '../../scripts/test-system.ts'
import { bootBuiltImage, refuseUsedImage } from './boot-image.ts'
import { refuseDirtyImage } from './dirty-image.ts'
import { imageManifest, sshHost } from './manifests.ts'
import { cannotRun } from './needs.ts'
import { croft, run } from './processes.ts'
import { startSshd } from './sshd.ts'

/*
 * `npm run test:real`: real libvirtd and QEMU, with guests from an image that croft itself made. Images are made out
 * here, where there are mirrors. Everything else happens in separate namespaces (network, mounts, processes): no packet
 * leaves them, and they go with the last process. `node bin/run test/real/run.ts --long` starts a used image too.
 */

const BUILD_MS = 1_200_000
const STORY_MS = 1_500_000
/** What the inner program ends with where libvirtd itself does not come up. */
const NO_LIBVIRT = 75
const BUILDER_PORT = 20_222

const startedMs = Date.now()
const print = (line: string) => process.stdout.write(`${line}\n`)
const seconds = () => `${Math.round((Date.now() - startedMs) / 1000)} s`

enterTestSystem([...TEST_PACKAGES, ...REAL_PACKAGES, ...LIBVIRT_PACKAGES], { make: true })
const reason = cannotRun()
if (reason !== undefined) {
  print(`test:real is skipped: ${reason}`)
  process.exit(0)
}

// QEMU runs as another user, which must be able to reach it.
const scratch = mkdtempSync('/var/tmp/croft-real-')
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
process.exitCode = await main().catch((error: unknown) => {
  print(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return 1
})
print(`test:real ${process.exitCode === 0 ? 'passed' : 'failed'} after ${seconds()}`)
process.exit()

async function main(): Promise<number> {
  await refuseDirtyImage(scratch)
  print('[R16] an image that was in use is refused by every rule')
  // Nothing is kept from run to run: mirrors change, and both images are to be made of the same packages.
  const cache = join(scratch, 'cache-here')
  mkdirSync(cache)
  const here = await build('here', cache, imageManifest())
  print(`the image ${here.slice(0, 12)} was made and found clean here after ${seconds()}`)
  const estate = join(scratch, 'estate-here')
  await bootBuiltImage(estate, { ...process.env, XDG_CACHE_HOME: cache, HOME: scratch })
  print(`verify --boot started it and found nothing wrong, and the image is as it was, after ${seconds()}`)
  // A second boot in software emulation takes minutes more than a run of everything has: table tests hold what it judges.
  if (process.argv.includes('--long')) {
    await refuseUsedImage(scratch, join(cache, 'croft/images'))
    print(`verify --boot refuses a copy whose identity machines would share, after ${seconds()}`)
  }
  const there = await buildOverSsh()
  if (there !== here) assert.fail(`the same declaration gave other bytes on another computer: ${differing(cache)}`)
  print(`the same bytes were made on a host over SSH after ${seconds()}`)
  const code = await story(cache)
  if (code === NO_LIBVIRT) print('test:real is skipped: libvirtd does not start here')
  return code === NO_LIBVIRT ? 0 : code
}

/** Rebuilds the image, verifies it, and returns its checksum. */
async function build(name: string, cache: string, manifests: string): Promise<string> {
  const estate = join(scratch, `estate-${name}`)
  mkdirSync(estate)
  writeFileSync(join(estate, 'image.yaml'), manifests)
  const env = { ...process.env, XDG_CACHE_HOME: cache, HOME: scratch }
  const call = (what: string) =>
    croft(['image', what, 'debian', '--dir', estate], { env, timeoutMs: BUILD_MS, onLine: shownAtTimes() })
  const built = await call('build')
  assert.equal(built.code, 0, built.stderr.slice(-3000))
  const verified = await call('verify')
  assert.equal(verified.code, 0, `${verified.stdout}${verified.stderr}`)
  assert.match(verified.stdout, /^Clean: machine-id, /m)
  return /^sha256:([0-9a-f]{64})$/m.exec(built.stdout)?.[1] ?? assert.fail(built.stdout)
}

/** Returns the files that differ between the two images, to find the cause. */
function differing(cache: string): string {
  const look = `set -eu
    cd "$1"
    for name in a b; do
      start=$(sfdisk --json "$name.raw" | tr -d ' \\t\\n' | sed 's/.*"start":\\([0-9]*\\).*/\\1/')
      mkdir "$name" && mount -o ro,noload,loop,offset=$((start * 512)) "$name.raw" "$name"
    done
    diff -rq --no-dereference a b || true; cmp a.raw b.raw || true`
  for (const [name, folder] of [
    ['a', join(cache, 'croft/images')],
    ['b', join(scratch, 'builder/empty/images')],
  ] as const) {
    const [file = ''] = readdirSync(folder).filter((one) => one.endsWith('.qcow2'))
    run('qemu-img', 'convert', '-O', 'raw', join(folder, file), join(scratch, `${name}.raw`))
  }
  return run('unshare', '--mount', '--propagation', 'private', 'sh', '-c', look, 'croft', scratch).slice(0, 3000)
}

async function buildOverSsh(): Promise<string> {
  const key = join(scratch, 'builder-key')
  run('ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key)
  const hidden = '/var/cache/croft'
  mkdirSync(hidden, { recursive: true })
  const sshd = await startSshd({
    directory: scratch,
    name: 'builder',
    port: BUILDER_PORT,
    letsIn: `${key}.pub`,
    hidden,
  })
  try {
    const host = sshHost('builder', BUILDER_PORT, sshd.hostKey, key)
    return await build('there', join(scratch, 'cache-there'), `${host}---\n${imageManifest('builder')}`)
  } finally {
    await sshd.stop()
  }
}

function shownAtTimes(): (line: string) => void {
  let lines = 0
  return (line) => {
    if (lines++ % 10 === 2) print(`  ${line}`)
  }
}

/** Runs the story of the guests. Its processes end with it, and with this program. */
function story(cache: string): Promise<number> {
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
      // The shell reaps orphaned processes: libvirt waits until its QEMUs are gone.
      'sh',
      '-c',
      '"$@" & wait $!',
      'croft',
      process.execPath,
      join(import.meta.dirname, 'libvirt.ts'),
      scratch,
      cache,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'], timeout: STORY_MS, killSignal: 'SIGKILL' },
  )
  process.once('exit', () => child.kill('SIGKILL'))
  return new Promise((done) => child.on('exit', (status) => done(status ?? 1)))
}
