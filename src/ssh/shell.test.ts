import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { systemClock } from '../lib/clock.ts'
import { seededRandom } from '../lib/random.ts'
import { Secret } from '../model/secret.ts'
import { openLocalShell } from './local-shell.ts'
import { createShells } from './open.ts'
import { shellConformance } from './testing/conformance.ts'
import { sshdMissing, startSshd } from './testing/sshd.ts'

const cleanups: (() => unknown)[] = []
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

function place() {
  const directory = mkdtempSync(join(tmpdir(), 'croft-shell-'))
  cleanups.push(() => rmSync(directory, { recursive: true, force: true }))
  return { directory, exists: async (path: string) => existsSync(path) }
}

shellConformance('here', async () => {
  const shell = openLocalShell({
    name: 'here',
    env: process.env,
    become: 'none',
    clock: systemClock,
    random: seededRandom(1),
  })
  return { shell, ...place() }
})

shellConformance('over ssh', async () => {
  const skip = sshdMissing()
  if (skip !== undefined) return { skip }
  const sshd = await startSshd()
  cleanups.push(() => sshd.stop())
  const shells = createShells({
    env: process.env,
    clock: systemClock,
    random: seededRandom(2),
    resolveSecret: async () => new Secret(''),
  })
  cleanups.push(() => shells.close())
  return { shell: shells.open(sshd.target()), ...place() }
})
