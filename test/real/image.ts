import { type BuiltImage, buildImage } from '../../src/images/build.ts'
import { buildPlan } from '../../src/images/build-plan.ts'
import { systemClock } from '../../src/lib/clock.ts'
import type { Shell } from '../../src/lib/shell.ts'
import { openLocalShell } from '../../src/ssh/local-shell.ts'

export function localShell(): Shell {
  return openLocalShell({
    name: 'here',
    env: process.env,
    become: 'none',
    clock: systemClock,
    random: { next: () => Math.random() },
  })
}

/** The image that the machines of the real test are made from; made once and kept. */
export function realImage(directory: string, print: (line: string) => void): Promise<BuiltImage> {
  const plan = buildPlan(
    {
      name: 'real',
      architecture: 'amd64',
      from: { type: 'debian', suite: 'bookworm' },
      packages: [],
      files: [{ path: '/etc/croft-test', content: 'put in by the build\n', mode: '0644' }],
      sizeMb: 2048,
      epoch: 1_760_000_000,
    },
    directory,
  )
  return buildImage(plan, localShell(), {
    signal: AbortSignal.timeout(400_000),
    onStep: (summary, at, count) => {
      if (at % 10 === 3) print(`building the image: ${summary} (${at} of ${count})`)
    },
  })
}
