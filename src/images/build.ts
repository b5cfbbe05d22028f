import { cleanText } from '../lib/clean-text.ts'
import { defined } from '../lib/defined.ts'
import type { Shell } from '../lib/shell.ts'
import type { BuildPlan } from './build-spec.ts'
import { judgeCleanliness, type Residue, readListing } from './cleanliness.ts'

export interface BuiltImage {
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  /** It existed already, built from the same inputs. */
  readonly reused: boolean
  readonly differences: readonly string[]
}

/** A failed build, with a message for people. */
export class BuildFailed extends Error {
  readonly residues: readonly Residue[]
  constructor(message: string, residues: readonly Residue[] = []) {
    super(message)
    this.name = 'BuildFailed'
    this.residues = residues
  }
}

export interface BuildOptions {
  readonly signal: AbortSignal
  onStep?(summary: string, index: number, count: number): void
}

/** Makes an image on a computer, or finds the one that was made there before. It is finished only if it is clean. */
export async function buildImage(plan: BuildPlan, shell: Shell, options: BuildOptions): Promise<BuiltImage> {
  const { signal } = options
  const { differences } = plan
  const there = await checksumOf(plan.output, shell, signal)
  if (there !== undefined) return { ...there, path: plan.output, reused: true, differences }
  await findPrograms(plan, shell, signal)
  try {
    for (const [index, step] of plan.steps.entries()) {
      options.onStep?.(step.summary, index + 1, plan.steps.length)
      const ran = await shell.run(step.argv, defined({ signal, timeoutMs: step.timeoutMs, input: step.input }))
      if (ran.code !== 0)
        throw new BuildFailed(
          `could not ${step.summary}: ${step.argv[0]} ended with ${ran.code}: ${cleanText(ran.stderr.slice(-2000))}`,
        )
    }
    const residues = await verifyRoot(`${plan.work}/root`, shell, signal)
    if (residues.length > 0) throw new BuildFailed('the image is not clean', residues)
    // Another build may have finished meanwhile, and disks may stand on its image: some mv say that as a failure.
    await shell.run(['mv', '-n', `${plan.work}/image.qcow2`, plan.output], { signal })
  } finally {
    await shell.run(['rm', '-rf', '--one-file-system', plan.work], { timeoutMs: 120_000 }).catch(() => undefined)
  }
  const made = await checksumOf(plan.output, shell, signal)
  if (made === undefined) throw new BuildFailed(`${plan.output} is not there although it was made`)
  return { ...made, path: plan.output, reused: false, differences }
}

/** Returns traces of earlier use in a root. */
export async function verifyRoot(root: string, shell: Shell, signal: AbortSignal): Promise<readonly Residue[]> {
  const ran = await shell.run(['find', root, '-xdev', '-mindepth', '1', '-printf', '%y %m %s %P\\n'], { signal })
  const entries = ran.code === 0 ? readListing(ran.stdout) : undefined
  if (entries === undefined) throw new BuildFailed(`could not list ${root}: ${cleanText(ran.stderr)}`)
  return judgeCleanliness(entries)
}

const LIST_IMAGE = `set -eu
work=$(mktemp -d)
trap 'umount "$work/mnt" 2>/dev/null || true; rm -rf "$work"' EXIT
qemu-img convert -O raw "$1" "$work/disk.raw"
start=$(sfdisk --json "$work/disk.raw" | tr -d ' \\t\\n' | sed 's/},{/}\\n{/g' | sed -n 's/.*"start":\\([0-9]*\\),"size":\\([0-9]*\\),.*/\\2 \\1/p' | sort -n | tail -1 | cut -d' ' -f2)
mkdir "$work/mnt"
mount -o ro,noload,loop,offset=$((start * 512)) "$work/disk.raw" "$work/mnt"
find "$work/mnt" -xdev -mindepth 1 -printf '%y %m %s %P\\n'`

/** Verifies a finished image of any origin. Needs a loop device. */
export async function verifyImage(path: string, shell: Shell, signal: AbortSignal): Promise<readonly Residue[]> {
  const argv = ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', LIST_IMAGE, 'croft', path]
  const ran = await shell.run(argv, { signal, timeoutMs: 600_000 })
  const entries = ran.code === 0 ? readListing(ran.stdout) : undefined
  if (entries === undefined) throw new BuildFailed(`could not look into ${path}: ${cleanText(ran.stderr)}`)
  return judgeCleanliness(entries)
}

export async function checksumOf(
  path: string,
  shell: Shell,
  signal: AbortSignal,
): Promise<{ readonly sha256: string; readonly bytes: number } | undefined> {
  const size = await shell.run(['stat', '-c', '%s', '--', path], { signal })
  if (size.code !== 0) return undefined
  const sum = await shell.run(['sha256sum', '--', path], { signal, timeoutMs: 600_000 })
  const sha256 = /^\\?([0-9a-f]{64})/.exec(sum.stdout)?.[1]
  return sha256 === undefined ? undefined : { sha256, bytes: Number(size.stdout.trim()) }
}

async function findPrograms(plan: BuildPlan, shell: Shell, signal: AbortSignal): Promise<void> {
  const missing = await missingPackages(plan.needs, shell, signal)
  if (missing.length > 0)
    throw new BuildFailed(`an image cannot be made here without: apt-get install ${missing.join(' ')}`)
}

/** The Debian packages that bring what is not there, each once. */
export async function missingPackages(
  needs: BuildPlan['needs'],
  shell: Shell,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const missing: string[] = []
  for (const { program, package: name } of needs) {
    const ran = await shell.run(['sh', '-c', 'command -v -- "$1" || [ -f "$1" ]', 'croft', program], { signal })
    if (ran.code !== 0) missing.push(name)
  }
  return [...new Set(missing)]
}
