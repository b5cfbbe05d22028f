import type { Commands, Outcome, Session } from './commands.ts'
import { runScript } from './shell.ts'

/** Runs what a unit of the type oneshot is made of, one line after the other; what it says is in the journal. */
export function runOneshot(unit: string, text: string, session: Session, commands: Commands): boolean {
  if (!/^Type=oneshot$/m.test(text)) return false
  for (const [, mayFail, line = ''] of text.matchAll(/^ExecStart=(-?)(.*)$/gm)) {
    const inner: Session = { ...session, out: '', err: '', exit: undefined, signal: undefined }
    runScript(line, inner, commands)
    const { journal, life } = session.machine
    for (const said of `${inner.out}${inner.err}`.split('\n').filter((one) => one !== ''))
      journal.push({ unit, life, atMs: session.nowMs, text: said })
    if ((inner.exit ?? 0) !== 0 && mayFail === '') break
  }
  return true
}

/** `journalctl --unit X`: every line of it that there is, oldest first. */
export function journalctl(args: readonly string[], { machine, computer }: Session): Outcome {
  const unit = args[args.indexOf('--unit') + 1]?.replace(/\.service$/, '')
  const lines = machine.journal.filter((line) => line.unit === unit)
  if (lines.length === 0) return { out: '-- No entries --\n' }
  const shown = lines.map(({ atMs, text }) => {
    const stamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, '+00:00')
    return `${stamp} ${computer.hostname()} ${unit}[4711]: ${text}\n`
  })
  return { out: shown.join('') }
}
