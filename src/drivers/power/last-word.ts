import type { Shell } from '../../lib/shell.ts'
import type { Outcome } from '../../model/step.ts'

const UNIT = 'croft-power-off.service'
const PLACE = `/etc/systemd/system/${UNIT}`

/** The first thing the unit says: what stands before it in the journal is from another time. */
const FIRST_WORD = 'croft: everything else is off'

/**
 * The unit by which the box that croft runs on goes down when croft can no longer see to it: K3s first, if it is there,
 * then the box. What it does stands in its journal, which is read when croft starts again.
 */
export function unitText(): string {
  return `[Unit]
Description=Switch this box off, after everything else that croft keeps

[Service]
Type=oneshot
ExecStart=/bin/echo "${FIRST_WORD}"
ExecStart=-/usr/bin/systemctl stop k3s*.service
ExecStart=/bin/sync
ExecStart=/bin/echo "croft: K3s is stopped and the disks are written; power off"
ExecStart=/usr/bin/systemctl poweroff --no-block
TimeoutStartSec=600
`
}

/** Puts the unit in place and starts it, without waiting: the one who waits goes down with it. */
export async function goDownAlone(shell: Shell, signal: AbortSignal): Promise<Outcome> {
  try {
    await shell.writeFile(PLACE, unitText(), { mode: 0o644, signal })
    const reloaded = await shell.run(['systemctl', 'daemon-reload'], { signal })
    if (reloaded.code !== 0) return refused(`systemd did not take the unit: ${reloaded.stderr}`)
    const started = await shell.run(['systemctl', 'start', '--no-block', UNIT], { signal })
    return started.code === 0 ? { result: 'done' } : refused(`the unit did not start: ${started.stderr}`)
  } catch (error) {
    return { result: 'unclear', message: error instanceof Error ? error.message : String(error) }
  }
}

/** What the unit wrote when it last ran, in whichever boot that was. */
export async function lastWords(shell: Shell, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const asked = ['journalctl', '--unit', UNIT, '--output', 'short-iso', '--no-pager', '--lines', '50']
    const said = await shell.run(asked, { signal })
    if (said.code !== 0) return []
    const lines = said.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('--'))
    return lines.slice(
      Math.max(
        0,
        lines.findLastIndex((line) => line.includes(FIRST_WORD)),
      ),
    )
  } catch {
    return []
  }
}

function refused(message: string): Outcome {
  return { result: 'refused', refusal: { reason: 'UnitRefused', meaning: 'backoff', message } }
}
