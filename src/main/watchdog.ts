import type { Clock } from '../lib/clock.ts'

export interface Watchdog {
  stop(): void
}

/**
 * Tells systemd that this process is alive, from the event loop that serves all requests: if it hangs, systemd restarts
 * croft. `WATCHDOG_USEC` is systemd's timeout. Sends notices through `systemd-notify`, because Node has no datagrams
 * over Unix sockets; so the unit accepts notices from all its processes (`NotifyAccess=all`).
 */
export function startWatchdog(
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  notify: (words: readonly string[], env: Readonly<Record<string, string>>) => Promise<void>,
): Watchdog {
  const stopping = new AbortController()
  const intervalMs = watchdogIntervalMs(env)
  const { NOTIFY_SOCKET: socket, PATH = '/usr/bin:/bin' } = env
  if (intervalMs === undefined || socket === undefined || socket === '') return { stop() {} }
  const turn = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // A failed notice is not repeated sooner: the next one comes well before systemd gives up.
      await notify(['WATCHDOG=1'], { NOTIFY_SOCKET: socket, PATH }).catch(() => {})
      await clock.sleep(intervalMs, stopping.signal)
    }
  }
  void turn()
  return { stop: () => stopping.abort() }
}

/** Returns a third of systemd's timeout, so that one lost notice is no death. Undefined: there is no watchdog. */
export function watchdogIntervalMs({ WATCHDOG_USEC: text = '' }: Readonly<Record<string, string | undefined>>) {
  const ms = /^[1-9]\d{0,15}$/.test(text) ? Number(text) / 1000 : undefined
  return ms === undefined ? undefined : Math.max(100, Math.floor(ms / 3))
}
