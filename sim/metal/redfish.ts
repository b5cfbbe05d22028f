import { type Wire, WireFailure, type WireResponse } from '../../src/lib/wire.ts'
import type { Box, World } from '../world/types.ts'
import { shutDown, switchOff, switchOn } from './box.ts'

/** The way to the management controller of a simulated box, which speaks Redfish. */
export function redfishWire(world: World, name: string, watts = 60): Wire {
  return {
    async send({ method, path, body }) {
      await world.clock.sleep(ANSWER_MS)
      const box = world.metal.get(name)
      if (box === undefined) throw new WireFailure('no', 'ECONNREFUSED', `there is no controller of ${name}`)
      if (method === 'GET') return read(box, path, watts)
      if (path !== `${SYSTEM}/Actions/ComputerSystem.Reset`) return answer(404, {})
      const type = reset(world, box, String(body ?? ''))
      if (type === undefined) return answer(400, {})
      box.resets.push(type)
      if (box.bmcRepliesLost > 0) {
        box.bmcRepliesLost -= 1
        throw new WireFailure('maybe', 'ECONNRESET', 'connection reset by peer')
      }
      return answer(204, {})
    },
    close: async () => {},
  }
}

/** Management controllers are slow. */
const ANSWER_MS = 200
const SYSTEM = '/redfish/v1/Systems/1'
const CHASSIS = '/redfish/v1/Chassis/1'

function read(box: Box, path: string, watts: number): WireResponse {
  switch (path) {
    case '/redfish/v1/Systems':
      return answer(200, { Members: [{ '@odata.id': SYSTEM }] })
    case SYSTEM:
      return answer(200, {
        PowerState: box.power === 'on' ? 'On' : 'Off',
        Links: { Chassis: [{ '@odata.id': CHASSIS }] },
      })
    case `${CHASSIS}/Power`:
      return answer(200, { PowerControl: [{ PowerConsumedWatts: box.power === 'on' ? watts : 3 }] })
    default:
      return answer(404, {})
  }
}

function reset(world: World, box: Box, body: string): string | undefined {
  const { ResetType: type } = JSON.parse(body) as { ResetType?: string }
  switch (type) {
    case 'On':
      switchOn(world, box)
      return type
    case 'GracefulShutdown':
      shutDown(world, box)
      return type
    case 'ForceOff':
      switchOff(world, box)
      return type
    case 'ForceRestart':
    case 'PowerCycle':
      switchOff(world, box)
      switchOn(world, box)
      return type
    default:
      return undefined
  }
}

function answer(status: number, body: unknown): WireResponse {
  return { status, reason: status < 300 ? 'OK' : 'Refused', headers: {}, body: JSON.stringify(body) }
}
