import { magicPacket } from '../../lib/wake.ts'

import { ownState } from '../load.ts'
import type { Runtime } from '../runtime.ts'
import { CliError, EXIT, type ExitCode, type Options, UsageError, type Verb } from '../verb.ts'
import { copy, reboot, runProgram, uploadIso } from './host/deeds.ts'
import { diff } from './host/diff.ts'
import { enroll } from './host/enroll.ts'
import { devices, facts, iommu, pools, smart } from './host/facts.ts'
import { confirmed, hostNamed, type NamedHost, onHost } from './host/find.ts'
import { noteOperation } from './machine/find.ts'

/** Attempts: a packet can be lost, and then no answer comes. */
const TIMES = 3

/** Wakes a host by its card. */
async function wake(runtime: Runtime, host: NamedHost, options: Options): Promise<ExitCode> {
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
  await using store = await ownState(runtime, host.real, options)
  await noteOperation(runtime, store.it, key, 'wake', 'done', `a magic packet for ${mac} went to ${broadcast}`)
  runtime.out.write(`${name} was woken: a magic packet for ${mac} went to ${broadcast} port ${port}.\n`)
  return EXIT.ok
}

/** Operations on one physical box: what a person does now, in addition to what Git declares. */
export const run: Verb = async (runtime, [what = '', name = '', ...words], options) => {
  // A host that is being enrolled need not be declared yet.
  if (what === 'enroll') return enroll(runtime, name, options)
  const host = await hostNamed(runtime, name, options)
  switch (what) {
    case 'diff':
      return diff(runtime, host, options)
    case 'run':
      return onHost(runtime, host, what, runProgram(runtime, words, options), options)
    case 'copy':
      return onHost(runtime, host, what, copy(runtime, words, options), options)
    case 'upload-iso':
      return onHost(runtime, host, what, uploadIso(runtime, words, options), options)
    case 'reboot':
      await confirmed(runtime, `Restart ${name} now?`, options)
      return onHost(runtime, host, what, reboot(runtime, name), options)
    case 'wake':
      return wake(runtime, host, options)
    case 'facts':
      return onHost(runtime, host, what, facts(runtime, options), options)
    case 'devices':
      return onHost(runtime, host, what, devices(runtime, options), options)
    case 'iommu':
      return onHost(runtime, host, what, iommu(runtime), options)
    case 'smart':
      return onHost(runtime, host, what, smart(runtime), options)
    case 'pools':
      return onHost(runtime, host, what, pools(runtime), options)
    default:
      throw new UsageError(
        `There is no croft host ${what}. Use enroll, diff, run, copy, upload-iso, reboot, wake, facts, devices, iommu, smart or pools.`,
      )
  }
}
