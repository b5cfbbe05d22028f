import { may } from '../../../world/access.ts'
import { hexDigits } from '../../../world/chance.ts'
import { failed } from '../../api-error.ts'
import { type Call, hostOf, param, type Routes } from '../../call.ts'
import { shelf, type Thing } from '../shelf.ts'

const AT = '/nodes/{node}/subscription'
const PRICES = 'https://www.proxmox.com/en/proxmox-virtual-environment/pricing'

/** Of each host. No shop answers here: a key can be written down and is never confirmed. */
export const nodeSubscriptionRoutes: Routes = {
  [`GET ${AT}`]: (call) => {
    const kept = shelf(call.world, 'subscriptions').get(param(call, 'node'))
    const audits = may(call.world, call.who, `/nodes/${param(call, 'node')}`, 'Sys.Audit')
    if (kept === undefined)
      return { status: 'notfound', message: 'There is no subscription key', url: PRICES, ...server(call, audits) }
    const { status, message } = kept
    return audits ? { ...kept, sockets: 1, url: PRICES, ...server(call, true) } : { status, message, url: PRICES }
  },
  [`POST ${AT}`]: (call) => {
    const kept = shelf(call.world, 'subscriptions').get(param(call, 'node'))
    return kept === undefined ? null : unreachable()
  },
  [`PUT ${AT}`]: (call) => {
    const key = param(call, 'key').trim()
    const level = /^pve([1248])([cbsp])-(arm-)?[0-9a-f]{10}$/.exec(key)
    if (level === null) throw failed('Wrong subscription key format')
    if (level[3] !== undefined)
      throw failed("subscription key is for the 'arm64' architecture, but this host is 'amd64'")
    const checktime = Math.floor(call.world.clock.now() / 1000)
    shelf(call.world, 'subscriptions').set(param(call, 'node'), { status: 'new', key, level: level[2], checktime })
    return unreachable()
  },
  [`DELETE ${AT}`]: (call) => {
    shelf(call.world, 'subscriptions').delete(param(call, 'node'))
    return null
  },
}

/** Made from the hardware: the same at every look. */
function server(call: Call, audits: boolean): Thing {
  if (!audits) return {}
  const ids = shelf(call.world, 'server-ids')
  const { name } = hostOf(call)
  const known = ids.get(name) ?? { serverid: hexDigits(call.world.random, 32).toUpperCase() }
  ids.set(name, known)
  return known
}

function unreachable(): never {
  throw failed(
    'Invalid response from server: error sending request for url (https://shop.proxmox.com/modules/servers/licensing/verify.php)',
  )
}
