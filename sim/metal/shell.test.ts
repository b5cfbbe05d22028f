import { seededRandom } from '../../src/lib/random.ts'
import type { Shell } from '../../src/lib/shell.ts'
import { fileConformance } from '../../src/ssh/testing/conformance.ts'
import { createVirtualClock } from '../virtual-clock.ts'
import { createWorld } from '../world/create-world.ts'
import { addBox } from './box.ts'
import { metalShell } from './shell.ts'

fileConformance('a simulated host', async () => {
  const clock = createVirtualClock(Date.parse('2026-11-15T01:32:09Z'))
  const world = createWorld({ clock, random: seededRandom(1) })
  const { machine } = addBox(world, { name: 'h1', addresses: ['10.67.0.1'] })
  machine.files.makeFolder('/srv/suite')
  const real = metalShell(world, 'h1')
  const shell: Shell = {
    run: (argv, options) => clock.runUntil(real.run(argv, options)),
    readFile: (path, signal) => clock.runUntil(real.readFile(path, signal)),
    writeFile: (path, content, options) => clock.runUntil(real.writeFile(path, content, options)),
    close: () => real.close(),
  }
  return { shell, directory: '/srv/suite', exists: async (path) => machine.files.read(path) !== undefined }
})
