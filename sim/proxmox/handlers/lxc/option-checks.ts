import { parseProperties } from '../../../world/properties.ts'
import type { Host } from '../../../world/types.ts'
import { failed } from '../../api-error.ts'
import { type Call, hostOf } from '../../call.ts'
import { hookProblem } from '../guest/hook-script.ts'
import { textOf } from '../shelf.ts'

/** What the host itself must have for an option of a container: looked at before anything is written. */
export function checkValue(call: Call, key: string, value: string): void {
  if (key === 'hookscript') {
    const problem = hookProblem(call.world, hostOf(call), value)
    if (problem !== undefined) throw failed(problem)
  } else if (/^dev\d+$/.test(key)) checkDevice(value)
  else if (/^net\d+$/.test(key)) checkCard(hostOf(call), key, value)
}

/** Devices that every host has. */
const DEVICES = /^\/dev\/(?:null|zero|full|u?random|tty|console|ptmx|kvm|fuse|net\/tun|ttyS\d+)$/
const FOLDERS = /^\/dev\/(?:shm|pts|net|mapper|disk|block|char|bus|dri|input|snd)$/

function checkDevice(value: string): void {
  const { main, named } = parseProperties(value, 'path')
  const path = main || (named.get('path') ?? '')
  if (path === '') throw failed('Path has to be defined')
  if (FOLDERS.test(path)) throw failed(`${path} is not a device`)
  if (!DEVICES.test(path)) throw failed(`Device ${path} does not exist`)
}

function checkCard(host: Host, key: string, value: string): void {
  const { named } = parseProperties(value)
  const wanted = Number(named.get('mtu') ?? 0)
  const bridge = named.get('bridge') ?? ''
  if (wanted > 0) {
    const found = host.interfaces.get(bridge)
    if (found === undefined) throw failed(`bridge '${bridge}' does not exist`)
    const width = Number(textOf(found.mtu) || 1500)
    if (wanted > width) throw failed(`${key}: MTU size '${wanted}' is bigger than bridge MTU '${width}'`)
  }
  if (named.get('link_down') !== '1' && named.get('host-managed') === '1' && named.get('ip6') === 'auto')
    throw failed(`${key}: SLAAC is not supported for host-managed network configuration.`)
}
