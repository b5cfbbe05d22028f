import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { createVirtualClock } from '../../sim/virtual-clock.ts'
import { startWatchdog, watchdogIntervalMs } from './watchdog.ts'

test('[S-44] a watchdog is told from the loop itself, three times in what systemd waits, and no longer once it is stopped', async () => {
  const clock = createVirtualClock(0)
  const heard: string[] = []
  const notify = async (words: readonly string[], env: Readonly<Record<string, string>>) => {
    heard.push(`${words.join(' ')} ${env.NOTIFY_SOCKET} ${Object.keys(env).sort().join()}`)
    if (heard.length === 2) throw new Error('no such program')
  }
  const env = { WATCHDOG_USEC: '30000000', NOTIFY_SOCKET: '/run/x', PATH: '/usr/bin', PROXMOX_TOKEN: 'canary' }
  const dog = startWatchdog(env, clock, notify)
  await clock.advanceTo(35_000)
  assert.deepEqual(heard, Array(4).fill('WATCHDOG=1 /run/x NOTIFY_SOCKET,PATH'))
  dog.stop()
  await clock.advanceTo(100_000)
  assert.equal(heard.length, 4)
})

test('[S-44] without systemd nothing is started', async () => {
  const clock = createVirtualClock(0)
  for (const env of [
    {},
    { WATCHDOG_USEC: '1000000' },
    { NOTIFY_SOCKET: '/x' },
    { WATCHDOG_USEC: 'x', NOTIFY_SOCKET: '/x' },
  ])
    startWatchdog(env, clock, () => assert.fail('it was told')).stop()
  assert.equal(watchdogIntervalMs({ WATCHDOG_USEC: '0' }), undefined)
})

test('[S-44] the unit has a watchdog, and lets the notices in', () => {
  const unit = readFileSync(new URL('../../deploy/croft.service', import.meta.url), 'utf8')
  assert.match(unit, /^WatchdogSec=\d+/m)
  assert.match(unit, /^NotifyAccess=all$/m)
})

test('[S-44] the program itself speaks to systemd-notify when systemd asks for it', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'croft-watchdog-'))
  try {
    const program = path.join(folder, 'systemd-notify')
    writeFileSync(program, `#!/bin/sh\necho "$@ $NOTIFY_SOCKET" >> ${folder}/heard\n`)
    chmodSync(program, 0o755)
    writeFileSync(path.join(folder, 'croft.yaml'), JSON.stringify({ sources: [{ directory: folder }], listen: 'off' }))
    const croft = new URL('../../bin/croft', import.meta.url).pathname
    // Ended by a signal as soon as it has been heard once.
    spawnSync(
      '/bin/sh',
      [
        '-c',
        `"$0" "$1" run --config croft.yaml --state s.db & p=$!; n=0; while [ ! -s heard ] && [ $n -lt 1200 ]; do sleep 0.1; n=$((n+1)); done; kill $p; wait $p`,
        process.execPath,
        croft,
      ],
      {
        cwd: folder,
        env: {
          PATH: `${folder}:${process.env.PATH}`,
          HOME: folder,
          WATCHDOG_USEC: '60000000',
          NOTIFY_SOCKET: '/run/n',
        },
      },
    )
    assert.match(readFileSync(path.join(folder, 'heard'), 'utf8'), /^WATCHDOG=1 \/run\/n$/m)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
