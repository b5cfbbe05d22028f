import { createExperiments } from '../../../experiments.ts'
import { between } from '../../../world/chance.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'

/** A host that is told to go down takes its guests along, each in order, and is gone when the last one is. */
export const nodePowerRoutes: Routes = {
  'POST /nodes/{node}/status': (call) => {
    const host = hostOf(call)
    const { life } = host
    const command = param(call, 'command')
    const later = (ms: number, act: () => void) => call.world.clock.schedule(call.world.clock.now() + ms, act)
    later(downMs(call), () => {
      if (host.life !== life || host.power === 'off') return
      createExperiments(call.world).hostPower(host.name, 'off')
      if (command === 'reboot') later(between(call.world.random, call.world.timing.bootMs), () => start(call))
    })
    return null
  },
}

function start(call: Call): void {
  createExperiments(call.world).hostPower(hostOf(call).name, 'on')
}

function downMs({ world }: Call): number {
  return between(world.random, world.timing.shutdownMs)
}
