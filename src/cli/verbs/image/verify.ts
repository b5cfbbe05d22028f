import { bootImage } from '../../../images/boot.ts'
import { BOOT_CHECKS, type BootJudgement, judgeBoot } from '../../../images/boot-judge.ts'
import type { Accelerator, ImageBoot } from '../../../images/boot-machine.ts'
import type { BootReport } from '../../../images/boot-program.ts'
import { BuildFailed, verifyImage } from '../../../images/build.ts'
import { CLEAN_RULES } from '../../../images/cleanliness.ts'
import type { Random } from '../../../lib/random.ts'
import type { Shell } from '../../../lib/shell.ts'
import { closing } from '../../load.ts'
import { timeoutOf } from '../../render/duration.ts'
import { clean } from '../../render/text.ts'
import type { Runtime } from '../../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options } from '../../verb.ts'
import { type NamedImage, shellsOf } from './find.ts'

/** Console lines that show where a boot has stopped. */
const CONSOLE_LINES = 15

/** Looks into the image that was built, and with --boot starts it. Exit 1 when anything is not as it must be. */
export async function verify(runtime: Runtime, image: NamedImage, options: Options): Promise<ExitCode> {
  const limitMs = timeoutOf(options.timeout)
  const open = await shellsOf(runtime, image)
  await using builder = closing(open(image.builder))
  try {
    const tidy = await isClean(runtime, image, builder.it)
    if (options.boot !== true) return tidy ? EXIT.ok : EXIT.failed
    const boots = await bootsWell(runtime, image, builder.it, limitMs)
    return tidy && boots ? EXIT.ok : EXIT.failed
  } catch (error) {
    if (!(error instanceof BuildFailed)) throw error
    const { name } = image.declaration
    const there = await builder.it.run(['test', '-e', image.plan.output], { signal: runtime.signal })
    throw new CliError(
      there.code === 0
        ? `${clean(error.message)}.`
        : `Image ${name} is not built. Build it first: croft image build ${name}.`,
    )
  }
}

async function isClean(runtime: Runtime, { plan }: NamedImage, builder: Shell): Promise<boolean> {
  const residues = await verifyImage(plan.output, builder, runtime.signal)
  for (const { rule, path, why } of residues) runtime.out.write(`${rule}: ${clean(path)}: ${why}\n`)
  if (residues.length === 0) runtime.out.write(`Clean: ${CLEAN_RULES.join(', ')}.\n`)
  return residues.length === 0
}

async function bootsWell(runtime: Runtime, { plan }: NamedImage, builder: Shell, limitMs: number): Promise<boolean> {
  const boot: ImageBoot = { architecture: plan.spec.architecture, uuid: uuidOf(runtime.random) }
  const { report, accelerator } = await bootImage(plan.output, boot, builder, {
    limitMs,
    signal: runtime.signal,
    onStart: (how) => runtime.err.write(`Starting it in QEMU ${WITH[how]}.\n`),
  })
  const judgement = judgeBoot(report, boot.uuid)
  tell(runtime, report, judgement, accelerator)
  return judgement.findings.length === 0
}

const WITH: Readonly<Record<Accelerator, string>> = {
  kvm: 'with hardware acceleration (KVM)',
  tcg: 'in software emulation, which takes minutes',
}

function tell(
  runtime: Runtime,
  report: BootReport,
  { findings, unknown }: BootJudgement,
  accelerator: Accelerator,
): void {
  for (const { check, problem, next } of findings)
    runtime.out.write(`${check}: ${clean(problem)}. To mend it: ${clean(next)}.\n`)
  if (unknown.length > 0) runtime.out.write(`Not known, as the machine told nothing: ${unknown.join(', ')}.\n`)
  if (findings.length === 0) {
    const how = accelerator === 'kvm' ? 'with KVM' : 'in software emulation'
    runtime.out.write(`Booted ${how}, agent after ${report.agent} s: ${BOOT_CHECKS.join(', ')}.\n`)
    return
  }
  const lines = report.console.split(/[\r\n]+/).filter((line) => line.trim() !== '')
  if (lines.length === 0) return
  runtime.out.write('The end of its console:\n')
  for (const line of lines.slice(-CONSOLE_LINES)) runtime.out.write(`  ${clean(line)}\n`)
}

/** Returns a new uuid per start, so that ids which the machine derives from it are new too. */
function uuidOf(random: Random): string {
  const digit = (of: number) => Math.floor(random.next() * of).toString(16)
  return 'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => digit(16))
}
