import type { Outcome, Session } from './commands.ts'

/** `who -u`, in UTC and with days as numbers, as it is asked for. */
export function who({ machine, nowMs }: Session): Outcome {
  const out = machine.logins.map(({ user, tty, from, sinceMs, keyMs }, at) => {
    const since = new Date(sinceMs).toISOString().slice(0, 16).replace('T', ' ')
    return `${user.padEnd(8)} ${tty.padEnd(12)} ${since} ${idle(nowMs - keyMs)} ${String(4000 + at).padStart(11)} (${from})\n`
  })
  return { out: out.join('') }
}

function idle(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return '  .  '
  if (minutes >= 24 * 60) return ' old '
  return [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
}
