import type { Shell } from '../../lib/shell.ts'
import type { Outcome } from '../../model/step.ts'

const UNIT = 'croft-power-off.service'
const PLACE = `/etc/systemd/system/${UNIT}`

/** The unit's first output: earlier journal lines are from another time. */
const FIRST_WORD = 'croft: everything else is off'

/**
 * Returns the unit with which croft's own host goes down without croft: first K3s, if it exists, then the box. Its
 * journal is read when croft starts again.
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

/** Installs and starts the unit, without waiting: croft goes down with the host. */
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

/** Returns the output of the unit's last run, in any boot. */
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
