import { isoImage } from '../cloudinit/iso.ts'
import { cleanText } from '../lib/clean-text.ts'
import type { Shell } from '../lib/shell.ts'
import {
  type Accelerator,
  bootNeeds,
  bootPlace,
  bootSeed,
  bootWords,
  type ImageBoot,
  MACHINE_OF,
} from './boot-machine.ts'
import { BOOT_PROGRAM, type BootReport, lookRequest, readBootReport } from './boot-program.ts'
import { BuildFailed, missingPackages } from './build.ts'

/** With hardware acceleration a machine answers in half a minute. Where /dev/kvm exists and does not work, it never does. */
const KVM_PATIENCE_SECONDS = 120
/** How long before the deadline the machine stops waiting for cloud-init and reports. */
const TELL_SECONDS = 60
/** For ending what was started, and for printing. */
const MARGIN_MS = 180_000

export interface BootOptions {
  /** All that one start may take. */
  readonly limitMs: number
  readonly signal: AbortSignal
  onStart?(accelerator: Accelerator): void
}

/**
 * Starts an image in QEMU on the computer with the image, and returns its observations. The image is only read. Tries
 * hardware acceleration first; an image that does not answer is started again in software emulation.
 */
export async function bootImage(
  path: string,
  boot: ImageBoot,
  shell: Shell,
  options: BootOptions,
): Promise<{ readonly report: BootReport; readonly accelerator: Accelerator }> {
  const { signal } = options
  const missing = await missingPackages(bootNeeds(boot.architecture), shell, signal)
  if (missing.length > 0)
    throw new BuildFailed(`an image cannot be started here without: apt-get install ${missing.join(' ')}`)
  if (await accelerates(boot, shell, signal)) {
    const report = await start(path, boot, shell, { ...options, accelerator: 'kvm' })
    if (typeof report.agent === 'number') return { report, accelerator: 'kvm' }
  }
  return { report: await start(path, boot, shell, { ...options, accelerator: 'tcg' }), accelerator: 'tcg' }
}

async function accelerates({ architecture }: ImageBoot, shell: Shell, signal: AbortSignal): Promise<boolean> {
  const asked = await shell.run(['sh', '-c', '[ -w /dev/kvm ] && uname -m'], { signal })
  return asked.code === 0 && asked.stdout.trim() === MACHINE_OF[architecture]
}

async function start(
  path: string,
  boot: ImageBoot,
  shell: Shell,
  { accelerator, limitMs, signal, onStart }: BootOptions & { readonly accelerator: Accelerator },
): Promise<BootReport> {
  const made = await mustRun(['mktemp', '-d', '/var/tmp/croft-boot-XXXXXXXX'], shell, signal)
  const work = made.trim()
  const place = bootPlace(work)
  const limit = Math.ceil(limitMs / 1000)
  const patience = accelerator === 'kvm' ? Math.min(KVM_PATIENCE_SECONDS, limit) : limit
  try {
    const files = bootSeed(boot).map(({ name, text }) => ({ name, bytes: Buffer.from(text, 'utf8') }))
    await shell.writeFile(place.seed, isoImage('CIDATA', files), { mode: 0o600, signal })
    await mustRun(['qemu-img', 'create', '-q', '-f', 'qcow2', '-b', path, '-F', 'qcow2', place.overlay], shell, signal)
    onStart?.(accelerator)
    const words = [
      work,
      String(limit),
      String(patience),
      lookRequest(Math.max(limit - TELL_SECONDS, TELL_SECONDS)),
      ...bootWords(place, { ...boot, accelerator }),
    ]
    const ran = await shell.run(['sh', '-c', BOOT_PROGRAM, 'croft', ...words], {
      signal,
      timeoutMs: limitMs + MARGIN_MS,
    })
    const report = readBootReport(ran.stdout)
    if (report === undefined) throw new BuildFailed(`could not start ${path}: ${cleanText(ran.stderr)}`)
    return report
  } finally {
    await shell.run(['rm', '-rf', '--one-file-system', work], { timeoutMs: 120_000 }).catch(() => undefined)
  }
}

async function mustRun(argv: readonly string[], shell: Shell, signal: AbortSignal): Promise<string> {
  const ran = await shell.run(argv, { signal })
  if (ran.code !== 0) throw new BuildFailed(`${argv[0]} failed: ${cleanText(ran.stderr)}`)
  return ran.stdout
}
