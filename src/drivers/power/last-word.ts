import type { Shell } from '../../lib/shell.ts'
import type { Outcome } from '../../model/verdict.ts'

const UNIT = 'croft-power-off.service'
const PLACE = `/etc/systemd/system/${UNIT}`

/**
 * The unit by which the box that croft runs on goes down when croft can no longer see to it: K3s first, if it is there,
 * then the box. What it does stands in its journal, which is read when croft starts again.
 */
export function unitText(): string {
  return `[Unit]
Description=Switch this box off, in order, after everything else
Documentation=https://croft.dev/docs/power

[Service]
Type=oneshot
ExecStart=/bin/sh -c 'echo "croft: everything else is off"; for unit in k3s k3s-agent; do if systemctl is-active --quiet $unit; then echo "croft: stop $unit"; systemctl stop $unit; fi; done; sync; echo "croft: power off"; systemctl poweroff --no-block'
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

/** What the unit wrote in the boot before this one. */
export async function lastWords(shell: Shell, signal: AbortSignal): Promise<readonly string[]> {
  try {
    const said = await shell.run(
      ['journalctl', '--unit', UNIT, '--boot', '-1', '--output', 'short-iso', '--no-pager'],
      {
        signal,
      },
    )
    if (said.code !== 0) return []
    return said.stdout
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('--'))
      .slice(-50)
  } catch {
    return []
  }
}

function refused(message: string): Outcome {
  return { result: 'refused', refusal: { reason: 'UnitRefused', meaning: 'backoff', message } }
}
