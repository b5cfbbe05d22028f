import { ObservationFailed } from '../../drivers/port.ts'
import type { RemoteTerminal } from '../../lib/remote-terminal.ts'
import { ownState } from '../load.ts'
import { note } from '../output.ts'
import { clean } from '../render/text.ts'
import { CliError, EXIT, type Verb } from '../verb.ts'
import { type AskedMachine, loadForOperation, machineNamed, noteOperation, withGuest } from './machine/find.ts'

/** The serial console of a machine on this terminal, until Ctrl and ] or until it ends there. */
export const run: Verb = async (runtime, [name = ''], options) => {
  const { estate, real } = await loadForOperation(runtime, String(options.dir))
  const resource = machineNamed(estate, name)
  const asked: AskedMachine = { runtime, directory: real, estate, resource, options }
  const { keyboard } = runtime
  if (keyboard === undefined) throw new CliError('There is no terminal here.')
  return withGuest(asked, async (session, observed) => {
    const { console } = session
    if (console === undefined) throw new CliError(`The driver ${resource.driver} has no console: ${name} has none.`)
    let terminal: RemoteTerminal
    try {
      terminal = await console.open(observed, keyboard.size(), runtime.signal)
    } catch (error) {
      if (!(error instanceof ObservationFailed)) throw error
      await tell(asked, 'refused', error.message)
      throw new CliError(error.message)
    }
    await tell(asked, 'done', `console of ${observed.externalId} on ${observed.host}`)
    note(runtime, `Console of ${clean(name)}. Leave it with Ctrl-]. Press Enter if nothing shows.`)
    const how = await keyboard.attach(terminal, runtime.signal)
    note(
      runtime,
      how === 'left' ? `\nLeft the console of ${clean(name)}.` : `\nThe console of ${clean(name)} has ended.`,
    )
    return EXIT.ok
  })
}

/** The store is open only for the note: a console may last for hours, and others need it. */
async function tell(asked: AskedMachine, outcome: 'done' | 'refused', message: string): Promise<void> {
  await using store = await ownState(asked.runtime, asked.directory, asked.options)
  await noteOperation(asked.runtime, store.it, asked.resource.key, 'console', outcome, message)
}
