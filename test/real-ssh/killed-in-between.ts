// Performs commands on a host as croft does, and says when it is about to prove that the host still lets us in. The
// caller ends it there, as a power cut would.
import type { Command } from '../../src/drivers/ssh/command.ts'
import { performCommands } from '../../src/drivers/ssh/perform.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { seededRandom } from '../../src/lib/random.ts'
import { Secret, type SshTarget } from '../../src/model/secret.ts'
import { createShells } from '../../src/ssh/open.ts'

const { target, commands } = JSON.parse(process.env.LAB_ORDER ?? '{}') as {
  target: SshTarget
  commands: readonly Command[]
}
const resolveSecret = () => Promise.resolve(new Secret(''))
const { PATH = '', HOME = '' } = process.env
const shells = createShells({ env: { PATH, HOME }, clock: systemClock, random: seededRandom(3), resolveSecret })
const prove = () => {
  process.stdout.write('proving\n')
  return new Promise<void>(() => setInterval(() => undefined, 1_000))
}
const hands = { host: target.name, shell: shells.open(target), prove, resolveSecret }
const outcome = await performCommands(commands, hands, new AbortController().signal)
process.stdout.write(`${JSON.stringify(outcome)}\n`)
process.exit(1)
