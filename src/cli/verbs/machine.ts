import { CliError, EXIT, UsageError, type Verb } from '../verb.ts'
import { type AskedMachine, loadForOperation, machineNamed, withGuest } from './machine/find.ts'
import { exec, inside, read, write } from './machine/inside.ts'
import { afterPower, perform, powered, reboot } from './machine/power.ts'
import { snapshots } from './machine/snapshots.ts'

const VERBS = 'start, stop, reboot, console, snapshots, snapshot, revert, drop-snapshot, exec, read or write'

/** Operations on one machine: what a person does now, in addition to what Git declares. */
export const run: Verb = async (runtime, [what = '', name = '', ...words], options) => {
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const resource = machineNamed(estate, name)
  const asked: AskedMachine = { runtime, directory: real, estate, resource, options }
  switch (what) {
    case 'start':
    case 'stop': {
      const power: 'running' | 'stopped' = what === 'start' ? 'running' : 'stopped'
      const afterwards = afterPower(resource, power)
      const wish = {
        what,
        resource: powered(resource, power),
        done: what === 'start' ? 'started' : 'stopped',
        instead: `power: ${power === 'running' ? "'on'" : "'off'"}`,
        power,
        ...(afterwards === undefined ? {} : { afterwards }),
      }
      return perform(asked, wish)
    }
    case 'reboot':
      return reboot(asked)
    case 'exec':
      return inside(asked, what, exec(runtime, words, options))
    case 'read':
      return inside(asked, what, read(runtime, words))
    case 'write':
      return inside(asked, what, write(runtime, words, options))
    case 'console':
      return withGuest(asked, async (session, observed) => {
        if (session.console === undefined) throw new CliError(`${resource.driver} leads to no console of ${name}.`)
        runtime.out.write(`${session.console.lines(observed).join('\n')}\n`)
        return EXIT.ok
      })
    case 'snapshots':
    case 'snapshot':
    case 'revert':
    case 'drop-snapshot':
      return snapshots(asked, what, words[0])
    default:
      throw new UsageError(`There is no croft machine ${what}. Use ${VERBS}.`)
  }
}
