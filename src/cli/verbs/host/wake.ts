import { magicPacket } from '../../../lib/wake.ts'
import { closing } from '../../closing.ts'
import { CliError, EXIT, type ExitCode } from '../../exit.ts'
import type { Runtime } from '../../runtime.ts'
import { openState, stateFile } from '../../state.ts'
import type { Options } from '../../verb.ts'
import { noteOperation } from '../machine/journal.ts'
import type { NamedHost } from './find.ts'

/** A packet can be lost, and nobody answers it. */
const TIMES = 3

/** Wakes a host by its card. */
export async function wake(runtime: Runtime, host: NamedHost, options: Options): Promise<ExitCode> {
  const { name, spec, key } = host.declaration
  if (spec.wake === undefined)
    throw new CliError(`${name} does not say how it is woken. Add wake: {mac: …} to its Host.`)
  if (runtime.sendDatagram === undefined) throw new CliError('No packet can be sent from here.')
  const { mac, broadcast, port } = spec.wake
  const packet = magicPacket(mac)
  for (let time = 0; time < TIMES; time++) {
    await runtime.sendDatagram(broadcast, port, packet).catch((error: Error) => {
      throw new CliError(`The packet to ${broadcast} could not be sent: ${error.message}. Correct wake.broadcast.`)
    })
  }
  await using store = closing(
    await openState(runtime, stateFile(runtime.env, host.real, options.state as string | undefined)),
  )
  await noteOperation(runtime, store.it, key, 'wake', 'done', `a magic packet for ${mac} went to ${broadcast}`)
  runtime.out.write(`${name} was woken: a magic packet for ${mac} went to ${broadcast} port ${port}.\n`)
  return EXIT.ok
}
